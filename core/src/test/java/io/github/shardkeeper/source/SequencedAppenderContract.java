package io.github.shardkeeper.source;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SequencedAppender.Batch;
import io.github.shardkeeper.source.SequencedAppender.Reply;
import io.github.shardkeeper.source.SequencedAppender.Reply.Appended;
import io.github.shardkeeper.source.SequencedAppender.Reply.Superseded;
import io.github.shardkeeper.source.SequencedAppender.Sequence;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that every {@link SequencedAppender} must pass.
 */
@Promise("Records exactly once")
public abstract class SequencedAppenderContract {

	private static final ShardId SHARD = ShardId.of("invoices", 1);

	private static final long ERA = 1_767_225_600_123_456L;

	private static final long OWNER = ERA + 7;

	private static final Sequence SEQUENCE = new Sequence("group/orders/1", ERA, OWNER);

	/** Returns the appender, of a topic {@code invoices} with two empty shards. */
	protected abstract SequencedAppender appender();

	/** Returns the payloads of a shard's records, in their order. */
	protected abstract List<String> records(ShardId shard);

	@Test
	void recordsAreAppendedInTheirOrder() {
		assertThat(append(SEQUENCE, 1, 3)).isEqualTo(new Appended(0));
		assertThat(append(SEQUENCE, 4, 5)).isEqualTo(new Appended(0));

		assertThat(records(SHARD)).containsExactly("1", "2", "3", "4", "5");
	}

	@Test
	void repetitionAppendsNothing() {
		append(SEQUENCE, 1, 3);
		append(SEQUENCE, 4, 5);

		assertThat(append(SEQUENCE, 1, 3)).as("much later").isEqualTo(new Appended(3));
		assertThat(append(SEQUENCE, 4, 5)).isEqualTo(new Appended(2));
		assertThat(records(SHARD)).hasSize(5);
	}

	@Test
	void nextOwnerAppendsOnlyWhatIsMissing() {
		append(SEQUENCE, 1, 3);

		assertThat(append(ownedBy(OWNER + 1), 2, 5, 5)).isEqualTo(new Appended(2));

		assertThat(records(SHARD)).containsExactly("1", "2", "3", "4", "5");
	}

	/** It repeats only what is committed: a prefix of what its successor has sent. */
	@Test
	void lateRequestOfAnEarlierOwnerAppendsNothing() {
		append(SEQUENCE, 1, 3);
		append(ownedBy(OWNER + 1), 1, 6, 6);

		append(SEQUENCE, 1, 3, 3);
		append(SEQUENCE, 1, 5, 5);

		assertThat(records(SHARD)).containsExactly("1", "2", "3", "4", "5", "6");
	}

	@Test
	void earlyRequestOfAnEarlierOwnerIsNotRepeatedByTheNext() {
		append(SEQUENCE, 1, 5);

		assertThat(append(ownedBy(OWNER + 1), 1, 6, 6)).isEqualTo(new Appended(5));

		assertThat(records(SHARD)).containsExactly("1", "2", "3", "4", "5", "6");
	}

	/** Otherwise a shard that has lost its mark would wait for records for ever. */
	@Test
	void firstNumberSaysThatAllBeforeAreThere() {
		assertThat(append(SEQUENCE, 8, 9)).isEqualTo(new Appended(0));
		assertThat(append(SEQUENCE, 9, 10)).isEqualTo(new Appended(1));

		assertThat(records(SHARD)).containsExactly("8", "9", "10");
	}

	@Test
	void sendersHaveNumbersOfTheirOwn() {
		append(SEQUENCE, 1, 2);
		append(new Sequence("group/orders/2", ERA, OWNER), 1, 1);
		append(new Sequence("other/orders/1", ERA, OWNER), 1, 1);

		assertThat(records(SHARD)).containsExactly("1", "2", "1", "1");
	}

	@Test
	void numbersBeginAgainInAHigherEra() {
		append(SEQUENCE, 1, 3);

		assertThat(append(new Sequence(SEQUENCE.sender(), ERA + 1, OWNER), 1, 2)).isEqualTo(new Appended(0));
		assertThat(append(SEQUENCE, 4, 5)).as("of the earlier era").isEqualTo(new Superseded(ERA + 1, OWNER));

		assertThat(records(SHARD)).containsExactly("1", "2", "3", "1", "2");
	}

	/** Numbers that its owner has given were given before: writes were lost. */
	@Test
	void numberThatAnotherOwnerHasGivenIsFound() {
		append(SEQUENCE, 1, 6);

		assertThat(append(ownedBy(OWNER + 1), 4, 5, 3)).isEqualTo(new Superseded(ERA, OWNER));

		assertThat(records(SHARD)).hasSize(6);
	}

	/** The commits of the owner before were lost, and the next one has died, too. */
	@Test
	void numberThatAnEarlierOwnerHasGivenIsFoundThoughItMayBeTheSame() {
		append(SEQUENCE, 1, 6);

		assertThat(append(ownedBy(OWNER + 2), 4, 5, 7, OWNER + 1)).isEqualTo(new Superseded(ERA, OWNER));
		assertThat(append(ownedBy(OWNER + 2), 4, 5, 7, OWNER)).as("committed by it").isEqualTo(new Appended(2));
		assertThat(append(ownedBy(OWNER + 2), 7, 7, 7, OWNER + 1)).as("not sent yet").isEqualTo(new Appended(0));

		assertThat(records(SHARD)).hasSize(7);
	}

	/** A client repeats requests by itself after a reconnect. */
	@Test
	void ownRepetitionIsNoConflict() {
		append(SEQUENCE, 1, 6, 0);

		assertThat(append(SEQUENCE, 1, 6, 0)).isEqualTo(new Appended(6));
	}

	@Test
	void recordsKeepKeyPayloadAndHeaders() {
		NewRecord whole = new NewRecord(SHARD, "k", "größe".getBytes(StandardCharsets.UTF_8),
				Map.of("a", "1", "b", ""));
		NewRecord bare = new NewRecord(SHARD, null, new byte[0]);
		appender().append(SEQUENCE, new Batch(SHARD, 1, 0, 0, List.of(whole, bare))).join();

		assertThat(records(SHARD)).containsExactly("größe", "");
	}

	private Sequence ownedBy(long owner) {
		return new Sequence(SEQUENCE.sender(), ERA, owner);
	}

	private Reply append(Sequence sequence, long first, long last) {
		return append(sequence, first, last, first - 1);
	}

	private Reply append(Sequence sequence, long first, long last, long lastPossible) {
		return append(sequence, first, last, lastPossible, 0);
	}

	private Reply append(Sequence sequence, long first, long last, long lastPossible, long committedUnder) {
		List<NewRecord> records = LongStream.rangeClosed(first, last)
			.mapToObj((number) -> new NewRecord(SHARD, null, Long.toString(number).getBytes(StandardCharsets.UTF_8)))
			.toList();
		return appender().append(sequence, new Batch(SHARD, first, lastPossible, committedUnder, records)).join();
	}

}
