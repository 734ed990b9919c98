package io.github.shardkeeper.worker;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.StateCache;
import io.github.shardkeeper.checkpoint.StateValues;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.output.OutboxSettings;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.JsonPayloadConverter;
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
 * Seeded schedules of one shard whose handler sets, replaces and cancels timers. Owners
 * die, or freeze and wake up when others have replaced them; handlers fail; each commit
 * may arrive late, in another order than it was sent, or be lost, and so may its reply.
 * The state says of each timer how often it was set, cancelled and fired, and what was in
 * force: at the end each that was not cancelled has fired once, at no time before its
 * own. Each rule that keeps it so is broken on purpose once, and that is found.
 */
@MoreInProof
@Promise("Timers fire once")
class TimersSimulationTests {

	private static final int SCHEDULES = Schedules.count("shardkeeper.timers.schedules", 200, 1_500);

	private static final int MOST_SCHEDULES = 5_000;

	private final SilentLogs logs = SilentLogs.begin();

	@AfterEach
	void speak() {
		this.logs.close();
	}

	@Test
	void everyTimerFiresOnceUnlessItIsCancelled() {
		int fired = 0;
		for (long seed = 1; seed <= SCHEDULES; seed++) {
			fired += new Schedule(seed, null).run();
		}
		System.out.printf("%d schedules with %d timers that have fired%n", SCHEDULES, fired);
		assertThat(fired).isGreaterThan(SCHEDULES);
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

	/** What makes each timer fire once. */
	enum Rule {

		/** Otherwise it fires again for the next owner. */
		FIRED_TIMERS_ARE_REMOVED_IN_THE_COMMIT,
		/** Otherwise a crash in between loses timers, or sets those of repeated calls. */
		TIMERS_AND_STATE_ARE_ONE_COMMIT,
		/** Otherwise what was cancelled fires for the next owner. */
		CANCELLED_TIMERS_ARE_REMOVED,
		/** Otherwise a replaced owner changes the timers of its successor. */
		LATE_COMMITS_ARE_FENCED,
		/** Otherwise what is due meanwhile never fires. */
		THE_STORE_IS_READ_AGAIN_BY_EACH_OWNER

	}

	private static final class Schedule {

		private static final ShardId SHARD = ShardId.of("orders", 1);

		private static final int STEPS = 80;

		private final long seed;

		private final Rule broken;

		private final RandomGenerator random;

		/** Of all owners and of the store. */
		private final SettableClock clock = new SettableClock();

		private final InstantSource wall = () -> Instant.EPOCH.plusNanos(this.clock.now().nanos());

		private final Reminders bean = new Reminders(this.wall);

		private final MemoryCheckpointStore store = new MemoryCheckpointStore(InstantSource.fixed(Instant.EPOCH));

		private final ShardHandler handler;

		private final UnreliableNetwork unreliable;

		/** Owners that were replaced, and do not know it. */
		private final List<Owner> frozen = new ArrayList<>();

		private Owner owner;

		private int fed;

		private int tokens;

		private int reads;

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

		/** Returns how many timers have fired. */
		int run() {
			for (int step = 0; step < STEPS; step++) {
				step();
			}
			settle();
			Map<String, String> state = this.store.read(SHARD).state();
			assertThat(state.get("handled")).as("seed %d", this.seed).isEqualTo(Integer.toString(this.fed));
			assertThat(state.keySet().stream().filter((key) -> key.startsWith("wrong")))
				.as("seed %d, calls that met a timer that was not in force", this.seed)
				.isEmpty();
			assertThat(state.keySet().stream().filter((key) -> key.startsWith("inForce")))
				.as("seed %d, timers that have not fired", this.seed)
				.isEmpty();
			assertThat(this.store.timers(SHARD, null, 10)).as("seed %d, timers that are left", this.seed).isEmpty();
			return Integer.parseInt(state.getOrDefault("fired", "0"));
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
			if (this.broken == Rule.TIMERS_AND_STATE_ARE_ONE_COMMIT) {
				long number = 2 * commit.number().attempt();
				this.store.commit(shard, token,
						Commit.of(CommitNumber.ofWhole(number - 1), null, Map.of()).withTimers(commit.timers()));
				return this.unreliable.transfer(() -> this.store
					.commit(shard, token, Commit.of(CommitNumber.ofWhole(number), commit.offset(), commit.changes()))
					.join(), this::unavailable);
			}
			Commit sent = commit.withTimers(altered(commit.timers()));
			Token sender = (this.broken == Rule.LATE_COMMITS_ARE_FENCED) ? new Token(this.tokens) : token;
			return this.unreliable.transfer(() -> this.store.commit(shard, sender, sent).join(), this::unavailable);
		}

		private Map<TimerId, Instant> altered(Map<TimerId, Instant> timers) {
			boolean removed = this.broken == Rule.FIRED_TIMERS_ARE_REMOVED_IN_THE_COMMIT;
			boolean cancelled = this.broken == Rule.CANCELLED_TIMERS_ARE_REMOVED;
			Map<TimerId, Instant> kept = new LinkedHashMap<>(timers);
			kept.entrySet()
				.removeIf((change) -> change.getValue() == null && (removed && this.bean.lastFired(change.getKey())
						|| cancelled && !this.bean.lastFired(change.getKey())));
			return kept;
		}

		private List<StoredTimer> timers(ShardId shard, StoredTimer after, int limit) {
			if (this.broken == Rule.THE_STORE_IS_READ_AGAIN_BY_EACH_OWNER && this.reads++ > 0) {
				return List.of();
			}
			return this.store.timers(shard, after, limit);
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
						if (method.getName().equals("timers")) {
							return timers((ShardId) arguments[0], (StoredTimer) arguments[1], (Integer) arguments[2]);
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

			private final ManualThreads threads = new ManualThreads(Schedule.this.clock);

			private final TestReader reader = new TestReader();

			private final Lease lease = new Lease(Duration.ofDays(1), Schedule.this.clock.now());

			private final ShardWorker worker;

			Owner() {
				ConsumerSettings settings = new TestSettings().maxAttempts(TestSettings.ENDLESS).get();
				renew();
				WorkerContext context = new WorkerContext("group",
						new WorkerContext.Stores(network(), this.reader, OutboxSettings.NONE),
						new WorkerContext.Runtime(Schedule.this.clock, Schedule.this.wall, this.threads,
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

			private void renew() {
				this.lease.renew(Schedule.this.clock.now(), Schedule.this.clock.now());
			}

			void run() {
				renew();
				this.worker.wake();
				this.threads.runAll();
			}

			void pass(Duration duration) {
				renew();
				this.threads.pass(duration);
			}

			void deliver(int first, int last) {
				if (this.reader.sink(SHARD) != null && first <= last) {
					this.reader.deliver(SHARD, first, last);
				}
			}

		}

	}

	/**
	 * Each record sets one of three timers, cancels one, or neither. The state has those
	 * that are in force; a call for one that is not, or not yet due, is noted.
	 */
	static final class Reminders {

		private final InstantSource wall;

		private final List<TimerId> fired = new ArrayList<>();

		private boolean failing;

		Reminders(InstantSource wall) {
			this.wall = wall;
		}

		@ShardConsumer("orders")
		void handle(ShardRecord<String> record, ShardState state, ShardTimers timers) {
			int number = Integer.parseInt(record.payload().substring(1));
			String key = "k" + number % 3;
			switch (number % 5) {
				case 0 -> {
					timers.cancel(key, "remind");
					this.fired.remove(new TimerId(key, "remind"));
					state.remove("inForce " + key);
				}
				case 1, 2, 3 -> {
					Instant at = Instant.EPOCH.plusSeconds(number % 40);
					timers.set(key, "remind", at);
					state.put("inForce " + key, at.toEpochMilli());
				}
				default -> {
				}
			}
			state.increment("handled", 1);
			failIfWanted();
		}

		@OnShardTimer
		void due(ShardTimer timer, ShardState state) {
			String entry = "inForce " + timer.key();
			if (state.get(entry, Long.class).orElse(-1L) != timer.dueAt().toEpochMilli()
					|| timer.dueAt().isAfter(this.wall.instant())) {
				state.put("wrong " + timer.key() + " " + timer.dueAt(), true);
			}
			state.remove(entry);
			state.increment("fired", 1);
			this.fired.add(new TimerId(timer.key(), timer.name()));
			failIfWanted();
		}

		/** Returns whether a removal of a timer is that of its call. */
		boolean lastFired(TimerId id) {
			return this.fired.contains(id);
		}

		private void failIfWanted() {
			if (this.failing) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

}
