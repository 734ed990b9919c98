package io.github.shardkeeper.template;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.IdempotentAppender;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Schedules;
import io.github.shardkeeper.testsupport.StreamPayloads;
import io.github.shardkeeper.testsupport.UnreliableNetwork;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Seeded schedules of two senders to one shard. One has retries; the other has ids, is
 * restarted, and then repeats what it does not know to be sent, and now and then what was
 * sent long ago. Attempts and replies are late, in another order than they were sent, or
 * lost. Afterwards each record is in the stream once, or not at all if its sender was
 * told so, and those with retries are in their order. Each rule that keeps it so is
 * broken on purpose once, and that is found.
 */
@MoreInProof
class RepeatedSendsSimulationTests {

	private static final int SCHEDULES = Schedules.count("shardkeeper.repeated-sends.schedules", 200, 5_000);

	private static final int MOST_SCHEDULES = 5_000;

	@Test
	void everyRecordIsInItsStreamOnce() {
		int repeated = 0;
		int records = 0;
		for (long seed = 1; seed <= SCHEDULES; seed++) {
			Schedule schedule = new Schedule(seed, null);
			schedule.run();
			repeated += schedule.target.repeated;
			records += schedule.sent + schedule.sentWithIds;
		}
		System.out.printf("%d schedules: %d records, %d batches that were not the first attempt%n", SCHEDULES, records,
				repeated);
		assertThat(repeated).isGreaterThan(SCHEDULES);
	}

	@ParameterizedTest
	@EnumSource
	@Tag("proof")
	void brokenRuleIsFound(Rule broken) {
		AssertionError found = null;
		long seed = 0;
		while (found == null && seed < MOST_SCHEDULES) {
			try {
				new Schedule(++seed, broken).run();
			}
			catch (AssertionError ex) {
				found = ex;
			}
		}
		assertThat(found).as("found within %d schedules", MOST_SCHEDULES).isNotNull();
		System.out.printf("Without the rule that %s: found by seed %d%n", broken, seed);
	}

	/** What keeps a record that is sent again from being appended again. */
	enum Rule {

		/** Otherwise the window is too short for what is repeated after it. */
		IDS_OUTLAST_THE_REPETITIONS,
		/** Otherwise a batch that is repeated is appended again. */
		THE_NUMBER_OF_THE_LAST_BATCH_IS_KEPT,
		/** Otherwise an attempt that arrives late is appended again. */
		EARLIER_BATCHES_ARE_IGNORED,
		/** Otherwise a later record overtakes one that is repeated. */
		A_SHARD_HAS_ONE_BATCH_AT_A_TIME

	}

	private static final class Schedule {

		private static final ShardId SHARD = ShardId.of("orders", 0);

		private static final int STEPS = 60;

		private static final int RETRIES = 3;

		private final long seed;

		private final @Nullable Rule broken;

		private final RandomGenerator random;

		private final UnreliableNetwork network;

		private final Target target = new Target();

		/** Attempts that wait for their pause. */
		private final Deque<Runnable> due = new ArrayDeque<>();

		private final RetryingAppender retrying;

		private final Map<Integer, CompletableFuture<Offset>> replies = new LinkedHashMap<>();

		/** Numbers of the sender with ids that it does not know to be sent. */
		private final Set<Integer> open = new HashSet<>();

		private RetryingAppender withIds;

		private int starts;

		private int sent;

		private int sentWithIds;

		Schedule(long seed, @Nullable Rule broken) {
			this.seed = seed;
			this.broken = broken;
			this.random = new Random(seed);
			this.network = new UnreliableNetwork(this.random);
			this.retrying = appender("retrying", RETRIES);
			this.withIds = appender("with ids 0", 0);
		}

		private RetryingAppender appender(String producer, int retries) {
			return new RetryingAppender(this.target, retries, producer, () -> false,
					(pause, work) -> this.due.add(work), DuplicateSendListener.NONE);
		}

		void run() {
			for (int step = 0; step < STEPS; step++) {
				step();
			}
			settle();
			check();
		}

		private void step() {
			switch (this.random.nextInt(8)) {
				case 0, 1 -> send();
				case 2, 3 -> sendWithId(++this.sentWithIds);
				case 4 -> repeatWithIds();
				case 5 -> runDue();
				default -> this.network.arrive();
			}
		}

		private void send() {
			int number = ++this.sent;
			RetryingAppender appender = (this.broken == Rule.A_SHARD_HAS_ONE_BATCH_AT_A_TIME)
					? appender("retrying " + number, RETRIES) : this.retrying;
			this.replies.put(number, appender.append(List.of(record("r" + number, null))).get(0));
		}

