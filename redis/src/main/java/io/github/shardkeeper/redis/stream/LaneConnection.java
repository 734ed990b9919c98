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
import io.github.shardkeeper.redis.stream.ReadStreams.Entries;

/**
 * The connection of a {@link StreamLane}, which only its blocking reads use. Confined to
 * the thread that polls, but for {@link #doubtClientId()}.
 */
final class LaneConnection {

	/** How long a read waits for records: an idle lane costs one command in this time. */
	static final Duration BLOCK = Duration.ofSeconds(2);

	/** On a Cluster a read cannot be woken yet, so it waits for a shorter time. */
	private static final Duration CLUSTER_BLOCK = Duration.ofMillis(200);

	private static final Duration PROOF_BLOCK = Duration.ofMillis(10);

	/** A read that is not back this long after its block is lost. */
	private static final Duration GRACE = Duration.ofSeconds(3);

	private final RedisConnector connector;

	private final Duration block;

	private @Nullable Connection<byte[]> current;

	/** Whether a read has come back on this connection. */
	private boolean proven;

	private long clientId;

	/** Set when nobody could be unblocked: after a reconnect the id is another one. */
	private volatile boolean clientIdInDoubt = true;

	LaneConnection(RedisConnector connector) {
		this.connector = connector;
		this.block = connector.isCluster() ? CLUSTER_BLOCK : BLOCK;
	}

	boolean isOpen() {
		return this.current != null && this.current.stateful().isOpen();
	}

	/** Unless there is one. */
	void open() {
		if (this.current != null) {
			return;
		}
		try {
			Connection<byte[]> opened = this.connector.open(RedisStreamSource.CODEC, GRACE);
			opened.stateful().setTimeout(longestRead());
			this.current = opened;
			this.proven = false;
			this.clientIdInDoubt = true;
		}
		catch (RedisException | IllegalStateException ex) {
			// IllegalStateException is what a client says that is being stopped.
			throw RedisFailure.unavailable(ex);
		}
	}

	/** A read has come back. */
	void prove() {
		this.proven = true;
	}

	/** May be called by any thread. */
	void doubtClientId() {
		this.clientIdInDoubt = true;
	}

	/** Whom to unblock; on a Cluster nobody is. */
	long clientId() throws InterruptedException {
		if (this.clientIdInDoubt && !this.connector.isCluster()) {
			RedisFuture<Long> answer = null;
			try {
				answer = current().commands().clientId();
				this.clientId = answer.get(GRACE.toMillis(), TimeUnit.MILLISECONDS);
			}
			catch (ExecutionException | TimeoutException | RedisException | IllegalStateException ex) {
				throw RedisFailure.unavailable("no answer to CLIENT ID", ex, answer);
			}
			this.clientIdInDoubt = false;
		}
		return this.clientId;
	}

	/** After that long a read is lost. */
	Duration longestRead() {
		return this.block.plus(GRACE);
	}

	/** Begins to read all streams, each behind its last id. */
	RedisFuture<List<Entries>> read(List<String> streams, List<String> lastIds, int records) {
		// The first read on a connection comes back at once, so that a problem that is
		// over does not look like one for as long as nothing is sent.
		CommandArgs<String, byte[]> arguments = new CommandArgs<>(RedisStreamSource.CODEC).add(CommandKeyword.COUNT)
			.add(records)
			.add(CommandKeyword.BLOCK)
			.add((this.proven ? this.block : PROOF_BLOCK).toMillis())
			.add("STREAMS")
			.addKeys(streams);
		lastIds.forEach(arguments::add);
		return current().commands().dispatch(CommandType.XREAD, new ReadStreams(), arguments);
	}

	void close() {
		if (this.current != null) {
			this.connector.close(this.current.stateful());
			this.current = null;
		}
	}

	private Connection<byte[]> current() {
		return Objects.requireNonNull(this.current, "open() comes first");
	}

}
