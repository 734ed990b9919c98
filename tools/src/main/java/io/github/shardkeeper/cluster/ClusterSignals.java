package io.github.shardkeeper.cluster;

import java.time.Duration;

/**
 * Signals to all instances of the group: each runs its {@link OnClusterSignal} methods of
 * that name.
 * <p>
 * An instance runs the methods at least once for a signal. It runs them only for the
 * latest signal of a name: a newer one replaces those that an instance has not handled
 * yet, because it was busy, disconnected or not started. An instance that was out of the
 * group handles the latest signal when it rejoins, if that was sent within its retention
 * ({@code shardkeeper.signals.retention}) before. An instance that is started does so
 * only with methods that are {@link OnClusterSignal#atStart}; for others, signals count
 * that were sent since its application context began to start, or up to a second before.
 * Signals of different names are handled in no order.
 * <p>
 * Not guaranteed: that an instance sees every signal, or handles one exactly once. After
 * a failover of Redis that loses acknowledged writes, a signal may be lost, or be handled
 * again by an instance that starts later. A method that throws is not called again for
 * that signal.
 * <p>
 * An application that only sends needs no session: a signal is sent as soon as the store
 * has answered. Thread-safe.
 */
public interface ClusterSignals {

	/**
	 * Sends a signal without a payload.
	 * @param name 1 to 100 letters, digits, dots, dashes or underscores
	 * @return the signal that was sent, to wait until it is handled
	 * @throws IllegalArgumentException if the name is not valid; a retry does not help
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; a retry makes sense, and does no harm if the signal was sent nevertheless
	 */
	default SignalDelivery send(String name) {
		return send(name, "");
	}

	/**
	 * Sends a signal.
	 * @param name 1 to 100 letters, digits, dots, dashes or underscores
	 * @param payload a string, which is sent as it is, or an object that the
	 * application's {@code PayloadConverter} writes as text, by default as JSON. At most
	 * {@code shardkeeper.signals.max-payload-size}
	 * @return the signal that was sent, to wait until it is handled
	 * @throws IllegalArgumentException if the name is not valid, or the payload is too
	 * large, binary or cannot be converted; a retry does not help
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; a retry makes sense, and does no harm if the signal was sent nevertheless
	 */
	SignalDelivery send(String name, Object payload);

	/**
	 * Sends a signal with a retention of its own.
	 * @param name 1 to 100 letters, digits, dots, dashes or underscores
	 * @param payload as in {@link #send(String, Object)}
	 * @param retention the time for which instances handle the signal that were out of
	 * the group, or with {@link OnClusterSignal#atStart} not started; zero if only those
	 * handle it that are in the group now. At most 365 days
	 * @return the signal that was sent, to wait until it is handled
	 * @throws IllegalArgumentException if the name is not valid, the payload is too
	 * large, binary or cannot be converted, or the retention is negative or too long; a
	 * retry does not help
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; a retry makes sense, and does no harm if the signal was sent nevertheless
	 */
	SignalDelivery send(String name, Object payload, Duration retention);

}
