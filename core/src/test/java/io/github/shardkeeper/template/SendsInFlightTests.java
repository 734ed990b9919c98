package io.github.shardkeeper.template;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
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
import io.github.shardkeeper.template.SendQueue.Sending;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Records in flight: limits, order, failures, flush and close.
 */
class SendsInFlightTests {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private static final int MOST = 100;

	private final ManualAppender appender = new ManualAppender(false);

	private final KeyedShardTemplate template = new KeyedShardTemplate(
			SendTopics.of(() -> Map.of("orders", TopicShards.count(4)), this.appender),
			new JsonPayloadConverter(new JsonMapper()), new SendSettings(1000, MOST, 1000), Map.of(), null,
			SendObserver.NONE);

	private final List<Thread> threads = new ArrayList<>();

	@AfterEach
	void end() throws InterruptedException {
		for (Thread thread : this.threads) {
			thread.interrupt();
			thread.join(PATIENCE.toMillis());
		}
	}

	@Test
	void futureCompletesWhenItsRecordIsAppended() {
		CompletableFuture<Appended> first = this.template.sendAsync("orders", new Outgoing("a", 1).toShard(0));
		CompletableFuture<Appended> second = this.template.sendAsync("orders", new Outgoing("b", 2).toShard(1));
		assertThat(this.appender.payloads()).as("written at once").containsExactly("1", "2");
		assertThat(first).isNotDone();

		this.appender.reply(1);

		assertThat(second).isCompletedWithValue(new Appended(ShardId.of("orders", 1), new Offset("2")));
		assertThat(first).isNotDone();
	}

	@Test
	void senderAboveTheLimitWaitsForRoom() {
		sendAsync(0, MOST);
		Thread producer = start(() -> sendAsync(MOST, MOST + 2));
		awaitWaiting(producer);
		awaitAppended(MOST);

		this.appender.reply(7);
		awaitAppended(MOST + 1);
		awaitWaiting(producer);
		this.appender.reply(8);

		awaitAppended(MOST + 2);
		assertThat(this.appender.payloads()).containsExactlyElementsOf(payloads(0, MOST + 2));
	}

	@Test
	void bytesInFlightAreLimited() {
		this.template.sendAsync("orders", "a", "x".repeat(998));
		Thread producer = start(() -> this.template.sendAsync("orders", "b", "y"));
		awaitWaiting(producer);

		this.appender.reply(0);

		awaitAppended(2);
	}

	@Test
	void sendAllAboveTheLimitSendsWhatFitsAndContinues() {
		List<Outgoing> records = IntStream.range(0, 3 * MOST).mapToObj((i) -> new Outgoing("a", i)).toList();
		AtomicReference<List<Appended>> appended = new AtomicReference<>();
		// Two at once: neither may hold room for records that it does not send.
		start(() -> appended.set(this.template.sendAll("orders", records)));
		AtomicReference<List<Appended>> others = new AtomicReference<>();
		start(() -> others.set(this.template.sendAll("orders", records)));

		await().atMost(PATIENCE).until(() -> {
			this.appender.answerAll();
			return appended.get() != null && others.get() != null;
		});
		assertThat(appended.get()).hasSize(3 * MOST);
		assertThat(this.appender.records()).hasSize(6 * MOST);
	}

	@Test
	void threadThatWaitsForRoomCanBeInterrupted() {
		sendAsync(0, MOST);
		AtomicReference<Throwable> thrown = new AtomicReference<>();
		Thread producer = start(() -> {
			try {
				this.template.sendAsync("orders", "a", 1);
			}
			catch (SendFailedException ex) {
				assertThat(Thread.currentThread().isInterrupted()).isTrue();
				assertThat(ex.mayHaveBeenAppended()).isFalse();
				thrown.set(ex);
			}
		});
		awaitWaiting(producer);
		producer.interrupt();

		await().atMost(PATIENCE).until(() -> thrown.get() != null);
		assertThat(this.appender.records()).hasSize(MOST);
	}

	@Test
	void recordsOfOneThreadKeepTheirOrderAcrossBatches() {
		Thread replies = start(() -> {
			while (!Thread.currentThread().isInterrupted()) {
				this.appender.answerAll();
			}
		});
		CompletableFuture<Appended> last = new CompletableFuture<>();
		for (int i = 0; i < 20_000; i++) {
			last = this.template.sendAsync("orders", "a", i);
			if (i % 1000 == 0) {
				this.template.send("orders", "a", "sync");
			}
		}
		this.template.flush();

		assertThat(last).isCompleted();
		assertThat(replies.isAlive()).isTrue();
		List<String> payloads = new ArrayList<>(this.appender.payloads());
		assertThat(payloads.indexOf("sync")).isEqualTo(1);
		payloads.removeIf("sync"::equals);
		assertThat(payloads).containsExactlyElementsOf(payloads(0, 20_000));
	}

