package io.github.shardkeeper.simulation;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import ch.qos.logback.classic.Level;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.Schedules;
import io.github.shardkeeper.testsupport.SilentLogs;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many schedules of whole groups with faults, each decided by its seed. How many run is
 * said by {@code -Dshardkeeper.simulation.schedules=…}, beginning with the seed
 * {@code -Dshardkeeper.simulation.first=…}; one that failed is replayed, with all its
 * logs, by {@code -Dshardkeeper.simulation.seed=…}.
 * {@code -Dshardkeeper.simulation.digests=FILE} writes a line per seed, with which two
 * versions of the code can be compared.
 */
@MoreInProof
@Promise({ "One consumer", "No zombie writes", "Nothing lost", "State exactly once", "Timers fire once", "Order",
		"Least movement", "Tokens never repeat", "Automatic recovery" })
class SimulationTests {

	private static final Long REPLAY = Long.getLong("shardkeeper.simulation.seed");

	private static final long FIRST = (REPLAY != null) ? REPLAY : Long.getLong("shardkeeper.simulation.first", 1);

	private static final long SCHEDULES = (REPLAY != null) ? 1
			: Schedules.count("shardkeeper.simulation.schedules", 200, 5_000);

	private static final @Nullable String DIGESTS = System.getProperty("shardkeeper.simulation.digests");

	/** By seed. */
	private final Map<Long, String> digests = new ConcurrentSkipListMap<>();

	private SilentLogs logs;

	@BeforeEach
	void silence() {
		this.logs = SilentLogs.begin((REPLAY != null) ? Level.DEBUG : Level.OFF);
	}

	@AfterEach
	void close() {
		this.logs.close();
	}

	@Test
	void nothingIsLostDoubledOrConsumedTwiceUnderAnyFault() throws Exception {
		long begun = System.nanoTime();
		Summary summary;
		try {
			summary = runAll();
		}
		finally {
			if (DIGESTS != null) {
				Files.write(Path.of(DIGESTS), this.digests.values());
			}
		}
		double seconds = (System.nanoTime() - begun) / 1e9;
		System.out.printf("Simulation: %d schedules from seed %d in %.1f s (%.0f per s), %s%n", SCHEDULES, FIRST,
				seconds, SCHEDULES / seconds, summary);
		assertThat(summary.calls).isPositive();
		assertThat(summary.timers).isGreaterThan((REPLAY != null) ? -1 : SCHEDULES);
	}

	@Test
	void sameSeedHasTheSameResult() {
		try (SimulatedGroup.Host host = new SimulatedGroup.Host()) {
			for (long seed = FIRST; seed < FIRST + Math.min(50, SCHEDULES); seed++) {
				Simulation.Outcome outcome = host.run(seed, Tampering.NONE, REPLAY != null);
				assertThat(host.run(seed, Tampering.NONE, false)).isEqualTo(outcome);
			}
		}
	}

	private Summary runAll() throws Exception {
		int workers = (int) Math.min(Runtime.getRuntime().availableProcessors(), SCHEDULES);
		AtomicLong next = new AtomicLong(FIRST);
		AtomicBoolean failed = new AtomicBoolean();
		ExecutorService executor = Executors.newFixedThreadPool(workers);
		try {
			List<Callable<Summary>> tasks = new ArrayList<>();
			for (int i = 0; i < workers; i++) {
				tasks.add(() -> runUntilEnd(next, failed));
			}
			Summary all = new Summary();
			for (Future<Summary> part : executor.invokeAll(tasks)) {
				all.add(part.get());
			}
			return all;
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof AssertionError failure) {
				throw failure;
			}
			throw ex;
		}
		finally {
			executor.shutdownNow();
		}
	}

	private Summary runUntilEnd(AtomicLong next, AtomicBoolean failed) {
		Summary summary = new Summary();
		try (SimulatedGroup.Host host = new SimulatedGroup.Host()) {
			for (long seed = next.getAndIncrement(); seed < FIRST + SCHEDULES
					&& !failed.get(); seed = next.getAndIncrement()) {
				Simulation.Outcome outcome = host.run(seed, Tampering.NONE, REPLAY != null);
				this.digests.put(seed, outcome.digests(seed));
				if (outcome.failure() != null) {
					failed.set(true);
					throw new AssertionError("Seed %d at %d ms, %s: %s".formatted(seed,
							outcome.nanos() / 1_000_000 - 1000, outcome.faults(), outcome.failure().getMessage()),
							outcome.failure());
				}
				summary.add(outcome);
			}
		}
		return summary;
	}

	/** Totals of many runs. */
	private static final class Summary {

		private final Map<String, Integer> faults = new TreeMap<>();

		private long calls;

		private long timers;

		private long events;

		private long moves;

		private long excused;

		private long nanos;

		private Duration longestRest = Duration.ZERO;

		void add(Simulation.Outcome outcome) {
			outcome.faults().forEach((kind, count) -> this.faults.merge(kind, count, Integer::sum));
			this.calls += outcome.calls();
			this.timers += outcome.timers();
			this.events += outcome.events();
			this.moves += outcome.moves();
			this.excused += outcome.excused();
			this.nanos += outcome.nanos();
			longest(outcome.rest());
		}

		void add(Summary other) {
			other.faults.forEach((kind, count) -> this.faults.merge(kind, count, Integer::sum));
			this.calls += other.calls;
			this.timers += other.timers;
			this.events += other.events;
			this.moves += other.moves;
			this.excused += other.excused;
			this.nanos += other.nanos;
			longest(other.longestRest);
		}

		private void longest(Duration rest) {
			this.longestRest = (rest.compareTo(this.longestRest) > 0) ? rest : this.longestRest;
		}

		@Override
		public String toString() {
			return ("%.1f h of the groups' time, %d events, %d handler calls, %d of them for timers, %d changes of owner, "
					+ "%d overlaps with a frozen or stubborn owner, longest rest after the last fault %d ms, faults %s")
				.formatted(this.nanos / 3.6e12, this.events, this.calls, this.timers, this.moves, this.excused,
						this.longestRest.toMillis(), this.faults);
		}

	}

}
