package io.github.shardkeeper.kafka.client;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.kafka.clients.admin.AbstractOptions;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * The admin client, which is created when it is first used: that fails while the names of
 * the brokers cannot be resolved. Thread-safe.
 */
public final class KafkaAdmin implements AutoCloseable {

	/** Time limit of a call, and of one broker's reply to it. */
	static final Duration TIMEOUT = Duration.ofSeconds(5);

	/**
	 * Time limit of calls of a client that may have no connection yet. It assigns a call
	 * to a broker, also to one that accepts connections and does not reply, and to
	 * another one only after the time for a reply. It may meet such a broker twice, as
	 * one of the bootstrap servers and as one of those that it has learned of. With a
	 * shorter limit, each call can end just before it is assigned to another one, for
	 * minutes.
	 */
	static final Duration FIRST_TIMEOUT = TIMEOUT.multipliedBy(2).plusSeconds(2);

	/**
	 * How often the client reads the list of brokers, which also wakes it. A call whose
	 * broker accepts a connection and then hangs goes to another one after the time for a
	 * reply, but only if the client wakes between that and the limit of the call. If it
	 * does not, the call fails, the time begins again with the next one, and the client
	 * prefers that connection, which it believes to be opening: without this, for as long
	 * as the broker hangs or until an idle connection is closed, after five minutes.
	 */
	static final Duration METADATA_AGE = Duration.ofSeconds(2);

	/** So that the client's own, more precise failure comes first. */
	static final Duration MARGIN = Duration.ofSeconds(1);

	private final Map<String, Object> properties;

	private final KafkaFailure failure;

	private final KafkaClientListener listener;

	/** Guarded by this, like the next field. */
	private @Nullable Admin client;

	private boolean closed;

	public KafkaAdmin(Map<String, Object> properties, KafkaFailure failure, KafkaClientListener listener) {
		this.properties = properties;
		this.failure = failure;
		this.listener = listener;
	}

	public synchronized Admin client() {
		if (this.closed) {
			throw new StoreUnavailableException("Kafka: the source was closed with its application context", null);
		}
		Admin current = this.client;
		if (current == null) {
			try {
				current = Admin.create(this.properties);
			}
			catch (KafkaException ex) {
				throw this.failure.unavailable("cannot create an admin client", ex);
			}
			this.client = current;
			this.listener.opened(current);
		}
		return current;
	}

	public static <T extends AbstractOptions<T>> T limited(T options) {
		return limited(options, TIMEOUT);
	}

	public static <T extends AbstractOptions<T>> T limited(T options, Duration limit) {
		return options.timeoutMs((int) limit.toMillis());
	}

	/** Waits for a reply; with an interrupt, the thread stays interrupted. */
	public <T> T await(Future<T> reply, String problem) {
		return await(reply, TIMEOUT, problem);
	}

	/** Waits for a reply to a call with that limit. */
	public <T> T await(Future<T> reply, Duration limit, String problem) {
		try {
			return reply.get(limit.plus(MARGIN).toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new StoreUnavailableException("Kafka: %s: interrupted while waiting".formatted(problem), ex);
		}
		catch (ExecutionException | TimeoutException ex) {
			throw this.failure.unavailable(problem, ex);
		}
	}

	@Override
	public void close() {
		Admin current;
		synchronized (this) {
			this.closed = true;
			current = this.client;
		}
		if (current != null) {
			this.listener.closed(current);
			// Nobody waits for replies any more.
			current.close(Duration.ZERO);
		}
	}

}