	/** Between the two steps of queueing: adding and counting. */
	@Test
	void recordsOfOneThreadKeepTheirOrderWhileAnotherThreadIsBlocked() {
		AtomicReference<Runnable> meanwhile = new AtomicReference<>();
		Deque<Runnable> tasks = new ArrayDeque<>();
		SendWindow window = new SendWindow(new SendSettings(1000, 2 * MOST, 1000));
		SendQueue queue = new SendQueue(this.appender, window, tasks::add, new ConcurrentLinkedQueue<>() {
			@Override
			public boolean addAll(Collection<? extends Sending> sendings) {
				boolean added = super.addAll(sendings);
				Runnable others = meanwhile.getAndSet(null);
				if (others != null) {
					others.run();
				}
				return added;
			}
		});
		for (int i = 0; i < 40; i++) {
			queue.send(List.of(sending(window, i)));
			runAll(tasks);
		}
		meanwhile.set(() -> {
			queue.send(List.of(sending(window, 41)));
			runAll(tasks);
			assertThat(this.appender.payloads()).as("in its place").hasSize(41).endsWith("40");
			this.appender.answerAll();
			queue.send(List.of(sending(window, 42)));
			runAll(tasks);
		});
		queue.send(List.of(sending(window, 40)));
		runAll(tasks);
		this.appender.answerAll();

		assertThat(this.appender.payloads()).containsExactlyElementsOf(payloads(0, 43));
		assertThat(window.inFlight()).isZero();
	}

	private static void runAll(Deque<Runnable> tasks) {
		while (!tasks.isEmpty()) {
			tasks.remove().run();
		}
	}

	@Test
	void batchesGrowWithTheNumberOfRecords() throws InterruptedException {
		sendAsync(0, 33);
		assertThat(this.appender.batches()).as("while little is under way").containsOnly(1);
		synchronized (this.appender) {
			// The appending thread is blocked here, so the others form a batch.
			Thread producer = start(() -> sendAsync(33, MOST));
			producer.join(PATIENCE.toMillis());
		}

		awaitAppended(MOST);
		assertThat(this.appender.batches()).hasSizeLessThan(33 + 3);
		assertThat(this.appender.payloads()).containsExactlyElementsOf(payloads(0, MOST));
	}

	@Test
	void failureAffectsItsRecordOnly() {
		CompletableFuture<Appended> failing = this.template.sendAsync("orders", "a", 1);
		CompletableFuture<Appended> fine = this.template.sendAsync("orders", "a", 2);
		SendFailedException failure = new SendFailedException("lost", null, true);
		this.appender.answerOf(0).completeExceptionally(failure);
		this.appender.reply(1);

		assertThatThrownBy(failing::join).isInstanceOf(CompletionException.class).hasCause(failure);
		assertThat(fine).isCompleted();
	}

	@Test
	void exceptionOfSeveralRecordsSaysWhetherAnyMayHaveBeenAppended() {
		for (boolean other : new boolean[] { true, false }) {
			int first = this.appender.records().size();
			AtomicReference<SendFailedException> thrown = new AtomicReference<>();
			start(() -> {
				try {
					this.template.sendAll("orders", List.of(new Outgoing("a", 1), new Outgoing("a", 2)));
				}
				catch (SendFailedException ex) {
					thrown.set(ex);
				}
			});
			awaitAppended(first + 2);
			SendFailedException refused = new SendFailedException("refused", null, false);
			this.appender.answerOf(first).completeExceptionally(refused);
			if (other) {
				this.appender.reply(first + 1);
			}
			else {
				this.appender.answerOf(first + 1).completeExceptionally(refused);
			}

			await().atMost(PATIENCE).until(() -> thrown.get() != null);
			assertThat(thrown.get()).hasMessage("refused").hasCause(refused);
			assertThat(thrown.get().mayHaveBeenAppended()).isEqualTo(other);
		}
	}

