package io.github.shardkeeper.kafka.client;

/**
 * Listener of the clients that a {@code KafkaShardSource} opens, for example to bind
 * their metrics to meters. Called by the thread that opens or closes a client, which must
 * not wait; must not throw. Thread-safe.
 */
public interface KafkaClientListener {

	/** Does nothing. */
	KafkaClientListener NONE = new KafkaClientListener() {

		@Override
		public void opened(AutoCloseable client) {
		}

		@Override
		public void closed(AutoCloseable client) {
		}

	};

	/**
	 * Notifies of a client that was opened. A client that replaces another one has the
	 * same id, and comes after the end of the other one.
	 * @param client a {@link org.apache.kafka.clients.consumer.Consumer}, a
	 * {@link org.apache.kafka.clients.producer.Producer} or an
	 * {@link org.apache.kafka.clients.admin.Admin}; of a consumer, only the metrics may
	 * be read by other threads
	 */
	void opened(AutoCloseable client);

	/**
	 * Notifies of a client that is about to be closed.
	 * @param client the client that was passed to {@link #opened}
	 */
	void closed(AutoCloseable client);

}
