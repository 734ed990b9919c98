package io.github.shardkeeper.source.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandKeyword;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisConnector.Connection;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader.RecordSink;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.source.redis.ReadStreams.Entries;

/**
 * One connection with one blocking {@code XREAD} over all the streams that share it. A
 * stream that joins must not wait until the read comes back by itself, so it is woken
 * with a {@link ReadWakeUp}. Thread-safe but for {@link #deliverAndReadOn()}.
 */
final class StreamLane implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(StreamLane.class);

	/** How long a read waits for records: an idle lane costs one command in this time. */
	static final Duration BLOCK = Duration.ofSeconds(2);

	/** On a Cluster a read cannot be woken yet, so it waits for a shorter time. */
	private static final Duration CLUSTER_BLOCK = Duration.ofMillis(200);

	private static final Duration PROOF_BLOCK = Duration.ofMillis(10);

	/** A read that is not back this long after its block is lost. */
	private static final Duration GRACE = Duration.ofSeconds(3);

	/** How often to look whether a stream that could not be read can be. */
	private static final Duration PROBE_INTERVAL = Duration.ofSeconds(2);

	/** How often to look whether one more stream is still the one that it was. */
	private static final Duration CHECK_INTERVAL = Duration.ofSeconds(10);

	private final RedisConnector connector;

	private final RedisLink<byte[]> link;

	private final Runnable onChange;

	private final Duration block;

	/** By stream key; guarded by this. */
	private final Map<String, Position> positions = new HashMap<>();

	/** Guarded by this. */
	private @Nullable Read read;

	/** Set when nobody could be unblocked: after a reconnect the id is another one. */
	private volatile boolean clientIdInDoubt = true;

	/** Of the connection; confined to the thread that polls. */
	private long clientId;

	/**
	 * Whether a read has come back on this connection; confined to the thread that polls.
	 */
	private boolean proven;

	private @Nullable Connection<byte[]> connection;

	/** Whose turn it was to be looked at; guarded by this. */
	private int nextCheck;

	/** Guarded by this. */
	private long nextCheckAtNanos = System.nanoTime();

	/** When to look at those again of which something is known; guarded by this. */
	private long nextLookAtNanos = System.nanoTime();

	StreamLane(RedisConnector connector, RedisLink<byte[]> link, Runnable onChange) {
		this.connector = connector;
		this.link = link;
		this.onChange = onChange;
		this.block = connector.isCluster() ? CLUSTER_BLOCK : BLOCK;
	}

	synchronized void start(ShardId shard, String stream, String lastId, RecordSink sink) {
		this.positions.put(stream, new Position(shard, sink, lastId));
	}

	synchronized void stop(String stream) {
		this.positions.remove(stream);
	}

	synchronized boolean resume(String stream) {
		Position position = this.positions.get(stream);
		if (position == null || !position.paused) {
			return false;
		}
		position.paused = false;
		return true;
	}

	/** Makes the next read begin at once, with all streams that there are now. */
	void wakeUp() {
		Read waiting = currentRead();
		if (waiting != null) {
			waiting.wakeUp.request();
		}
		this.onChange.run();
	}

	private synchronized @Nullable Read currentRead() {
		return this.read;
	}

	/** The shards whose streams cannot be read, while others can. */
	synchronized Map<ShardId, String> problems() {
		Map<ShardId, String> problems = new HashMap<>();
		this.positions.forEach((stream, position) -> {
			if (position.problem != null) {
				problems.put(position.shard, "The stream %s cannot be read: %s".formatted(stream, position.problem));
			}
			else if (position.suspicion != null) {
				problems.put(position.shard, position.suspicion);
			}
		});
		return problems;
	}

	/**
	 * Hands over what the last read brought, if it is back, and begins the next one;
	 * tells whether one was back.
	 */
	boolean deliverAndReadOn() throws InterruptedException {
		Read current = currentRead();
		if (current != null) {
			if (!current.future.isDone()) {
				if (!isConnected() || System.nanoTime() - current.deadlineNanos > 0) {
					lost();
					throw new StoreUnavailableException("Redis: the connection of a blocking read was lost",
							new RedisException("XREAD"));
				}
				if (!this.connector.isCluster()) {
					current.wakeUp.sendIfWanted();
				}
				return false;
			}
			deliver(current);
			this.proven = true;
		}
		readOn();
		return current != null;
	}

	private void deliver(Read back) throws InterruptedException {
		List<Entries> answer;
		try {
			answer = back.future.get();
		}
		catch (ExecutionException | CancellationException ex) {
			Throwable cause = (ex.getCause() != null) ? ex.getCause() : ex;
			StoreUnavailableException failure = new StoreUnavailableException(
					"Redis: a blocking read failed: " + cause.getMessage(), cause);
			if (RedisLink.isRefusal(failure) && findUnreadable(back)) {
				// Redis refused the whole read because of them; the others go on.
				return;
			}
			lost();
			throw failure;
		}
		synchronized (this) {
			this.read = null;
			// Also while others bring records: whoever never does is to be noticed.
			checkNext();
			back.positions.values().forEach((position) -> position.fresh = false);
			offer(answer, back);
		}
	}

	private void offer(List<Entries> answer, Read back) {
		IllegalStateException failure = null;
		for (Entries entries : answer) {
			Position position = this.positions.get(entries.stream());
			// Not for a stream that was stopped, or stopped and started anew, meanwhile.
			if (position != null && position == back.positions.get(entries.stream())) {
				try {
					position.offer(entries.records());
				}
				catch (Exception | OutOfMemoryError ex) {
					// One shard's failure must not keep the records of others waiting.
					failure = new IllegalStateException(
							"%s did not take its records; they are read again".formatted(position.shard), ex);
				}
			}
		}
		if (failure != null) {
			throw failure;
		}
	}

	/** Asks for each stream alone; tells whether some were refused. */
	private boolean findUnreadable(Read refused) {
		boolean found = false;
		for (Map.Entry<String, Position> entry : refused.positions.entrySet()) {
			found |= !isReadable(entry.getKey(), entry.getValue());
		}
		synchronized (this) {
			this.read = null;
		}
		return found;
	}

	private boolean isReadable(String stream, Position position) {
		String problem = null;
		try {
			this.link.call((commands) -> commands.xlen(stream));
		}
		catch (StoreUnavailableException ex) {
			if (!RedisLink.isRefusal(ex)) {
				throw ex;
			}
			problem = ex.getMessage();
		}
		synchronized (this) {
			if (problem != null && position.problem == null) {
				logger.error("{} cannot be read; its stream is {}. {}", position.shard, stream, problem);
			}
			position.problem = problem;
			position.probeAtNanos = System.nanoTime() + PROBE_INTERVAL.toNanos();
		}
		return problem == null;
	}

	/** Looks whether what could not be read can be read again. */
	private void probe() {
		Map<String, Position> due = new HashMap<>();
		synchronized (this) {
			this.positions.forEach((stream, position) -> {
				if (position.problem != null && System.nanoTime() - position.probeAtNanos >= 0) {
					due.put(stream, position);
				}
			});
		}
		due.forEach(this::isReadable);
	}

	/**
	 * Marks one more stream to be looked at, and more often those of which it is known
	 * that something is wrong: one by one, so that shards cost the same however many they
	 * are.
	 */
	private void checkNext() {
		long now = System.nanoTime();
		if (now - this.nextLookAtNanos < 0 || this.positions.isEmpty()) {
			return;
		}
		this.nextLookAtNanos = now + PROBE_INTERVAL.toNanos();
		List<Position> all = List.copyOf(this.positions.values());
		if (now - this.nextCheckAtNanos >= 0) {
			this.nextCheckAtNanos = now + CHECK_INTERVAL.toNanos();
			this.nextCheck = (this.nextCheck + 1) % all.size();
			all.get(this.nextCheck).toCheck = true;
		}
		all.forEach((position) -> position.toCheck |= position.suspicion != null);
	}

	/** Asks for the streams that are to be looked at, and does not wait. */
	private void check() {
		List<String> streams = new ArrayList<>();
		List<Position> checked = new ArrayList<>();
		List<String> offsets = new ArrayList<>();
		List<AsyncCommand<String, byte[], List<Object>>> commands = new ArrayList<>();
		synchronized (this) {
			this.positions.forEach((stream, position) -> {
				if (position.toCheck && position.problem == null) {
					position.toCheck = false;
					streams.add(stream);
					offsets.add(position.lastId);
					checked.add(position);
					commands.add(StreamCheck.command(stream));
				}
			});
		}
		if (commands.isEmpty()) {
			return;
		}
		List<CompletableFuture<List<Object>>> answers = this.link.sendAll(commands);
		for (int i = 0; i < answers.size(); i++) {
			String stream = streams.get(i);
			Position position = checked.get(i);
			// Reading may be further when the answer comes.
			String before = offsets.get(i);
			// A failure says that there is no stream, or none yet, or no Redis.
			answers.get(i).thenAccept((reply) -> checked(stream, position, before, StreamCheck.of(reply)));
		}
	}

	private synchronized void checked(String stream, Position position, String before, StreamCheck found) {
		boolean first = !position.checkedOnce;
		position.checkedOnce = true;
		if (found.endsBefore(before)) {
			String suspicion = ("The stream %s ends with %s, before the offset %s of this group: it was deleted or put "
					+ "back from an older copy, or the shard was set beyond the end. What is added up to that offset is "
					+ "not read. Set the shard to its beginning with ShardPositions")
				.formatted(stream, found.lastId(), before);
			if (position.suspicion == null) {
				logger.error("{}: {}", position.shard, suspicion);
			}
			position.suspicion = suspicion;
			return;
		}
		position.suspicion = null;
		String gap = first ? found.gapAfter(before) : null;
		if (gap != null) {
			logger.warn("{}: {}; going on with what is there", position.shard, gap);
		}
	}

	private void readOn() throws InterruptedException {
		Connection<byte[]> open = connected();
		if (this.clientIdInDoubt && !this.connector.isCluster()) {
			this.clientId = clientId(open);
			this.clientIdInDoubt = false;
		}
		probe();
		beginRead(open);
		// Behind the read: records must not wait for it.
		check();
	}

	private void beginRead(Connection<byte[]> open) {
		synchronized (this) {
			this.read = null;
			Map<String, Position> wanted = new HashMap<>();
			ReadSize size = new ReadSize();
			List<String> streams = new ArrayList<>();
			List<String> lastIds = new ArrayList<>();
			this.positions.forEach((stream, position) -> {
				if (!position.paused && position.problem == null) {
					wanted.put(stream, position);
					streams.add(stream);
					lastIds.add(position.lastId);
					size.add(position.averageBytes, position.fresh);
				}
			});
			if (streams.isEmpty()) {
				return;
			}
			ReadWakeUp wakeUp = new ReadWakeUp(this.link, this.clientId, System::nanoTime, this.onChange,
					() -> this.clientIdInDoubt = true);
			RedisFuture<List<Entries>> future = xread(open, streams, lastIds, size.records());
			this.read = new Read(future, wanted, wakeUp, System.nanoTime() + this.block.plus(GRACE).toNanos());
			future.whenComplete((answer, failure) -> this.onChange.run());
		}
	}

	private RedisFuture<List<Entries>> xread(Connection<byte[]> open, List<String> streams, List<String> lastIds,
			int records) {
		// The first read on a connection comes back at once, so that a problem that is
		// over does not look like one for as long as nothing is sent.
		CommandArgs<String, byte[]> arguments = new CommandArgs<>(RedisStreamSource.CODEC).add(CommandKeyword.COUNT)
			.add(records)
			.add(CommandKeyword.BLOCK)
			.add((this.proven ? this.block : PROOF_BLOCK).toMillis())
			.add("STREAMS")
			.addKeys(streams);
		lastIds.forEach(arguments::add);
		return open.commands().dispatch(CommandType.XREAD, new ReadStreams(), arguments);
	}

	private boolean isConnected() {
		return this.connection != null && this.connection.stateful().isOpen();
	}

	private Connection<byte[]> connected() {
		if (!isConnected()) {
			disconnect();
		}
		Connection<byte[]> open = this.connection;
		try {
			if (open == null) {
				open = this.connector.open(RedisStreamSource.CODEC, GRACE);
				open.stateful().setTimeout(this.block.plus(GRACE));
				this.connection = open;
				this.proven = false;
				this.clientIdInDoubt = true;
			}
			return open;
		}
		catch (RedisException ex) {
			throw new StoreUnavailableException("Redis: " + ex.getMessage(), ex);
		}
	}

	private long clientId(Connection<byte[]> open) throws InterruptedException {
		try {
			return open.commands().clientId().get(GRACE.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			// Nothing else would find out that nobody is at the other end.
			lost();
			throw new StoreUnavailableException("Redis: no answer to CLIENT ID: " + ex.getMessage(), ex);
		}
	}

	private void lost() {
		disconnect();
		this.connector.suspectTopology();
	}

	private void disconnect() {
		synchronized (this) {
			this.read = null;
			// Much may come together until there is another one.
			this.positions.values().forEach((position) -> position.fresh |= position.averageBytes == 0);
		}
		if (this.connection != null) {
			this.connector.close(this.connection.stateful());
			this.connection = null;
		}
	}

	@Override
	public void close() {
		disconnect();
	}

	/** Where reading of one stream stands; guarded by its lane. */
	private static final class Position {

		private final ShardId shard;

		private final RecordSink sink;

		private String lastId;

		private boolean paused;

		/** Why the stream cannot be read, while others can. */
		private @Nullable String problem;

		private long probeAtNanos;

		/** What its records have, on average; 0 before the first. */
		private long averageBytes;

		/** Whether no read was answered yet, so that it may hold many large records. */
		private boolean fresh = true;

		private boolean toCheck;

		private boolean checkedOnce;

		/** Why it might never bring anything. */
		private @Nullable String suspicion;

		Position(ShardId shard, RecordSink sink, String lastId) {
			this.shard = shard;
			this.sink = sink;
			this.lastId = lastId;
			// From the first record on there is nothing that could be missing.
			this.toCheck = !lastId.equals("0-0");
		}

		/** Reading goes on behind the records only when they were taken. */
		void offer(List<SourceRecord> records) {
			boolean room = this.sink.offer(records);
			this.lastId = records.get(records.size() - 1).offset().value();
			this.averageBytes = ReadSize.average(this.averageBytes, records);
			this.paused = !room;
		}

	}

	private record Read(RedisFuture<List<Entries>> future, Map<String, Position> positions, ReadWakeUp wakeUp,
			long deadlineNanos) {

	}

}
