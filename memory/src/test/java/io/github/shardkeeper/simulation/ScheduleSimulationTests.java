package io.github.shardkeeper.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.schedule.RunPosition;
import io.github.shardkeeper.schedule.RunRules.OnInterruption;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Schedules;
import io.github.shardkeeper.testsupport.SilentLogs;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many schedules of groups whose shards have runs, with faults, moves and clocks that
 * step. {@code -Dshardkeeper.schedules.schedules} sets their number,
 * {@code -Dshardkeeper.schedules.seed} the first seed.
 */
@MoreInProof
class ScheduleSimulationTests {

	private static final int MOST_SCHEDULES = 3_000;

	private final SilentLogs logs = SilentLogs.begin();

	@AfterEach
	void speak() {
		this.logs.close();
	}

	@ParameterizedTest
	@EnumSource
	void runsAreExactWhateverClocksAndInstancesDo(OnInterruption onInterruption) {
		int schedules = Schedules.count("shardkeeper.schedules.schedules", 20, 150);
		long first = Long.getLong("shardkeeper.schedules.seed", 1);
		Map<String, Integer> faults = new TreeMap<>();
		int calls = 0;
		int again = 0;
		try (VirtualTime.Runners runners = new VirtualTime.Runners()) {
			for (long seed = first; seed < first + schedules; seed++) {
				ScheduleSimulation simulation = new ScheduleSimulation(seed, new VirtualTime(runners, false),
						onInterruption, (store, clock) -> store);
				assertThat(simulation.run()).as("seed " + seed + " with " + simulation.faults()).isNull();
				calls += simulation.calls();
				again += simulation.callsAgain();
				simulation.faults().forEach((fault, times) -> faults.merge(fault, times, Integer::sum));
			}
		}
		System.out.printf("Runs, %s: %d schedules with %d calls, %d of them again, faults %s%n", onInterruption,
				schedules, calls, again, faults);
		assertThat(again).as("calls that have failed").isPositive();
	}

	@ParameterizedTest
	@EnumSource
	@Tag("proof")
	void brokenRuleIsFound(Rule broken) {
		Throwable found = null;
		long seed = 0;
		try (VirtualTime.Runners runners = new VirtualTime.Runners()) {
			while (found == null && seed < MOST_SCHEDULES) {
				found = new ScheduleSimulation(++seed, new VirtualTime(runners, false), broken.onInterruption,
						broken.tampering)
					.run();
			}
		}
		assertThat(found).as("found within %d schedules", MOST_SCHEDULES).isInstanceOf(AssertionError.class);
		System.out.printf("Without the rule that %s: found by seed %d: %.160s%n", broken, seed, found.getMessage());
	}

	/** What keeps finished runs finished. */
	enum Rule {

		/** Otherwise an owner whose clock is behind makes them again. */
		THE_NEXT_OWNER_CONTINUES_THE_POSITION(OnInterruption.REPEAT, Rule::beginAnew),

		/** Otherwise a kill repeats all runs of a burst. */
		A_RUN_WAITS_FOR_THE_COMMIT_BEFORE(OnInterruption.REPEAT, Rule::answerEarly),

		/** Otherwise the next owner does not know that a run was started. */
		A_START_IS_WRITTEN_DOWN_BEFORE_THE_CALL(OnInterruption.SKIP, Rule::forgetStarts);

		private final OnInterruption onInterruption;

		private final BiFunction<CheckpointStore, InstantSource, CheckpointStore> tampering;

		Rule(OnInterruption onInterruption, BiFunction<CheckpointStore, InstantSource, CheckpointStore> tampering) {
			this.onInterruption = onInterruption;
			this.tampering = tampering;
		}

		private static CheckpointStore beginAnew(CheckpointStore store, InstantSource clock) {
			return instead(store, (method, arguments) -> {
				Object reply = method.invoke(store, arguments);
				return (reply instanceof CompletableFuture<?> future && method.getName().equals("acquire"))
						? future.thenApply((acquisition) -> beginAnew((Acquisition) acquisition, clock)) : reply;
			});
		}

		private static Acquisition beginAnew(Acquisition acquisition, InstantSource clock) {
			RunPosition position = (acquisition instanceof Acquisition.Acquired acquired)
					? RunPosition.of(acquired.checkpoint().offset()) : null;
			if (position == null) {
				return acquisition;
			}
			Acquisition.Acquired acquired = (Acquisition.Acquired) acquisition;
			Instant next = clock.instant().truncatedTo(ChronoUnit.SECONDS).plusSeconds(1);
			Checkpoint anew = new Checkpoint(new RunPosition(next, null, false, null, null, position.by()).toOffset(),
					acquired.checkpoint().ahead(), acquired.checkpoint().state(), acquired.checkpoint().retryDueIn());
			return new Acquisition.Acquired(anew, acquired.seeks(), acquired.lastCommit(), acquired.before(),
					acquired.acquisition(), acquired.outbox());
		}

		private static CheckpointStore answerEarly(CheckpointStore store, InstantSource clock) {
			return instead(store, (method, arguments) -> {
				Object reply = method.invoke(store, arguments);
				return method.getName().equals("commit") ? CompletableFuture.completedFuture(CommitReply.COMMITTED)
						: reply;
			});
		}

		private static CheckpointStore forgetStarts(CheckpointStore store, InstantSource clock) {
			return instead(store, (method, arguments) -> {
				RunPosition position = method.getName().equals("commit")
						? RunPosition.of(((Commit) arguments[2]).offset()) : null;
				return (position != null && position.started() != null && !position.failed())
						? CompletableFuture.completedFuture(CommitReply.COMMITTED) : method.invoke(store, arguments);
			});
		}

		private static CheckpointStore instead(CheckpointStore store, Intervention intervention) {
			return (CheckpointStore) Proxy.newProxyInstance(CheckpointStore.class.getClassLoader(),
					new Class<?>[] { CheckpointStore.class }, (proxy, method, arguments) -> {
						try {
							return intervention.call(method, arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getTargetException();
						}
					});
		}

		private interface Intervention {

			@Nullable Object call(Method method, Object[] arguments) throws Throwable;

		}

	}

}
