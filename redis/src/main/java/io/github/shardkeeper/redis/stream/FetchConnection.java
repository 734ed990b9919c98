package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.protocol.Command;
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

	/**
	 * Time of a blocking read whose connection nobody else watches, or cannot be woken.
	 */
	static final Duration BLOCK = Duration.ofSeconds(2);

	/**
	 * Times of blocking reads that a {@link ReadPulse} watches: a read names all streams,
	 * so its bytes grow with their number. Each time that passes without records is
	 * followed by the next one. The pulse only shows that the connection brings
	 * something: that it also takes something is shown by the reply to the read before.
	 */
	private static final List<Duration> WATCHED_BLOCKS = List.of(BLOCK, Duration.ofMinutes(2), Duration.ofHours(2));

	/** Shorter, because on a Cluster reads are not woken. */
	private static final Duration CLUSTER_BLOCK = Duration.ofMillis(200);

	private static final Duration FIRST_BLOCK = Duration.ofMillis(10);

	/** Time after the block within which a read has to return, or is lost. */
	private static final Duration GRACE = Duration.ofSeconds(3);

	private final RedisConnector connector;

	private final Supplier<ReadPulse> newPulse;

	private volatile @Nullable Connection<byte[]> current;

	/** Of the current connection, or the last one. */
	private volatile ReadPulse pulse;

	/** Whether a blocked read can be woken, as far as is known. */
	private volatile boolean wakeable = true;

	/** Index of the time for which a watched read may block. */
	private volatile int level;

	/** Time for which the client's own time limit of commands lets a read block. */
	private volatile Duration longestBlock = longestOfAll();

	/** Whether a read has returned on this connection. */
	private volatile boolean verified;

	private volatile long clientId;

	/** Set when Redis knows no client with the id: it changes with a reconnect. */
	private volatile boolean clientIdInvalid = true;

	FetchConnection(RedisConnector connector, Supplier<ReadPulse> newPulse) {
		this.connector = connector;
		this.newPulse = newPulse;
		this.pulse = newPulse.get();
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
			opened.stateful().setTimeout(timeLimit(longestOfAll()));
			this.longestBlock = longestBlock(opened.stateful().getOptions().getTimeoutOptions());
			this.level = 0;
			this.current = opened;
			this.pulse = this.newPulse.get();
			this.verified = false;
			this.clientIdInvalid = true;
		}
		catch (RedisException | IllegalStateException ex) {
			// A client that is being stopped throws IllegalStateException.
			throw RedisFailure.unavailable(ex);
		}
	}

	private static Duration longestOfAll() {
		return WATCHED_BLOCKS.get(WATCHED_BLOCKS.size() - 1);
	}

	/**
	 * The application may have given its client one time limit for all commands, which
	 * that of the connection does not replace.
	 */
	private static Duration longestBlock(TimeoutOptions timeouts) {
		if (!timeouts.isTimeoutCommands() || timeouts.isApplyConnectionTimeout()) {
			return longestOfAll();
		}
		long limit = timeouts.getSource()
			.getTimeout(
					new Command<>(CommandType.XREAD, new XreadOutput(), new CommandArgs<>(RedisStreamSource.CODEC)));
		if (limit <= 0) {
			return longestOfAll();
		}
		Duration half = Duration.of(limit, timeouts.getSource().getTimeUnit().toChronoUnit()).dividedBy(2);
		if (half.compareTo(FIRST_BLOCK) < 0) {
			// Redis takes 0 ms for no limit.
			return FIRST_BLOCK;
		}
		return (half.compareTo(longestOfAll()) < 0) ? half : longestOfAll();
	}

	/** The first read returns at once, those that follow it may block. */
	void readSucceeded() {
		this.verified = true;
	}

	/** Sets whether Redis lets a blocked read be woken; if not, reads block briefly. */
	void setWakeable(boolean wakeable) {
		this.wakeable = wakeable;
	}

	ReadPulse pulse() {
		return this.pulse;
	}

	/** Has the id read again before the next read; any thread may call it. */
	void invalidateClientId() {
		this.clientIdInvalid = true;
	}

	/** Returns the id for {@code CLIENT UNBLOCK}; on a Cluster it is not used. */
	long clientId() throws InterruptedException {
		if (this.clientIdInvalid && !this.connector.isCluster()) {
			RedisFuture<Long> reply = null;
			try {
				reply = current().commands().clientId();
				this.clientId = reply.get(GRACE.toMillis(), TimeUnit.MILLISECONDS);
			}
			catch (ExecutionException | TimeoutException | RedisException | IllegalStateException ex) {
				throw RedisFailure.unavailable("no reply to CLIENT ID", ex, reply);
			}
			this.clientIdInvalid = false;
		}
		return this.clientId;
	}

	/** Notes that a read has brought records, or that its time has passed without. */
	void readReturned(boolean withRecords, Duration block) {
		if (withRecords) {
			this.level = 0;
		}
		else if (block.equals(WATCHED_BLOCKS.get(this.level))) {
			this.level = Math.min(this.level + 1, WATCHED_BLOCKS.size() - 1);
		}
	}

	/** Returns how long the next read may block. */
	Duration block() {
		if (!this.verified) {
			// It shows, also without records, that a problem is over.
			return FIRST_BLOCK;
		}
		Duration wanted = this.connector.isCluster() ? CLUSTER_BLOCK : WATCHED_BLOCKS.get(isWatched() ? this.level : 0);
		return (wanted.compareTo(this.longestBlock) < 0) ? wanted : this.longestBlock;
	}

	/** Returns whether reads may block for long: a pulse is heard, and they are woken. */
	boolean isWatched() {
		return this.wakeable && this.pulse.isHeard();
	}

	/** Returns the time within which a read has to return, or is lost. */
	static Duration timeLimit(Duration block) {
		return ((block.compareTo(BLOCK) > 0) ? block : BLOCK).plus(GRACE);
	}

	/**
	 * Reads streams.
	 * @param block the time for which it waits for records, zero if it does not wait
	 */
	RedisFuture<List<Entries>> read(List<String> streams, List<String> lastIds, int records, Duration block) {
		CommandArgs<String, byte[]> arguments = new CommandArgs<>(RedisStreamSource.CODEC).add(CommandKeyword.COUNT)
			.add(records);
		if (!block.isZero()) {
			arguments.add(CommandKeyword.BLOCK).add(block.toMillis());
		}
		arguments.add("STREAMS").addKeys(streams);
		lastIds.forEach(arguments::add);
		return current().send((on) -> on.commands().dispatch(CommandType.XREAD, new XreadOutput(), arguments));
	}

	/** Has the connection follow its pulse; not while a read blocks it. */
	void followPulse() {
		this.pulse.follow(current());
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
