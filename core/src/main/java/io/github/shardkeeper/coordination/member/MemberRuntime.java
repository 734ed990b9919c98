package io.github.shardkeeper.coordination.member;

import java.security.SecureRandom;
import java.util.random.RandomGenerator;

import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * The parts of the process that a simulation replaces. Immutable.
 *
 * @param clock the monotonic clock of the process
 * @param loops the loops of the member
 * @param random the source of unique session ids
 */
public record MemberRuntime(MonotonicClock clock, Loops loops, RandomGenerator random) {

	/** Returns a runtime with the system's clock and secure random numbers. */
	public static MemberRuntime of(Loops loops) {
		return new MemberRuntime(MonotonicClock.SYSTEM, loops, new SecureRandom());
	}

}
