package io.github.shardkeeper.worker;

import java.time.Duration;

/**
 * Counts what consumers do, for whoever measures. Thread-safe.
 */
public interface ConsumerMeters {

	/** Counts nothing. */
	ConsumerMeters NONE = new ConsumerMeters() {

		@Override
		public void handled(String topic, int records, Duration duration) {
		}

		@Override
		public void deadLettered(String topic) {
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
	 * @param records how many records it got; 0 in loop mode
	 * @param duration how long it took
	 */
	void handled(String topic, int records, Duration duration);

	/**
	 * A record was given up and is stored as a dead letter with the next commit.
	 * @param topic the topic
	 */
	void deadLettered(String topic);

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
