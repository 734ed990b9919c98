package io.github.shardkeeper.shard;

import java.util.Objects;

/**
 * Id of a session of an instance in a group: the id of the instance, {@code ~}, and a
 * part that is new for every session. Immutable; ordered by text.
 *
 * @param value the text, for example {@code host-17~k3v9x1}
 */
public record MemberId(String value) implements Comparable<MemberId> {

	public MemberId {
		Objects.requireNonNull(value, "value must not be null");
		int tilde = value.indexOf('~');
		if (tilde < 0 || !Names.isValid(value.substring(0, tilde)) || !Names.isValid(value.substring(tilde + 1))) {
			throw new IllegalArgumentException("Not a member id: '" + value + "': expected instance~session");
		}
	}

	/**
	 * Creates an id.
	 * @param instance the id of the instance
	 * @param session the part that is new for every session
	 * @return the member id
	 */
	public static MemberId of(String instance, String session) {
		Objects.requireNonNull(instance, "instance must not be null");
		Objects.requireNonNull(session, "session must not be null");
		return new MemberId(instance + "~" + session);
	}

	/** Returns the id of the instance: the part before the {@code ~}. */
	public String instance() {
		return this.value.substring(0, this.value.indexOf('~'));
	}

	@Override
	public int compareTo(MemberId other) {
		return this.value.compareTo(other.value);
	}

	@Override
	public String toString() {
		return this.value;
	}

}
