package io.github.shardkeeper.template;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Batches that are repeated: when, in which order, and what becomes of what waits.
 */
class RetryingAppenderTests {

	private final ManualOnceAppender appender = new ManualOnceAppender();

	private final List<Duration> pauses = new ArrayList<>();

	private final List<Runnable> due = new ArrayList<>();

	private final List<String> dropped = new ArrayList<>();

	private boolean closed;

	private RetryingAppender repeating(int retries) {
		return new RetryingAppender(this.appender, retries, "me", () -> this.closed, (pause, work) -> {
			this.pauses.add(pause);
			this.due.add(work);
		}, (shard, records) -> this.dropped.add(records + " of " + shard));
	}

	private static NewRecord record(int shard, String payload, @Nullable String id) {
		return new NewRecord(ShardId.of("orders", shard), null, payload.getBytes(), Map.of(), id);
	}

	private static CompletableFuture<Offset> send(RetryingAppender repeating, int shard, String payload) {
		return repeating.append(List.of(record(shard, payload, null))).get(0);
	}

	private void nextAttempt() {
		this.due.remove(0).run();
	}

	@Test
	void withoutRetriesAndIdsRecordsNeedNoBatch() {
		RetryingAppender repeating = repeating(0);

		assertThat(send(repeating, 0, "a")).isCompletedWithValue(new Offset("plain"));
		assertThat(this.appender.others()).containsExactly("a");
		assertThat(this.appender.attempts()).isEmpty();
	}

	@Test
	void recordsThatWereThereBeforeAreReported() {
		RetryingAppender repeating = repeating(1);
		send(repeating, 0, "a");
		this.appender.reply();
		assertThat(this.dropped).isEmpty();
		CompletableFuture<Offset> second = send(repeating, 0, "b");
		send(repeating, 0, "c");
		this.appender.fail(true, false);
		nextAttempt();
		this.appender.reply(2, List.of(new Offset("of b")), 1);

		assertThat(second).isCompletedWithValue(new Offset("of b"));
		assertThat(this.dropped).containsExactly("1 of orders/0");
		assertThat(this.appender.attempts()).endsWith("0#3[c]");
	}

	@Test
	@Promise("Sent once")
	void unansweredBatchIsRepeatedUnderItsNumberAndNothingOfItsShardOvertakesIt() {
		RetryingAppender repeating = repeating(2);
		CompletableFuture<Offset> first = send(repeating, 0, "a");
		CompletableFuture<Offset> second = send(repeating, 0, "b");
		this.appender.fail(true, false);
		CompletableFuture<Offset> third = send(repeating, 0, "c");
		send(repeating, 1, "other");
		assertThat(this.appender.attempts()).containsExactly("0#1[a]", "1#1[other]");

		nextAttempt();
		assertThat(this.appender.attempts()).endsWith("0#1[a]").hasSize(3);
		this.appender.reply();
		assertThat(first).isCompletedWithValue(new Offset("of a"));
		assertThat(this.appender.attempts()).endsWith("0#2[b, c]").hasSize(4);
		this.appender.reply();

		assertThat(second).isCompletedWithValue(new Offset("of b"));
		assertThat(third).isCompletedWithValue(new Offset("of c"));
		send(repeating, 0, "d");
		assertThat(this.appender.attempts()).endsWith("0#3[d]").hasSize(5);
		assertThat(this.appender.batches()).allMatch((batch) -> batch.producer().equals("me"));
	}

	@Test
	void recordsBehindOneWithAnIdWaitForIt() {
		RetryingAppender repeating = repeating(0);
		List<CompletableFuture<Offset>> sent = repeating
			.append(List.of(record(0, "a", null), record(1, "other", null), record(0, "b", "id")));
		assertThat(this.appender.attempts()).containsExactly("0#1[a, b]");
		assertThat(this.appender.others()).containsExactly("other");
		CompletableFuture<Offset> behind = send(repeating, 0, "c");
		assertThat(this.appender.others()).containsExactly("other");

		this.appender.reply();
		assertThat(sent).allMatch(CompletableFuture::isDone);
		assertThat(sent.get(2)).isCompletedWithValue(new Offset("of b"));
		assertThat(behind).isNotDone();
		this.appender.reply();
		assertThat(behind).isCompletedWithValue(new Offset("of c"));

		send(repeating, 0, "d");
		assertThat(this.appender.others()).as("nothing is before it").containsExactly("other", "d");
	}

