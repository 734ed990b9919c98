package io.github.shardkeeper.worker;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.output.OutputTargets;
import io.github.shardkeeper.output.TestTargets;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.Schedules;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.testsupport.SilentLogs;
import io.github.shardkeeper.testsupport.UnreliableNetwork;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.WorkerContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Seeded schedules of one shard that sends to three others. Owners die, or freeze and
 * wake up when others have replaced them; handlers fail; each commit and each request to
 * a target may arrive late, in another order than it was sent, or be lost, and so may its
 * reply. Afterwards each target has each record once and in order. Each rule that keeps
 * it so is broken on purpose once, and that is found.
 */
@MoreInProof
@Promise("Records exactly once")
class SentRecordsSimulationTests {

	private static final int SCHEDULES = Schedules.count("shardkeeper.sent-records.schedules", 200, 1_500);

	private static final int MOST_SCHEDULES = 5_000;

	private final SilentLogs logs = SilentLogs.begin();

	@AfterEach
	void speak() {
		this.logs.close();
	}

	@Test
	void everyRecordIsSentOnceAndInOrder() {
		int takenOver = 0;
		for (long seed = 1; seed <= SCHEDULES; seed++) {
			takenOver += new Schedule(seed, null).run();
		}
		System.out.printf("%d schedules with %d changes of the owner%n", SCHEDULES, takenOver);
		assertThat(takenOver).isGreaterThan(SCHEDULES);
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

	/** What keeps records exactly once. */
	enum Rule {

		/** Otherwise records of calls that are not committed are sent. */
		RECORDS_ARE_FORWARDED_AFTER_THE_COMMIT,
		/** Otherwise a repeated request appends again. */
		TARGETS_KEEP_THE_NUMBERS,
		/** Otherwise a crash in between sends records of calls that are repeated. */
		OUTBOX_AND_OFFSET_ARE_ONE_COMMIT,
		/** Otherwise records are removed that are nowhere. */
		ONLY_APPENDED_RECORDS_ARE_CONFIRMED

	}

	private static final class Schedule {

		private static final ShardId SHARD = ShardId.of("orders", 1);

		private static final int STEPS = 80;

		private final long seed;

		private final Rule broken;

		private final RandomGenerator random;

		private final Sender bean = new Sender();

		private final MemoryCheckpointStore store = new MemoryCheckpointStore(InstantSource.fixed(Instant.EPOCH));

		private final Targets targets = new Targets();

		private final ShardHandler handler;

		private final UnreliableNetwork unreliable;

		/** Owners that were replaced, and do not know it. */
		private final List<Owner> frozen = new ArrayList<>();

		private Owner owner;

		private int fed;

		private int tokens;

		Schedule(long seed, Rule broken) {
			this.seed = seed;
			this.broken = broken;
			this.random = new Random(seed);
			this.unreliable = new UnreliableNetwork(this.random);
			DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
			beans.registerSingleton("handler", this.bean);
			this.handler = new ShardHandlerDetector(beans, new JsonPayloadConverter(new JsonMapper()))
				.detect(Map.of("orders", 2))
				.get("orders");
			this.owner = new Owner();
		}

		/** Returns how many owners there were. */
		int run() {
			for (int step = 0; step < STEPS; step++) {
				step();
			}
			settle();
			List<String> expected = IntStream.rangeClosed(1, this.fed).mapToObj((number) -> "r" + number).toList();
			assertThat(this.targets.received(TestTargets.MAILS)).as("seed %d, mails", this.seed).isEqualTo(expected);
			for (ShardId invoices : List.of(TestTargets.INVOICES, TestTargets.OTHER_INVOICES)) {
				assertThat(this.targets.received(invoices)).as("seed %d, %s", this.seed, invoices)
					.isEqualTo(expected.stream().filter((text) -> Sender.target(text).equals(invoices.id())).toList());
			}
			return this.tokens;
		}

		private void step() {
			switch (this.random.nextInt(9)) {
				case 0, 1, 2 -> feed(1 + this.random.nextInt(4));
				case 3 -> this.bean.failing = this.random.nextBoolean();
				case 4, 5 -> this.unreliable.arrive();
				case 6 -> {
					if (this.random.nextBoolean()) {
						replace();
					}
				}
				case 7 -> this.frozen.forEach(Owner::run);
				default -> this.owner.pass(Duration.ofMillis(this.random.nextInt(8_000)));
			}
			if (this.random.nextInt(3) > 0) {
				this.owner.run();
			}
		}

		private void feed(int more) {
			this.owner.deliver(this.fed + 1, this.fed + more);
			this.fed += more;
		}

		/** The owner is dead, or wakes up later; its successor reads on. */
		private void replace() {
			if (this.random.nextBoolean()) {
				this.frozen.add(this.owner);
			}
			this.owner = new Owner();
			this.owner.run();
			Offset committed = this.store.read(SHARD).offset();
			this.owner.deliver((committed != null) ? Integer.parseInt(committed.value()) + 1 : 1, this.fed);
		}

		private void settle() {
			this.unreliable.calm();
			this.bean.failing = false;
			replace();
			for (int i = 0; i < 20; i++) {
				this.unreliable.arrive();
				this.owner.pass(Duration.ofSeconds(15));
				this.frozen.forEach(Owner::run);
			}
			while (!this.unreliable.isEmpty()) {
				this.unreliable.arrive();
				this.owner.pass(Duration.ofSeconds(15));
			}
		}

		private CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit) {
			if (this.broken == Rule.RECORDS_ARE_FORWARDED_AFTER_THE_COMMIT && !commit.outbox().added().isEmpty()) {
				this.unreliable.transfer(() -> this.store.commit(shard, token, commit).join(),
						IllegalStateException::new);
				return CompletableFuture.completedFuture(CommitReply.COMMITTED);
			}
			if (this.broken == Rule.OUTBOX_AND_OFFSET_ARE_ONE_COMMIT) {
				long number = 2 * commit.number().attempt();
				this.store.commit(shard, token,
						Commit.of(CommitNumber.ofWhole(number - 1), null, Map.of()).withOutbox(commit.outbox()));
				return this.unreliable.transfer(() -> this.store
					.commit(shard, token, Commit.of(CommitNumber.ofWhole(number), commit.offset(), commit.changes()))
					.join(), this::unavailable);
			}
			return this.unreliable.transfer(() -> this.store.commit(shard, token, commit).join(), this::unavailable);
		}

		private StoreUnavailableException unavailable() {
			return new StoreUnavailableException("lost, caused by the test", new IllegalStateException());
		}

		/** The store, as owners see it. */
		private CheckpointStore network() {
			return (CheckpointStore) Proxy.newProxyInstance(CheckpointStore.class.getClassLoader(),
					new Class<?>[] { CheckpointStore.class }, (proxy, method, arguments) -> {
						if (method.getName().equals("commit")) {
							return commit((ShardId) arguments[0], (Token) arguments[1], (Commit) arguments[2]);
						}
						try {
							return method.invoke(this.store, arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getTargetException();
						}
					});
		}

		/** A process that owns the shard. */
		private final class Owner {

			private final SettableClock clock = new SettableClock();

			private final ManualThreads threads = new ManualThreads(this.clock);

			private final TestReader reader = new TestReader();

			private final Lease lease = new Lease(Duration.ofDays(1), this.clock.now());

			private final ShardWorker worker;

			Owner() {
				ConsumerSettings settings = new TestSettings().maxAttempts(TestSettings.ENDLESS).get();
				this.lease.renew(this.clock.now(), this.clock.now());
				WorkerContext context = new WorkerContext("group",
						new WorkerContext.Stores(network(), this.reader,
								new OutputSettings(Schedule.this.targets, 20, 1_000_000)),
						new WorkerContext.Runtime(this.clock, InstantSource.fixed(Instant.EPOCH), this.threads,
								this.threads.timer()),
						new WorkerContext.Topics((topic) -> settings, new BufferBudget(Long.MAX_VALUE),
								new StateCache(1_000_000), new StateValues(new JsonMapper(), List.of())),
						new WorkerContext.Observers(ConsumerMeters.NONE, ConsumerEvents.NONE,
								(shard, token, fence, completed) -> {
								}, false),
						this.lease);
				this.worker = new ShardWorker(SHARD, new Token(++Schedule.this.tokens), MemberId.of("me", "1"),
						Schedule.this.handler, context, CompletableFuture.completedFuture(null));
				run();
			}

			void run() {
				this.worker.wake();
				this.threads.runAll();
			}

			void pass(Duration duration) {
				this.threads.pass(duration);
				this.lease.renew(this.clock.now(), this.clock.now());
			}

			void deliver(int first, int last) {
				if (this.reader.sink(SHARD) != null && first <= last) {
					this.reader.deliver(SHARD, first, last);
				}
			}

		}

		private final class Targets implements OutputTargets, SequencedAppender {

			private final TestTargets reliable = new TestTargets();

			@Override
			public NewRecord prepare(String topic, Outgoing outgoing) {
				return this.reliable.prepare(topic, outgoing);
			}

			@Override
			public SequencedAppender appender(String topic) {
				return this;
			}

			@Override
			public CompletableFuture<Reply> append(Sequence sequence, Batch batch) {
				if (Schedule.this.broken == Rule.ONLY_APPENDED_RECORDS_ARE_CONFIRMED
						&& Schedule.this.random.nextInt(20) == 0) {
					return CompletableFuture.completedFuture(new Reply.Appended(0));
				}
				return Schedule.this.unreliable.transfer(() -> {
					if (Schedule.this.broken == Rule.TARGETS_KEEP_THE_NUMBERS) {
						this.reliable.appendAgain(batch.records());
						return new Reply.Appended(0);
					}
					return this.reliable.append(sequence, batch).join();
				}, () -> new SendFailedException("lost, caused by the test", null, true));
			}

			List<String> received(ShardId shard) {
				return this.reliable.received(shard);
			}

		}

	}

	static final class Sender {

		private boolean failing;

		@ShardConsumer("orders")
		void handle(ShardRecord<String> record, ShardState state, ShardOutput output) {
			output.send("invoices", target(record.payload()), record.payload());
			output.send("mails", null, record.payload());
			state.increment("handled", 1);
			if (this.failing) {
				throw new IllegalStateException("caused by the test");
			}
		}

		/** Returns the id of the shard of {@code invoices}. */
		static String target(String payload) {
			return (Integer.parseInt(payload.substring(1)) % 3 == 0) ? "1" : "0";
		}

	}

}
