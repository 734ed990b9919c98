package io.github.shardkeeper.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitBasis;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.coordination.member.ShardConsumption;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.testsupport.SilentLogs;
import io.github.shardkeeper.testsupport.TimersInForce;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Shows that the simulation can fail: each test breaks one rule of the protocol, and the
 * simulation finds it.
 */
@Tag("proof")
@Execution(ExecutionMode.CONCURRENT)
class DeliberateFaultsTests {

	private static final int MOST_SCHEDULES = 30_000;

	/**
	 * The first seed for faults that a search from 1 finds after minutes. Once schedules
	 * have changed, others find them.
	 */
	private static final Map<Class<? extends Tampering>, Long> FIRST = Map.of(StateReadAfterLoss.class, 516L,
			TimersNotGivenBack.class, 615L, SuspensionIgnored.class, 804L, KeptBeforeDrained.class, 1768L);

	private static SilentLogs logs;

	@BeforeAll
	static void silence() {
		logs = SilentLogs.begin();
	}

	@AfterAll
	static void close() {
		logs.close();
	}

	static Stream<Arguments> faults() {
		return Stream.of(Arguments.of("the fence is skipped", new FenceSkipped()),
				Arguments.of("the store takes the lease for shorter than it is", new ReapedEarly()),
				Arguments.of("the member takes the lease for longer than it is", new LeaseTooLong()),
				Arguments.of("a shard is released before it has drained", new ReleasedBeforeDrained()),
				Arguments.of("a token is used twice", new TokenReused()),
				Arguments.of("state and offset are written one after the other", new StateApartFromOffset()),
				Arguments.of("a commit is lost though it was accepted", new CommitLost()),
				Arguments.of("the store forgets to tell what changed", new NewsLost()),
				Arguments.of("a revoked shard is kept", new DrainForgotten()),
				Arguments.of("a lost shard is kept", new LossIgnored()),
				Arguments.of("calls are not interrupted when the lease ends", new SuspensionIgnored()),
				Arguments.of("nobody gives back what an emptied store has lost", new NothingPresented()),
				Arguments.of("nobody looks when he is asked to", new NudgeIgnored()),
				Arguments.of("a reset shard keeps its state", new StateKept()),
				Arguments.of("entries of the state are kept from an earlier ownership",
						new StateFromEarlierOwnership()),
				Arguments.of("entries are read from a state that has lost commits", new StateReadAfterLoss()),
				Arguments.of("the leader takes an outage for the death of others", new OutageJudged()),
				Arguments.of("children do not wait for their parents", new ParentsForgotten()),
				Arguments.of("a shard is marked as completed when it moves", new CompletedEarly()),
				Arguments.of("shards are kept for a restart before they have drained", new KeptBeforeDrained()),
				Arguments.of("an instance that returns has its shards under the old token",
						new ReturnedUnderOldToken()),
				Arguments.of("an instance counts as away for ever", new AwayForEver()),
				Arguments.of("a new owner does not know which keys wait", new ParkedKeysForgotten()),
				Arguments.of("a later record overtakes one that waits", new WaitingOvertaken()),
				Arguments.of("what waits for others of its key is not stored", new WaitingNotStored()),
				Arguments.of("a new owner does not know what expires", new ExpiryForgotten()),
				Arguments.of("the removal of what has expired overtakes a later put", new RemovalTooLate()),
				Arguments.of("what has expired is not removed", new RemovalForgotten()),
				Arguments.of("a value is stored without its version", new VersionForgotten()),
				Arguments.of("a value of an earlier version is stored as one of the version now", new VersionAssumed()),
				Arguments.of("a timer that has fired stays in the store", new FiredTimerKept()),
				Arguments.of("a timer that is cancelled stays in the store", new CancelledTimerKept()),
				Arguments.of("timers are written after the state", new TimersApartFromState()),
				Arguments.of("a new owner does not know the timers", new TimersForgotten()),
				Arguments.of("a seek that clears the state keeps the timers", new TimersKeptBySeek()),
				Arguments.of("an emptied store gets no timers back", new TimersNotGivenBack()));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("faults")
	void isFound(String what, Tampering fault) {
		Throwable found = null;
		long seed = FIRST.getOrDefault(fault.getClass(), 1L) - 1;
		long last = seed + MOST_SCHEDULES;
		try (SimulatedGroup.Host host = new SimulatedGroup.Host()) {
			while (found == null && seed < last) {
				found = host.run(++seed, fault, false).failure();
			}
		}
		assertThat(found).as("found within %d schedules", MOST_SCHEDULES).isInstanceOf(AssertionError.class);
		System.out.printf("When %s: found by seed %d: %.160s%n", what, seed, found.getMessage());
	}

	/** Calls through to a target, but for what the test wants otherwise. */
	private static <T> T instead(Class<T> port, T target, Intervention intervention) {
		return port.cast(Proxy.newProxyInstance(port.getClassLoader(), new Class<?>[] { port },
				(proxy, method, arguments) -> intervention.call(method, arguments, (actual) -> {
					try {
						return method.invoke(target, actual);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				})));
	}

	private interface Intervention {

		Object call(Method method, Object[] arguments, Next next) throws Throwable;

	}

	private interface Next {

		Object call(Object... arguments) throws Throwable;

	}

	private static final class FenceSkipped implements Tampering {

		private long commits;

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("commit")) {
					// Whatever token the writer has, it gets through.
					CheckpointStore.Acquisition now = store.acquireNow((ShardId) arguments[0], Token.NONE);
					if (now instanceof CheckpointStore.Acquisition.Refused refused) {
						arguments[1] = refused.fence();
						arguments[2] = ((Commit) arguments[2]).withNumber(CommitNumber.ofWhole(++this.commits));
					}
				}
				return next.call(arguments);
			});
		}

	}

	private static final class ReapedEarly implements Tampering {

		@Override
		public CoordinationStore coordination(CoordinationStore store) {
			return instead(CoordinationStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("joinGroup")) {
					arguments[2] = ((Duration) arguments[2]).dividedBy(3);
					arguments[3] = ((Duration) arguments[3]).dividedBy(6);
				}
				return next.call(arguments);
			});
		}

	}

	private static final class LeaseTooLong implements Tampering {

		@Override
		public Duration lease(Duration known) {
			return known.multipliedBy(2);
		}

	}

	private static final class ReleasedBeforeDrained implements Tampering {

		@Override
		public ShardConsumption consumption(ShardConsumption consumption, ShardConsumption.Listener listener) {
			Map<ShardId, Token> tokens = new HashMap<>();
			return instead(ShardConsumption.class, consumption, (method, arguments, next) -> {
				if (method.getName().equals("start")) {
					tokens.put((ShardId) arguments[0], (Token) arguments[1]);
				}
				if (method.getName().equals("drain")) {
					listener.workerEnded((ShardId) arguments[0], tokens.get(arguments[0]), Token.NONE, false);
				}
				return next.call(arguments);
			});
		}

	}

	private static final class TokenReused implements Tampering {

		private static final Token ALWAYS = new Token(7);

		@Override
		public CoordinationStore coordination(CoordinationStore store) {
			Map<ShardId, Token> real = new HashMap<>();
			return instead(CoordinationStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("releaseShards")) {
					arguments[1] = ((List<?>) arguments[1]).stream()
						.map(HoldingAction.Release.class::cast)
						.map((release) -> new HoldingAction.Release(release.shard(), real.get(release.shard()),
								release.tokenFloor(), release.completed()))
						.toList();
				}
				Object reply = next.call(arguments);
				return (reply instanceof HeartbeatReply.Alive alive) ? withToken(alive, real) : reply;
			});
		}

		private static HeartbeatReply withToken(HeartbeatReply.Alive alive, Map<ShardId, Token> real) {
			List<Ownership> changes = alive.changes().stream().map((change) -> {
				real.put(change.shard(), change.token());
				return new Ownership(change.shard(), change.phase(), ALWAYS, change.owner(), change.target(),
						change.generation(), change.sinceMillis(), change.untilMillis());
			}).toList();
			return HeartbeatReplies.withChanges(alive, changes);
		}

	}

	private static final class KeptBeforeDrained implements Tampering {

		/** Of the instance that is created last. */
		private AtomicBoolean restarts = new AtomicBoolean();

		@Override
		public CoordinationStore coordination(CoordinationStore store) {
			AtomicBoolean own = new AtomicBoolean();
			this.restarts = own;
			return instead(CoordinationStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("announceRestart")) {
					own.set(true);
				}
				return next.call(arguments);
			});
		}

		@Override
		public ShardConsumption consumption(ShardConsumption consumption, ShardConsumption.Listener listener) {
			AtomicBoolean own = this.restarts;
			Map<ShardId, Token> tokens = new HashMap<>();
			return instead(ShardConsumption.class, consumption, (method, arguments, next) -> {
				if (method.getName().equals("start")) {
					tokens.put((ShardId) arguments[0], (Token) arguments[1]);
				}
				if (method.getName().equals("drain") && own.get()) {
					listener.workerEnded((ShardId) arguments[0], tokens.get(arguments[0]), Token.NONE, false);
					return null;
				}
				return next.call(arguments);
			});
		}

	}

	private static final class ReturnedUnderOldToken implements Tampering {

		@Override
		public CoordinationStore coordination(CoordinationStore store) {
			Map<ShardId, Ownership> before = new HashMap<>();
			return instead(CoordinationStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("applyPlan")) {
					store.readChanges(0, -1)
						.ownerships()
						.stream()
						.filter((shard) -> RestartingInstance.keptFor(shard) != null)
						.forEach((shard) -> before.put(shard.shard(), shard));
				}
				Object reply = next.call(arguments);
				return (reply instanceof HeartbeatReply.Alive alive) ? HeartbeatReplies.withChanges(alive,
						alive.changes().stream().map((change) -> returned(change, before.get(change.shard()))).toList())
						: reply;
			});
		}

		private static Ownership returned(Ownership now, @Nullable Ownership kept) {
			boolean returns = kept != null && now.owner() != null
					&& now.owner().instance().equals(RestartingInstance.keptFor(kept));
			return returns ? new Ownership(now.shard(), now.phase(), kept.token(), now.owner(), now.target(),
					now.generation(), now.sinceMillis(), now.untilMillis()) : now;
		}

	}

	private static final class AwayForEver implements Tampering {

		@Override
		public CoordinationStore coordination(CoordinationStore store) {
			return instead(CoordinationStore.class, store, (method, arguments, next) -> {
				Object reply = next.call(arguments);
				return (reply instanceof GroupChanges read) ? new GroupChanges(read.leader(), read.epoch(),
						read.generation(), read.membership(), read.whole(), read.members(), read.ownerships(),
						read.silent(), read.away().stream().map(AwayForEver::prolonged).toList()) : reply;
			});
		}

		private static RestartingInstance prolonged(RestartingInstance away) {
			return new RestartingInstance(away.instance(), away.description(), away.sinceMillis(),
					away.untilMillis() + 3_600_000);
		}

	}

	private static final class StateApartFromOffset implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("commit") && ((Commit) arguments[2]).offset() != null) {
					Commit commit = (Commit) arguments[2];
					long number = 2 * commit.number().attempt();
					next.call(arguments[0], arguments[1],
							Commit.of(CommitNumber.ofWhole(number - 1), null, commit.changes()));
					return next.call(arguments[0], arguments[1],
							Commit.of(CommitNumber.ofWhole(number), commit.offset(), Map.of()));
				}
				return next.call(arguments);
			});
		}

	}

	private static final class CommitLost implements Tampering {

		private int commits;

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("commit") && ++this.commits % 10 == 0) {
					return CompletableFuture.completedFuture(CheckpointStore.CommitReply.COMMITTED);
				}
				return next.call(arguments);
			});
		}

	}

	private static final class NewsLost implements Tampering {

		@Override
		public CoordinationStore coordination(CoordinationStore store) {
			return instead(CoordinationStore.class, store, (method, arguments, next) -> {
				Object reply = next.call(arguments);
				return (reply instanceof HeartbeatReply.Alive alive && alive.generation() % 3 == 0)
						? HeartbeatReplies.withChanges(alive, List.of()) : reply;
			});
		}

	}

	private static final class DrainForgotten implements Tampering {

		@Override
		public ShardConsumption consumption(ShardConsumption consumption, ShardConsumption.Listener listener) {
			return instead(ShardConsumption.class, consumption,
					(method, arguments, next) -> method.getName().equals("drain") ? null : next.call(arguments));
		}

	}

	private static final class NudgeIgnored implements Tampering {

		@Override
		public ShardConsumption consumption(ShardConsumption consumption, ShardConsumption.Listener listener) {
			return instead(ShardConsumption.class, consumption,
					(method, arguments, next) -> method.getName().equals("attend") ? null : next.call(arguments));
		}

	}

	private static final class StateKept implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("commit") && ((Commit) arguments[2]).seek() != 0) {
					Commit commit = (Commit) arguments[2];
					arguments[2] = new Commit(commit.number(), commit.offset(), commit.ahead(), commit.changes(),
							commit.retries(), commit.taken(), commit.deadLetters(), commit.seek())
						.withTimers(commit.timers());
				}
				return next.call(arguments);
			});
		}

	}

	/** As if a cache outlived an ownership. */
	private static final class StateFromEarlierOwnership implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			Map<ShardId, Map<Object, Object>> read = new HashMap<>();
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("ownedEntries")) {
					Map<Object, Object> first = read.computeIfAbsent((ShardId) arguments[0],
							(shard) -> new HashMap<>());
					Object known = first.get(arguments[2]);
					if (known != null) {
						return known;
					}
					Object found = next.call(arguments);
					first.put(arguments[2], found);
					return found;
				}
				return next.call(arguments);
			});
		}

	}

	private static final class StateReadAfterLoss implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("ownedEntries")) {
					CommitBasis basis = (CommitBasis) arguments[1];
					arguments[1] = new CommitBasis(basis.token(), 0, basis.acquisition());
				}
				return next.call(arguments);
			});
		}

	}

	private static final class LossIgnored implements Tampering {

		private static final Set<String> LOSSES = Set.of("abandon", "forfeit");

		@Override
		public ShardConsumption consumption(ShardConsumption consumption, ShardConsumption.Listener listener) {
			return instead(ShardConsumption.class, consumption,
					(method, arguments, next) -> LOSSES.contains(method.getName()) ? null : next.call(arguments));
		}

	}

	private static final class NothingPresented implements Tampering {

		@Override
		public ShardConsumption consumption(ShardConsumption consumption, ShardConsumption.Listener listener) {
			return instead(ShardConsumption.class, consumption, (method, arguments,
					next) -> method.getName().equals("restorable") ? Set.of() : next.call(arguments));
		}

	}

	private static final class SuspensionIgnored implements Tampering {

		@Override
		public ShardConsumption consumption(ShardConsumption consumption, ShardConsumption.Listener listener) {
			return instead(ShardConsumption.class, consumption,
					(method, arguments, next) -> method.getName().equals("suspend") ? null : next.call(arguments));
		}

	}

	private static final class OutageJudged implements Tampering {

		@Override
		public CoordinationStore coordination(CoordinationStore store) {
			return instead(CoordinationStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("reapMembers")) {
					SteadyTime steady = (SteadyTime) arguments[2];
					arguments[2] = new SteadyTime(0, steady.untilMillis(), steady.setBacks());
				}
				return next.call(arguments);
			});
		}

	}

	private static final class ParkedKeysForgotten implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store,
					(method, arguments, next) -> method.getName().equals("waiting") ? null : next.call(arguments));
		}

	}

	private static final class WaitingOvertaken implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("waiting")) {
					@SuppressWarnings("unchecked")
					Consumer<WaitingRecord> owner = (Consumer<WaitingRecord>) arguments[1];
					Consumer<WaitingRecord> lastFirst = (record) -> owner
						.accept(new WaitingRecord(record.offset(), record.key(), Long.MAX_VALUE - record.place(),
								record.dueIn(), record.attempts(), record.exception(), record.since(), record.size()));
					return next.call(arguments[0], lastFirst);
				}
				return next.call(arguments);
			});
		}

	}

	private static final class WaitingNotStored implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("commit")) {
					Commit commit = (Commit) arguments[2];
					arguments[2] = new Commit(commit.number(), commit.offset(), commit.ahead(), commit.changes(),
							commit.retries().stream().filter((retry) -> retry.record().attempts() > 0).toList(),
							commit.taken(), commit.deadLetters(), commit.seek(), commit.outbox(), commit.timers(),
							commit.clearsState());
				}
				return next.call(arguments);
			});
		}

	}

	private static final class ExpiryForgotten implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				Object reply = next.call(arguments);
				return (reply instanceof CompletableFuture<?> future && method.getName().equals("acquire"))
						? future.thenApply(ExpiryForgotten::endless) : reply;
			});
		}

		private static Object endless(Object acquisition) {
			if (!(acquisition instanceof CheckpointStore.Acquisition.Acquired acquired)) {
				return acquisition;
			}
			CheckpointStore.Checkpoint stored = acquired.checkpoint();
			Map<String, String> state = new HashMap<>(stored.state());
			state.replaceAll((key, value) -> value.startsWith("@") ? value.substring(value.indexOf(' ') + 1) : value);
			return new CheckpointStore.Acquisition.Acquired(
					new CheckpointStore.Checkpoint(stored.offset(), stored.ahead(), state, stored.retryDueIn()),
					acquired.seeks(), acquired.lastCommit(), acquired.before(), acquired.acquisition(),
					acquired.outbox());
		}

	}

	/** Changes what a commit has of entries. */
	private abstract static class ChangesTampered implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("commit")) {
					Commit commit = (Commit) arguments[2];
					Map<String, String> changes = new HashMap<>(commit.changes());
					tamper((ShardId) arguments[0], changes);
					arguments[2] = new Commit(commit.number(), commit.offset(), commit.ahead(), changes,
							commit.retries(), commit.taken(), commit.deadLetters(), commit.seek(), commit.outbox(),
							commit.timers(), commit.clearsState());
				}
				return next.call(arguments);
			});
		}

		static boolean isRemoval(Map.Entry<String, String> change) {
			return change.getKey().startsWith(ExpiringEntries.EXPIRING) && change.getValue() == null;
		}

		abstract void tamper(ShardId shard, Map<String, String> changes);

	}

	private static final class RemovalTooLate extends ChangesTampered {

		private final Map<ShardId, Set<String>> late = new HashMap<>();

		@Override
		void tamper(ShardId shard, Map<String, String> changes) {
			Set<String> before = this.late.getOrDefault(shard, Set.of());
			Set<String> removed = changes.entrySet()
				.stream()
				.filter(ChangesTampered::isRemoval)
				.map(Map.Entry::getKey)
				.collect(Collectors.toSet());
			this.late.put(shard, removed);
			changes.keySet().removeAll(removed);
			before.forEach((key) -> changes.put(key, null));
		}

	}

	private static final class VersionForgotten extends ChangesTampered {

		@Override
		void tamper(ShardId shard, Map<String, String> changes) {
			changes.replaceAll((key, json) -> (json != null)
					? json.replaceFirst("\\{\"@version\":2,\"@value\":(.*)}$", "$1") : null);
		}

	}

	private static final class VersionAssumed extends ChangesTampered {

		@Override
		void tamper(ShardId shard, Map<String, String> changes) {
			changes.replaceAll((key, json) -> (json != null)
					? json.replaceFirst("(\\{\"number\":\\d+,\"expiresAt\":\\d+})$", "{\"@version\":2,\"@value\":$1}")
					: null);
		}

	}

	private static final class RemovalForgotten extends ChangesTampered {

		@Override
		void tamper(ShardId shard, Map<String, String> changes) {
			changes.entrySet().removeIf(ChangesTampered::isRemoval);
		}

	}

	/** Leaves out what a commit removes of the timers. */
	private abstract static class TimerKept implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("commit")) {
					Commit commit = (Commit) arguments[2];
					Map<TimerId, Instant> timers = new LinkedHashMap<>(commit.timers());
					timers.entrySet()
						.removeIf((timer) -> timer.getValue() == null && isKept(
								TimersInForce.isFired(commit.changes(), timer.getKey().key(), timer.getKey().name())));
					arguments[2] = commit.withTimers(timers);
				}
				return next.call(arguments);
			});
		}

		abstract boolean isKept(boolean fired);

	}

	private static final class FiredTimerKept extends TimerKept {

		@Override
		boolean isKept(boolean fired) {
			return fired;
		}

	}

	private static final class CancelledTimerKept extends TimerKept {

		@Override
		boolean isKept(boolean fired) {
			return !fired;
		}

	}

	private static final class TimersApartFromState implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			Map<Object, Map<TimerId, Instant>> late = new HashMap<>();
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("commit")) {
					Commit commit = (Commit) arguments[2];
					Map<TimerId, Instant> before = late.put(arguments[0], commit.timers());
					arguments[2] = commit.withTimers((before != null) ? before : Map.of());
				}
				return next.call(arguments);
			});
		}

	}

	private static final class TimersForgotten implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store,
					(method, arguments, next) -> method.getName().equals("timers") ? List.of() : next.call(arguments));
		}

	}

	private static final class TimersKeptBySeek implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("commit") && ((Commit) arguments[2]).seek() != 0) {
					Commit commit = (Commit) arguments[2];
					Map<TimerId, Instant> timers = new LinkedHashMap<>();
					store.timers((ShardId) arguments[0], null, Integer.MAX_VALUE)
						.forEach((timer) -> timers.put(timer.id(), timer.due()));
					timers.putAll(commit.timers());
					arguments[2] = commit.withTimers(timers);
				}
				return next.call(arguments);
			});
		}

	}

	private static final class TimersNotGivenBack implements Tampering {

		@Override
		public CheckpointStore checkpoints(CheckpointStore store) {
			Set<Object> emptied = new HashSet<>();
			return instead(CheckpointStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("acquireToWriteBack")) {
					emptied.add(arguments[0]);
				}
				if (method.getName().equals("commit") && emptied.remove(arguments[0])) {
					arguments[2] = ((Commit) arguments[2]).withTimers(Map.of());
				}
				return next.call(arguments);
			});
		}

	}

	private static final class ParentsForgotten implements Tampering {

		@Override
		public TopicShards shards(TopicShards known) {
			return known.withoutParents();
		}

	}

	private static final class CompletedEarly implements Tampering {

		@Override
		public CoordinationStore coordination(CoordinationStore store) {
			return instead(CoordinationStore.class, store, (method, arguments, next) -> {
				if (method.getName().equals("releaseShards")) {
					arguments[1] = ((List<?>) arguments[1]).stream()
						.map(HoldingAction.Release.class::cast)
						.map((release) -> new HoldingAction.Release(release.shard(), release.token(),
								release.tokenFloor(), true))
						.toList();
				}
				return next.call(arguments);
			});
		}

	}

	/** Copies of replies. */
	private static final class HeartbeatReplies {

		static HeartbeatReply.Alive withChanges(HeartbeatReply.Alive alive, List<Ownership> changes) {
			return new HeartbeatReply.Alive(alive.serverTimeMillis(), alive.leader(), alive.epoch(),
					alive.leaderLeaseEndMillis(), alive.earliestLeaseEndMillis(), alive.generation(),
					alive.membership(), alive.through(), changes, alive.history(), alive.lost(), alive.subscribed(),
					alive.claimsUntilMillis(), alive.loads(), alive.setBacks(), alive.ownLeaseEndMillis(),
					alive.longestLeaseMillis(), alive.status(), alive.directives());
		}

	}

}
