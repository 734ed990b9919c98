package io.github.shardkeeper.coordination;

import java.security.SecureRandom;
import java.util.random.RandomGenerator;

import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * The parts of the process that a member runs in, which a simulation replaces. Immutable.
 *
 * @param clock the process' monotonic clock
 * @param loops runs the member's loops
 * @param random makes session ids unique
 */
public record MemberRuntime(MonotonicClock clock, Loops loops, RandomGenerator random) {

	/**
	 * Creates the runtime of the real process.
	 * @param loops runs the loops
	 * @return its clock, those loops, and secure random numbers
	 */
	public static MemberRuntime of(Loops loops) {
		return new MemberRuntime(MonotonicClock.SYSTEM, loops, new SecureRandom());
	}

}
