package io.github.shardkeeper.consumer;

import java.time.Duration;

/**
 * Counts what consumers do, for whoever measures. Thread-safe.
 */
public interface ConsumerMeters {

	/** Counts nothing. */
	ConsumerMeters NONE = new ConsumerMeters() {

		@Override
		public void handled(String topic, Duration duration) {
		}

		@Override
		public void failed(String topic) {
		}

		@Override
		public void committed(String topic, boolean accepted) {
		}

	};

	/**
	 * A handler call has returned.
	 * @param topic the topic
	 * @param duration how long it took
	 */
	void handled(String topic, Duration duration);

	/**
	 * A handler call has thrown, or a payload could not be converted.
	 * @param topic the topic
	 */
	void failed(String topic);

	/**
	 * A commit was answered.
	 * @param topic the topic
	 * @param accepted whether it was accepted; otherwise a newer owner exists
	 */
	void committed(String topic, boolean accepted);

}
