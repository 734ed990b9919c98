package io.github.shardkeeper.cluster;

import java.time.Instant;
import java.util.Objects;

/**
 * A signal, as {@link OnClusterSignal} methods may take it. Immutable.
 *
 * @param name the name
 * @param number the number; higher for a later signal, and never repeated
 * @param sentAt the time at which it was sent, by the store's clock
 * @param payload the text of the payload; empty for none
 */
public record ClusterSignal(String name, long number, Instant sentAt, String payload) {

	public ClusterSignal {
		Objects.requireNonNull(name, "name must not be null");
		Objects.requireNonNull(sentAt, "sentAt must not be null");
		Objects.requireNonNull(payload, "payload must not be null");
	}

}