		private void sendWithId(int number) {
			this.open.add(number);
			String payload = "i" + number;
			this.withIds.append(List.of(record(payload, payload))).get(0).whenComplete((offset, failure) -> {
				if (failure == null) {
					this.open.remove(number);
				}
			});
		}

		/** Repeats what is open, after a restart, or a record of any time. */
		private void repeatWithIds() {
			if (this.random.nextInt(3) == 0) {
				this.withIds = appender("with ids " + ++this.starts, 0);
				List.copyOf(this.open).forEach(this::sendWithId);
			}
			else if (this.sentWithIds > 0) {
				sendWithId(1 + this.random.nextInt(this.sentWithIds));
			}
		}

		private void runDue() {
			if (!this.due.isEmpty()) {
				this.due.remove().run();
			}
		}

		private void settle() {
			this.network.calm();
			while (!this.network.isEmpty() || !this.due.isEmpty()) {
				this.network.arrive();
				runDue();
			}
			List.copyOf(this.open).forEach(this::sendWithId);
			assertThat(this.open).as("seed %d", this.seed).isEmpty();
		}

		private void check() {
			List<String> payloads = this.target.payloads();
			List<String> withRetries = payloads.stream().filter((payload) -> payload.startsWith("r")).toList();
			List<String> expected = this.replies.entrySet()
				.stream()
				.filter((entry) -> isThere(entry.getValue(), withRetries.contains("r" + entry.getKey())))
				.map((entry) -> "r" + entry.getKey())
				.toList();
			assertThat(withRetries).as("seed %d, with retries", this.seed).isEqualTo(expected);
			assertThat(payloads.stream().filter((payload) -> payload.startsWith("i")))
				.as("seed %d, with ids", this.seed)
				.containsExactlyInAnyOrderElementsOf(
						IntStream.rangeClosed(1, this.sentWithIds).mapToObj((number) -> "i" + number).toList());
		}

		/** Returns whether a record has to be there; if nobody knows, whether it is. */
		private static boolean isThere(CompletableFuture<Offset> reply, boolean is) {
			try {
				reply.getNow(null);
				return reply.isDone();
			}
			catch (CompletionException ex) {
				return is && ((SendFailedException) ex.getCause()).mayHaveBeenAppended();
			}
		}

		private static IdempotentAppender.NewRecord record(String payload, @Nullable String id) {
			return new IdempotentAppender.NewRecord(SHARD, null, payload.getBytes(), Map.of(), id);
		}

		/** The stream, behind the network. */
		private final class Target implements IdempotentAppender {

			private static final int SHORT_WINDOW = 3;

			private final MemoryStreamSource stream = new MemoryStreamSource(Map.of("orders", 1));

			/** Last number of each producer. */
			private final Map<String, Long> numbers = new HashMap<>();

			/** Ids in a window that is too short, and what the stream knows them by. */
			private final Map<String, String> window = new LinkedHashMap<>();

			private int attempts;

			/** Attempts with the number of the producer's last one, or a lower one. */
			private int repeated;

			@Override
			public List<CompletableFuture<Offset>> append(List<NewRecord> records) {
				throw new AssertionError("all records are in batches here");
			}

			@Override
			public CompletableFuture<Appended> appendOnce(Batch batch) {
				return Schedule.this.network.transfer(() -> appended(batch),
						() -> new SendFailedException("lost, caused by the test", null, true));
			}

			private Appended appended(Batch batch) {
				this.attempts++;
				long last = this.numbers.getOrDefault(batch.producer(), 0L);
				this.numbers.put(batch.producer(), Math.max(last, batch.number()));
				this.repeated += (batch.number() <= last) ? 1 : 0;
				boolean forgotten = (Schedule.this.broken == Rule.THE_NUMBER_OF_THE_LAST_BATCH_IS_KEPT)
						|| Schedule.this.broken == Rule.EARLIER_BATCHES_ARE_IGNORED && batch.number() < last;
				String producer = forgotten ? batch.producer() + ", forgotten " + this.attempts : batch.producer();
				List<NewRecord> records = batch.records();
				if (Schedule.this.broken == Rule.IDS_OUTLAST_THE_REPETITIONS) {
					records = records.stream().map(this::inShortWindow).toList();
				}
				return this.stream.appendOnce(new Batch(producer, batch.number(), records)).join();
			}

			private NewRecord inShortWindow(NewRecord sent) {
				String id = sent.id();
				if (id == null) {
					return sent;
				}
				String known = this.window.computeIfAbsent(id, (unknown) -> unknown + ", " + this.attempts);
				if (this.window.size() > SHORT_WINDOW) {
					this.window.remove(this.window.keySet().iterator().next());
				}
				return new NewRecord(sent.shard(), sent.key(), sent.payload(), sent.headers(), known);
			}

			List<String> payloads() {
				return StreamPayloads.of(this.stream, SHARD);
			}

		}

	}

}
