package io.github.shardkeeper.coordination;

import java.security.SecureRandom;
import java.util.random.RandomGenerator;

/**
 * What a member takes from the process that it runs in, so that a simulation can give it
 * something else. Immutable.
 *
 * @param clock the process' monotonic clock
 * @param loops runs the member's loops
 * @param random makes session ids unique
 */
public record MemberRuntime(MonotonicClock clock, Loops loops, RandomGenerator random) {

	/**
	 * The real process.
	 * @param loops runs the loops
	 * @return its clock, those loops, and numbers that nobody can foresee
	 */
	public static MemberRuntime of(Loops loops) {
		return new MemberRuntime(MonotonicClock.SYSTEM, loops, new SecureRandom());
	}

}
