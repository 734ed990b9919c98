package io.github.shardkeeper.worker;

import java.time.Duration;

/**
 * Meters of consumption: calls, failures, dead letters and commits. Thread-safe.
 */
public interface ConsumerMeters {

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

	/** Called when a handler call has returned; in loop mode it has 0 records. */
	void handled(String topic, int records, Duration duration);

	/** Called when a record becomes a dead letter with the next commit. */
	void deadLettered(String topic);

	/** Called when a handler call has thrown, or a payload could not be converted. */
	void failed(String topic);

	/**
	 * Called when a commit was answered.
	 * @param accepted whether it was accepted; otherwise a newer owner exists
	 */
	void committed(String topic, boolean accepted);

}
