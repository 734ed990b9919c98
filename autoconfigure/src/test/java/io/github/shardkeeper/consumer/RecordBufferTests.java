package io.github.shardkeeper.consumer;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;

class RecordBufferTests {

	private final RecordBuffer buffer = new RecordBuffer(new ConsumerSettings.BufferLimits(1000, 1_000_000),
			new BufferBudget(Long.MAX_VALUE));

	@Test
	void keepsTheOrder() {
		this.buffer.add(records(1, 2));
		this.buffer.add(records(3, 3));

		for (String offset : List.of("1", "2", "3")) {
			assertThat(this.buffer.peek().offset()).isEqualTo(new Offset(offset));
			assertThat(this.buffer.peek().offset()).isEqualTo(new Offset(offset));
			remove();
		}
		assertThat(this.buffer.peek()).isNull();
	}

	@Test
	void saysWhenItIsFullAndOnceWhenThereIsRoomAgain() {
		assertThat(this.buffer.add(records(1, 999))).isTrue();
		assertThat(this.buffer.add(records(1000, 1000))).isFalse();

		for (int left = 999; left > 500; left--) {
			assertThat(remove()).isFalse();
		}
		assertThat(remove()).as("half empty").isTrue();
		assertThat(remove()).isFalse();
	}

	@Test
	void takesMoreThanFitsBecauseItWasReadAlready() {
		assertThat(this.buffer.add(records(1, 1500))).isFalse();
		assertThat(this.buffer.add(records(1501, 1501))).isFalse();
	}

	@Test
	void forgetsEverything() {
		this.buffer.add(records(1, 3));
		this.buffer.clear();

		assertThat(this.buffer.peek()).isNull();
	}

	@Test
	void isFullOfBytesToo() {
		RecordBuffer small = new RecordBuffer(new ConsumerSettings.BufferLimits(1000, 1000),
				new BufferBudget(Long.MAX_VALUE));

		assertThat(small.add(List.of(record(1, 500)))).isTrue();
		assertThat(small.add(List.of(record(2, 500)))).isFalse();
		small.peek();
		assertThat(small.remove()).as("less than half of it is free").isFalse();
		small.peek();
		assertThat(small.remove()).isTrue();
	}

	@Test
	void aShardWithMoreThanItsShareIsPausedWhenAllTogetherHaveTooMuch() {
		BufferBudget budget = new BufferBudget(4000);
		RecordBuffer greedy = buffer(budget);
		RecordBuffer modest = buffer(budget);

		assertThat(greedy.add(List.of(record(1, 3000)))).as("there is enough for all").isTrue();
		assertThat(modest.add(List.of(record(1, 1000)))).as("too much, but less than its share").isTrue();
		assertThat(greedy.add(List.of(record(2, 10)))).isFalse();
		greedy.clear();
		assertThat(budget.used()).isBetween(1000L, 1999L);
		assertThat(modest.add(List.of(record(2, 2000)))).isTrue();
		modest.peek();
		modest.remove();
		modest.peek();
		modest.remove();
		assertThat(budget.used()).isZero();
	}

	@Test
	void isAtItsEndWhenAllIsTakenAndNothingFollows() {
		this.buffer.add(records(1, 1));
		this.buffer.end();
		assertThat(this.buffer.isAtEnd()).isFalse();
		this.buffer.peek();
		assertThat(this.buffer.isAtEnd()).isFalse();
		this.buffer.remove();
		assertThat(this.buffer.isAtEnd()).isTrue();
	}

	private static RecordBuffer buffer(BufferBudget budget) {
		budget.join();
		return new RecordBuffer(new ConsumerSettings.BufferLimits(1000, Long.MAX_VALUE), budget);
	}

	private boolean remove() {
		assertThat(this.buffer.peek()).isNotNull();
		return this.buffer.remove();
	}

	private static SourceRecord record(int offset, int size) {
		return new SourceRecord(new Offset(Integer.toString(offset)), null, new byte[size], Instant.EPOCH);
	}

	private static List<SourceRecord> records(int first, int last) {
		List<SourceRecord> records = new ArrayList<>();
		for (int i = first; i <= last; i++) {
			records.add(new SourceRecord(new Offset(Integer.toString(i)), null, new byte[0], Instant.EPOCH));
		}
		return records;
	}

}
