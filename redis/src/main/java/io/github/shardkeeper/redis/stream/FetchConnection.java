package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandKeyword;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisConnector.Connection;
import io.github.shardkeeper.redis.RedisFailure;
import io.github.shardkeeper.redis.stream.XreadOutput.Entries;

/**
 * Connection for blocking reads. Opened and closed by the polling thread; the client's
 * thread also sends reads while the {@link StreamFetcher} has one in flight.
 */
final class FetchConnection {

	/** Maximum time of a blocking read: an idle fetcher costs one command in it. */
	static final Duration BLOCK = Duration.ofSeconds(2);

	/** Shorter, because on a Cluster reads are not woken. */
	private static final Duration CLUSTER_BLOCK = Duration.ofMillis(200);

	private static final Duration FIRST_BLOCK = Duration.ofMillis(10);

	/** Time after the block within which a read has to return, or is lost. */
	private static final Duration GRACE = Duration.ofSeconds(3);

	private final RedisConnector connector;

	private final Duration block;

	private volatile @Nullable Connection<byte[]> current;

	/** Whether a read has returned on this connection. */
	private volatile boolean verified;

	private volatile long clientId;

	/** Set when Redis knows no client with the id: it changes with a reconnect. */
	private volatile boolean clientIdInvalid = true;

	FetchConnection(RedisConnector connector) {
		this.connector = connector;
		this.block = connector.isCluster() ? CLUSTER_BLOCK : BLOCK;
	}

	boolean isOpen() {
		Connection<byte[]> open = this.current;
		return open != null && open.stateful().isOpen();
	}

	/** Returns whether reads have returned, and the next one needs no id before it. */
	boolean isVerified() {
		return this.verified && isOpen() && (!this.clientIdInvalid || this.connector.isCluster());
	}

	/** Returns the id that was read last. */
	long knownClientId() {
		return this.clientId;
	}

	void open() {
		if (this.current != null) {
			return;
		}
		try {
			Connection<byte[]> opened = this.connector.open(RedisStreamSource.CODEC, GRACE);
			opened.stateful().setTimeout(readTimeout());
			this.current = opened;
			this.verified = false;
			this.clientIdInvalid = true;
		}
		catch (RedisException | IllegalStateException ex) {
			// A client that is being stopped throws IllegalStateException.
			throw RedisFailure.unavailable(ex);
		}
	}

	void readSucceeded() {
		this.verified = true;
	}

	/** Has the id read again before the next read; any thread may call it. */
	void invalidateClientId() {
		this.clientIdInvalid = true;
	}

	/** Returns the id for {@code CLIENT UNBLOCK}; on a Cluster it is not used. */
	long clientId() throws InterruptedException {
		if (this.clientIdInvalid && !this.connector.isCluster()) {
			RedisFuture<Long> answer = null;
			try {
				answer = current().commands().clientId();
				this.clientId = answer.get(GRACE.toMillis(), TimeUnit.MILLISECONDS);
			}
			catch (ExecutionException | TimeoutException | RedisException | IllegalStateException ex) {
				throw RedisFailure.unavailable("no answer to CLIENT ID", ex, answer);
			}
			this.clientIdInvalid = false;
		}
		return this.clientId;
	}

	Duration readTimeout() {
		return this.block.plus(GRACE);
	}

	RedisFuture<List<Entries>> read(List<String> streams, List<String> lastIds, int records) {
		// The first read returns at once: it shows, also without records, that a problem
		// is over.
		CommandArgs<String, byte[]> arguments = new CommandArgs<>(RedisStreamSource.CODEC).add(CommandKeyword.COUNT)
			.add(records)
			.add(CommandKeyword.BLOCK)
			.add((this.verified ? this.block : FIRST_BLOCK).toMillis())
			.add("STREAMS")
			.addKeys(streams);
		lastIds.forEach(arguments::add);
		return current().commands().dispatch(CommandType.XREAD, new XreadOutput(), arguments);
	}

	void close() {
		Connection<byte[]> open = this.current;
		if (open != null) {
			this.connector.close(open.stateful());
			this.current = null;
		}
	}

	private Connection<byte[]> current() {
		return Objects.requireNonNull(this.current, "open() comes first");
	}

}