	@Test
	void pausesGrowToASecond() {
		RetryingAppender repeating = repeating(6);
		CompletableFuture<Offset> sent = send(repeating, 0, "a");
		for (int i = 0; i < 6; i++) {
			this.appender.fail(true, false);
			nextAttempt();
		}
		this.appender.fail(true, false);

		assertThat(this.pauses).extracting(Duration::toMillis).containsExactly(100L, 200L, 400L, 800L, 1000L, 1000L);
		assertThat(this.due).isEmpty();
		assertThat(failure(sent)).hasMessage("no (7 attempts)");
	}

	@Test
	void afterTheLastAttemptAllThatWaitsFails() {
		RetryingAppender repeating = repeating(1);
		CompletableFuture<Offset> first = send(repeating, 0, "a");
		CompletableFuture<Offset> behind = send(repeating, 0, "b");
		this.appender.fail(true, false);
		nextAttempt();
		this.appender.fail(false, false);

		assertThat(failure(first).mayHaveBeenAppended()).as("by the first attempt").isTrue();
		assertThat(failure(behind)).hasMessage("Not sent, because the records before it could not be sent");
		assertThat(failure(behind).mayHaveBeenAppended()).isFalse();
		send(repeating, 0, "c");
		assertThat(this.appender.attempts()).containsExactly("0#1[a]", "0#1[a]", "0#2[c]");
	}

	@Test
	void refusedBatchIsNotRepeatedAndOthersFollow() {
		RetryingAppender repeating = repeating(3);
		CompletableFuture<Offset> refused = send(repeating, 0, "a");
		CompletableFuture<Offset> next = send(repeating, 0, "b");
		this.appender.fail(false, true);

		assertThat(this.due).isEmpty();
		assertThat(failure(refused).isRefusal()).isTrue();
		assertThat(failure(refused).mayHaveBeenAppended()).isFalse();
		this.appender.reply();
		assertThat(next).isCompletedWithValue(new Offset("of b"));
	}

	@Test
	void nothingIsRepeatedAfterTheEnd() {
		RetryingAppender repeating = repeating(3);
		CompletableFuture<Offset> sent = send(repeating, 0, "a");
		this.closed = true;
		this.appender.fail(true, false);

		assertThat(this.due).isEmpty();
		assertThat(failure(sent).mayHaveBeenAppended()).isTrue();
	}

	@Test
	void batchesAreLimited() {
		RetryingAppender repeating = repeating(1);
		send(repeating, 0, "first");
		int many = RetryingAppender.MOST_PER_BATCH + 1;
		repeating.append(IntStream.range(0, many).mapToObj((i) -> record(0, "r" + i, null)).toList());
		repeating.append(List.of(record(0, "x".repeat((int) RetryingAppender.MOST_BYTES_PER_BATCH), null),
				record(0, "large", null)));
		for (int i = 0; i < 4; i++) {
			this.appender.reply();
		}

		assertThat(this.appender.batches()).extracting((batch) -> batch.records().size())
			.containsExactly(1, many - 1, 1, 1, 1);
	}