	@Test
	void withoutConnectionQueuedRecordsFailAndTheNextRecordIsTried() {
		sendAsync(0, 40);
		awaitAppended(40);
		this.appender.failWith(new SendFailedException("no connection", null, false));
		CompletableFuture<Appended> unsent = this.template.sendAsync("orders", "a", 40);

		assertThatThrownBy(unsent::join).hasMessageContaining("no connection");
		this.appender.failWith(null);
		this.template.sendAsync("orders", "a", 41);
		awaitAppended(41);
		this.appender.answerAll();
		this.template.flush();
	}

	/** The callback of the failed future sends in the same call. */
	@Test
	void recordSentFromAFailureCallbackIsTried() {
		Deque<Runnable> tasks = new ArrayDeque<>();
		SendWindow window = new SendWindow(new SendSettings(1000, MOST, 1000));
		SendQueue queue = new SendQueue(this.appender, window, tasks::add);
		for (int i = 0; i < MOST / 2; i++) {
			queue.send(List.of(sending(window, i)));
		}
		tasks.remove().run();
		this.appender.failWith(new SendFailedException("no connection", null, false));
		Sending first = sending(window, 50);
		Sending before = sending(window, 51);
		Sending after = sending(window, 52);
		first.appended().whenComplete((appended, failure) -> {
			this.appender.failWith(null);
			queue.send(List.of(after));
		});
		queue.send(List.of(first, before));
		tasks.remove().run();
		this.appender.answerAll();

		assertThat(first.appended()).isCompletedExceptionally();
		assertThat(before.appended()).isCompletedExceptionally();
		assertThat(after.appended()).isCompleted();
		assertThat(tasks).isEmpty();
		assertThat(window.inFlight()).isZero();
	}

	@Test
	void errorOfTheSourceAffectsItsRecordsOnly() {
		this.appender.failWith(new NoClassDefFoundError("caused by the test"));
		CompletableFuture<Appended> failed = this.template.sendAsync("orders", "a", 1);
		assertThatThrownBy(failed::join).cause()
			.isInstanceOfSatisfying(SendFailedException.class,
					(ex) -> assertThat(ex.mayHaveBeenAppended()).as("nobody knows").isTrue())
			.hasMessageContaining("caused by the test");
		this.appender.failWith(null);
		CompletableFuture<Appended> next = this.template.sendAsync("orders", "a", 2);
		this.appender.answerAll();

		assertThat(next).isCompleted();
		this.template.flush();
	}

	@Test
	void withoutThreadQueuedRecordsFailAndTheNextRecordIsTried() {
		Deque<Runnable> tasks = new ArrayDeque<>();
		AtomicBoolean noThread = new AtomicBoolean(true);
		SendWindow window = new SendWindow(new SendSettings(1000, 2 * MOST, 1000));
		SendQueue queue = new SendQueue(this.appender, window, (task) -> {
			// Behaves like a pool that could not start a thread but may have kept the
			// task.
			tasks.add(task);
			if (noThread.get()) {
				throw new InternalError("unable to create native thread, caused by the test");
			}
		});
		List<Sending> sent = new ArrayList<>();
		for (int i = 0; i < MOST; i++) {
			sent.add(sending(window, i));
			queue.send(List.of(sent.get(i)));
		}
		int written = this.appender.records().size();
		assertThat(written).as("by the caller, while little is under way").isBetween(1, MOST / 2);
		assertThat(sent.subList(written, MOST))
			.allSatisfy((refused) -> assertThatThrownBy(refused.appended()::join).cause()
				.isInstanceOfSatisfying(SendFailedException.class,
						(ex) -> assertThat(ex.mayHaveBeenAppended()).isFalse())
				.hasMessageContaining("no thread"));
		noThread.set(false);
		Sending next = sending(window, MOST);
		queue.send(List.of(next));
		tasks.forEach(Runnable::run);
		this.appender.answerAll();

		assertThat(next.appended()).isCompleted();
		assertThat(this.appender.records()).as("none of those that were refused").hasSize(written + 1);
		assertThat(window.inFlight()).isZero();
	}

	/** Later records wait until the failed ones are counted out. */
	@Test
	@Promise("Automatic recovery")
	void unexpectedFailureOfTheSenderBlocksNothing() {
		AtomicBoolean fails = new AtomicBoolean();
		Deque<Runnable> tasks = new ArrayDeque<>();
		SendWindow window = new SendWindow(new SendSettings(1000, 2 * MOST, 1000));
		SendQueue queue = new SendQueue(this.appender, window, tasks::add, new ConcurrentLinkedQueue<>() {

			private int polled;

			@Override
			public Sending poll() {
				if (fails.get() && ++this.polled == 3) {
					fails.set(false);
					throw new InternalError("caused by the test");
				}
				return super.poll();
			}

		});
		List<Sending> sent = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			sent.add(sending(window, i));
			queue.send(List.of(sent.get(i)));
		}
		fails.set(true);
		runAll(tasks);
		this.appender.answerAll();

