package io.github.shardkeeper.consumer;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;

class RecordBufferTests {

	private final RecordBuffer buffer = new RecordBuffer();

	@Test
	void keepsTheOrder() {
		this.buffer.add(records(1, 2));
		this.buffer.add(records(3, 3));

		for (String offset : List.of("1", "2", "3")) {
			assertThat(this.buffer.peek().offset()).isEqualTo(new Offset(offset));
			assertThat(this.buffer.peek().offset()).isEqualTo(new Offset(offset));
			this.buffer.remove();
		}
		assertThat(this.buffer.peek()).isNull();
	}

	@Test
	void saysWhenItIsFullAndOnceWhenThereIsRoomAgain() {
		assertThat(this.buffer.add(records(1, 999))).isTrue();
		assertThat(this.buffer.add(records(1000, 1000))).isFalse();

		for (int left = 999; left > 500; left--) {
			assertThat(this.buffer.remove()).isFalse();
		}
		assertThat(this.buffer.remove()).as("half empty").isTrue();
		assertThat(this.buffer.remove()).isFalse();
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

	private static List<SourceRecord> records(int first, int last) {
		List<SourceRecord> records = new ArrayList<>();
		for (int i = first; i <= last; i++) {
			records.add(new SourceRecord(new Offset(Integer.toString(i)), null, new byte[0], Instant.EPOCH));
		}
		return records;
	}

}
