package io.github.shardkeeper.worker.shard;

import java.time.Duration;

/**
 * Meters of consumption, by topic. Thread-safe.
 */
@FunctionalInterface
public interface ConsumerMeters {

	ConsumerMeters NONE = (topic) -> TopicMeters.NONE;

	/**
	 * Returns the meters of a topic. Called for every consumed topic when consumption
	 * starts, so that the meters exist before the first record.
	 */
	TopicMeters of(String topic);

	/**
	 * Meters of one topic. Methods that are not overridden do nothing. Thread-safe.
	 */
	interface TopicMeters {

		TopicMeters NONE = new TopicMeters() {
		};

		/**
		 * Called when consumption starts.
		 * @param backlog what waits in the shards of the topic, as it changes
		 */
		default void waiting(TopicBacklog backlog) {
		}

		/** Called when a handler call has returned; in loop mode it has 0 records. */
		default void handled(int records, Duration duration) {
		}

		/**
		 * Called when a handler call has thrown. Not called if it has ended because the
		 * shard or the lease was lost.
		 */
		default void failed(Duration duration, Throwable failure) {
		}

		/** Called when a payload could not be converted, so that no call was made. */
		default void notConverted() {
		}

		/** Called when filters have skipped records, each time that they do. */
		default void skipped(int records) {
		}

		/**
		 * Called when a failure handler has thrown, or has made a choice that cannot be
		 * used, so that its record is treated as configured.
		 */
		default void failureHandlerFailed() {
		}

		/** Called when a record becomes a dead letter with the next commit. */
		default void deadLettered() {
		}

		/** Called with the total size of the payloads of handled records. */
		default void handledBytes(long bytes) {
		}

		/** Called when a failed call is to be repeated, at once or later. */
		default void retried() {
		}

		/**
		 * Called when a call is to be repeated because the database has rolled its
		 * transaction back in favor of another one.
		 */
		default void conflicted() {
		}

		/**
		 * Called when dead letters were removed because they were too old or too many.
		 */
		default void deadLettersExpired(int letters) {
		}

		/**
		 * Called when a commit was answered.
		 * @param accepted whether it was accepted; otherwise a newer owner exists
		 */
		default void committed(boolean accepted) {
		}

		/** Called with the time from the sending of a commit to its reply. */
		default void commitAnswered(Duration latency) {
		}

	}

}