		assertThat(fails).isFalse();
		assertThat(sent).allMatch((sending) -> sending.appended().isDone());
		assertThat(sent).filteredOn((sending) -> sending.appended().isCompletedExceptionally()).hasSize(2);
		assertThat(window.inFlight()).isZero();
		Sending next = sending(window, 50);
		queue.send(List.of(next));
		runAll(tasks);
		this.appender.answerAll();
		assertThat(next.appended()).isCompleted();
	}

	private static Sending sending(SendWindow window, int number) {
		return new Sending(new NewRecord(ShardId.of("orders", 0), "a", Integer.toString(number).getBytes()),
				window.tryEnter(1));
	}

	@Test
	void flushWaitsOnlyForRecordsSentBeforeIt() {
		sendAsync(0, 3);
		Thread flushing = start(this.template::flush);
		awaitWaiting(flushing);
		sendAsync(3, 4);
		Thread flushingAll = start(this.template::flush);
		awaitWaiting(flushingAll);
		this.appender.reply(0);
		this.appender.reply(2);
		assertThat(flushing.isAlive()).isTrue();
		this.appender.reply(1);

		await().atMost(PATIENCE).until(() -> !flushing.isAlive());
		assertThat(flushingAll.isAlive()).isTrue();
		this.appender.reply(3);
		await().atMost(PATIENCE).until(() -> !flushingAll.isAlive());
		this.template.flush();
	}

	@Test
	void closeWaitsForRecordsInFlight() {
		CompletableFuture<Appended> sent = this.template.sendAsync("orders", "a", 1);
		Thread closing = start(this.template::close);
		awaitWaiting(closing);
		this.appender.reply(0);

		await().atMost(PATIENCE).until(() -> !closing.isAlive());
		assertThat(sent).isCompleted();
		assertThatExceptionOfType(SendFailedException.class)
			.isThrownBy(() -> this.template.sendAsync("orders", "a", 1));
	}

	@Test
	void callbackOfAFutureMaySendButNotWait() {
		CompletableFuture<Appended> chained = this.template.sendAsync("orders", "a", 1)
			.thenCompose((appended) -> this.template.sendAsync("orders", "a", 2));
		CompletableFuture<Appended> waiting = this.template.sendAsync("orders", "a", 3)
			.thenApply((appended) -> this.template.send("orders", "a", 4));
		this.appender.reply(0);
		this.appender.reply(1);

		assertThatThrownBy(waiting::join).hasCauseInstanceOf(IllegalStateException.class)
			.hasMessageContaining("sendAsync");
		awaitAppended(3);
		this.appender.reply(2);
		await().atMost(PATIENCE).until(chained::isDone);
		assertThat(chained).isCompleted();
	}

	@Test
	void callbackOfAFutureIsRejectedWithoutRoom() {
		List<CompletableFuture<Appended>> chained = new ArrayList<>();
		CompletableFuture<Appended> first = this.template.sendAsync("orders", "a", 0);
		first.thenRun(() -> {
			for (int i = 0; i < 3; i++) {
				chained.add(this.template.sendAsync("orders", "a", "chained"));
			}
		});
		sendAsync(1, MOST);
		awaitAppended(MOST);
		this.appender.reply(0);

		assertThat(chained).hasSize(3);
		assertThatThrownBy(() -> chained.get(1).join()).cause()
			.isInstanceOf(SendFailedException.class)
			.hasMessageContaining("thenComposeAsync");
		awaitAppended(MOST + 1);
	}

	private void sendAsync(int from, int to) {
		for (int i = from; i < to; i++) {
			this.template.sendAsync("orders", "a", i);
		}
	}

	private static List<String> payloads(int from, int to) {
		return IntStream.range(from, to).mapToObj(Integer::toString).toList();
	}

	private Thread start(Runnable work) {
		Thread thread = new Thread(work, "producer");
		thread.setDaemon(true);
		this.threads.add(thread);
		thread.start();
		return thread;
	}

	private void awaitAppended(int count) {
		await().atMost(PATIENCE).until(() -> this.appender.records().size() == count);
	}

	private static void awaitWaiting(Thread thread) {
		await().atMost(PATIENCE).until(() -> thread.getState() == Thread.State.WAITING);
	}

}
