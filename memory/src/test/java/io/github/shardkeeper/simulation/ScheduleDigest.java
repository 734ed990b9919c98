package io.github.shardkeeper.simulation;

import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Digests of one schedule, in which no name of a class or a method counts. So two
 * versions of the code can be compared schedule by schedule.
 * <p>
 * There are two. The digest of behaviour covers what the outside can see, each with its
 * virtual time: calls of handlers, accepted commits with their state, retries and dead
 * letters, members, leaders, owners and tokens, faults. The digest of steps also covers
 * every step of every process in its order. A change of behaviour always changes both; a
 * task that is handed to an executor once more changes the digest of steps first, and the
 * other one as soon as it draws a random delay.
 */
final class ScheduleDigest {

	private static final long OFFSET_BASIS = 0xcbf29ce484222325L;

	private static final long PRIME = 0x100000001b3L;

	private long behaviour = OFFSET_BASIS;

	private long steps = OFFSET_BASIS;

	/**
	 * Adds a step of a process.
	 * @param nanos the virtual time
	 * @param process the name of the process, {@code null} for what surrounds them
	 * @param resumes whether a blocked thread resumes
	 */
	void step(long nanos, @Nullable String process, boolean resumes) {
		long hash = mix(mix(this.steps, nanos), Objects.hashCode(process));
		this.steps = mix(hash, resumes ? 1 : 0);
	}

	/**
	 * Adds what can be seen from outside.
	 * @param nanos the virtual time
	 * @param parts numbers, booleans, strings, enum constants, {@code null}, or
	 * collections and maps with an order of these
	 */
	void seen(long nanos, @Nullable Object... parts) {
		this.behaviour = mix(this.behaviour, nanos);
		for (Object part : parts) {
			seen(part);
		}
	}

	private void seen(@Nullable Object part) {
		if (part instanceof Map<?, ?> map) {
			this.behaviour = mix(this.behaviour, map.size());
			map.forEach((key, value) -> {
				seen(key);
				seen(value);
			});
		}
		else if (part instanceof Iterable<?> elements) {
			elements.forEach(this::seen);
			this.behaviour = mix(this.behaviour, -1);
		}
		else if (part instanceof Number number) {
			this.behaviour = mix(this.behaviour, number.longValue());
		}
		else if (part instanceof Enum<?> constant) {
			this.behaviour = mix(this.behaviour, constant.ordinal());
		}
		else if (part instanceof String || part instanceof Boolean || part == null) {
			this.behaviour = mix(this.behaviour, Objects.hashCode(part));
		}
		else {
			throw new IllegalArgumentException("Not the same in every version: " + part.getClass());
		}
	}

	/** FNV-1a over whole longs, with a shift because its high bits never move down. */
	private static long mix(long hash, long value) {
		long mixed = (hash ^ value) * PRIME;
		return mixed ^ (mixed >>> 32);
	}

	/** Returns the digest of what the outside can see. */
	long behaviour() {
		return this.behaviour;
	}

	/** Returns the digest of every step. */
	long steps() {
		return mix(this.steps, this.behaviour);
	}

}