	@Test
	void errorOfOtherRecordsFailsNoBatch() {
		RetryingAppender repeating = repeating(0);
		NoClassDefFoundError error = new NoClassDefFoundError("caused by the test");
		this.appender.failOthersWith(error);
		List<CompletableFuture<Offset>> sent = repeating
			.append(List.of(record(0, "a", "id"), record(1, "other", null)));
		this.appender.reply();

		assertThat(sent.get(0)).isCompletedWithValue(new Offset("of a"));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> sent.get(1).join()).withCause(error);
	}

	@Test
	void failureOfOtherRecordsFailsNoBatch() {
		RetryingAppender repeating = repeating(0);
		this.appender.failOthersWith(new SendFailedException("no connection", null, false));
		List<CompletableFuture<Offset>> sent = repeating
			.append(List.of(record(0, "a", "id"), record(1, "other", null)));
		this.appender.reply();

		assertThat(sent.get(0)).isCompletedWithValue(new Offset("of a"));
		assertThat(failure(sent.get(1))).hasMessage("no connection");
		assertThatExceptionOfType(SendFailedException.class).isThrownBy(() -> send(repeating, 1, "alone"));
	}

	@Test
	void brokenTimerAndBrokenAnswersBlockNothing() {
		RetryingAppender repeating = new RetryingAppender(this.appender, 3, "me", () -> false, (pause, work) -> {
			throw new RejectedExecutionException("no timer");
		}, DuplicateSendListener.NONE);
		CompletableFuture<Offset> sent = send(repeating, 0, "a");
		this.appender.fail(true, false);
		assertThat(failure(sent)).hasMessageContaining("no timer");
		CompletableFuture<Offset> incomplete = send(repeating, 0, "b");
		this.appender.reply(1, List.of());

		assertThat(failure(incomplete)).hasMessageContaining("0 offsets for 1 records");
		send(repeating, 0, "c");
		this.appender.reply();
		assertThat(this.appender.attempts()).hasSize(3);
	}

	@Test
	void templateSendsAnIdOnceAndToOneShard() {
		MemoryStreamSource source = new MemoryStreamSource(Map.of("orders", 4));
		try (KeyedShardTemplate template = template(source, new SendSettings(1000, 10, 1000, 2))) {
			Appended first = template.send("orders", Outgoing.of("a").withId("order-7"));
			List<Appended> again = template.sendAll("orders", List.of(Outgoing.of("a").withId("order-7"),
					Outgoing.of("b").withId("order-7"), Outgoing.of("c").withId("order-8")));

			assertThat(again.subList(0, 2)).containsOnly(first);
			assertThat(first.shard()).isEqualTo(template.shardFor("orders", "order-7"));
			assertThat(again.get(2)).isNotEqualTo(first);
		}
	}

	@Test
	void idIsRefusedWhereItCannotBeRecognized() {
		ManualAppender plain = new ManualAppender(true);
		try (KeyedShardTemplate template = new KeyedShardTemplate(
				SendTopics.of(() -> Map.of("orders", TopicShards.count(1)), plain),
				new JsonPayloadConverter(new JsonMapper()), SendSettings.DEFAULT, Map.of(), null, SendObserver.NONE)) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> template.sendAsync("orders", Outgoing.of("a").withId("id")))
				.withMessageContaining("'orders'")
				.withMessageContaining("withId(…)");
		}
		assertThat(plain.records()).isEmpty();
	}

	@Test
	void idHasALimitedLength() {
		Outgoing record = Outgoing.of("a").withHeader("tenant", "acme");
		assertThat(record.withId("7").toShard(1).withHeader("b", "c").id()).isEqualTo("7");
		for (String id : List.of("", "x".repeat(Outgoing.MAX_ID_LENGTH + 1))) {
			assertThatIllegalArgumentException().isThrownBy(() -> record.withId(id))
				.withMessageContaining("1 to 200 characters");
		}
	}

	private static KeyedShardTemplate template(MemoryStreamSource source, SendSettings settings) {
		return new KeyedShardTemplate(SendTopics.of(source::topics, source), new JsonPayloadConverter(new JsonMapper()),
				settings, Map.of(), null, SendObserver.NONE);
	}

	private static SendFailedException failure(CompletableFuture<?> sent) {
		assertThat(sent).isCompletedExceptionally();
		try {
			sent.join();
		}
		catch (CompletionException ex) {
			return (SendFailedException) ex.getCause();
		}
		throw new AssertionError("it has not failed");
	}

}
