package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

import io.github.shardkeeper.endtoend.Fault.Kind;

/**
 * Faults and their times, determined by a seed alone. Every kind has its turn before one
 * comes again; in some rounds a second fault begins while the first lasts.
 */
final class FaultPlan {

	private static final int LONGEST_REST_MILLIS = 1500;

	private static final int LONGEST_WAIT_MILLIS = 2000;

	/** The lease that the lengths of faults are made for. */
	private static final Duration USUAL_LEASE = Duration.ofSeconds(3);

	private final Random random;

	private final Set<Kind> kinds;

	private final int instances;

	private final Duration lease;

	private final Deque<Kind> turns = new ArrayDeque<>();

	/**
	 * Creates a plan.
	 * @param kinds the kinds of faults, in the order of their declaration
	 */
	FaultPlan(long seed, Set<Kind> kinds, int instances, Duration lease) {
		this.random = new Random(seed);
		this.kinds = kinds;
		this.instances = instances;
		this.lease = lease;
	}

	Round next() {
		if (this.turns.isEmpty()) {
			List<Kind> shuffled = new ArrayList<>(this.kinds);
			Collections.shuffle(shuffled, this.random);
			this.turns.addAll(shuffled);
		}
		List<Fault> faults = new ArrayList<>();
		faults.add(fault(this.turns.remove()));
		if (this.random.nextInt(3) == 0) {
			companion(faults.get(0)).ifPresent(faults::add);
		}
		return new Round(faults, millis(0, LONGEST_WAIT_MILLIS), millis(0, LONGEST_REST_MILLIS));
	}

	private Optional<Fault> companion(Fault first) {
		List<Kind> others = this.kinds.stream().filter(first.kind()::goesWith).toList();
		return others.isEmpty() ? Optional.empty() : Optional.of(fault(others.get(this.random.nextInt(others.size()))));
	}

	private Fault fault(Kind kind) {
		return new Fault(kind, this.random.nextInt(this.instances), this.random.nextInt(3) == 0, length(kind));
	}

	/** The same seed gives the same plan with every lease, but for these lengths. */
	private Duration length(Kind kind) {
		Duration length = millis(kind.shortestMillis(), kind.longestMillis());
		return kind.endsWithinLease() ? length.multipliedBy(this.lease.toMillis()).dividedBy(USUAL_LEASE.toMillis())
				: length;
	}

	private Duration millis(int least, int most) {
		return Duration.ofMillis(least + this.random.nextInt(most - least + 1));
	}

	/**
	 * One or two faults, after which the group is given time to come to rest.
	 *
	 * @param faults what goes wrong
	 * @param secondAfter how long after the first one the second begins
	 * @param rest how long nothing goes wrong afterwards
	 */
	record Round(List<Fault> faults, Duration secondAfter, Duration rest) {

	}

}
