package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisFailure;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.stream.ReadStreams.Entries;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader.RecordSink;

/**
 * One connection with one blocking {@code XREAD} over all the streams that share it. A
 * stream that joins must not wait until the read comes back by itself, so it is woken
 * with a {@link ReadWakeUp}. Thread-safe but for {@link #deliverAndReadOn()}.
 */
final class StreamLane implements AutoCloseable {

	/** How often to look whether one more stream is still the one that it was. */
	private static final Duration CHECK_INTERVAL = Duration.ofSeconds(10);

	private static final String CHECK = "detect that a stream was deleted, replaced or trimmed before it was read";

	private final RedisConnector connector;

	private final RedisLink<byte[]> link;

	private final Runnable onChange;

	/** Confined to the thread that polls. */
	private final LaneConnection connection;

	/** By stream key; guarded by this. */
	private final Map<String, StreamPosition> positions = new HashMap<>();

	/** Guarded by this. */
	private @Nullable Read read;

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
		this.connection = new LaneConnection(connector);
	}

	synchronized void start(ShardId shard, String stream, String lastId, RecordSink sink) {
		this.positions.put(stream, new StreamPosition(shard, stream, sink, lastId));
	}

	synchronized void stop(String stream) {
		this.positions.remove(stream);
	}

	synchronized boolean resume(String stream) {
		StreamPosition position = this.positions.get(stream);
		return position != null && position.resume();
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
		this.positions.values().forEach((position) -> {
			String problem = position.problem();
			if (problem != null) {
				problems.put(position.shard(), problem);
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
				if (!this.connection.isOpen() || System.nanoTime() - current.deadlineNanos > 0) {
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
			this.connection.prove();
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
			StoreUnavailableException failure = RedisFailure.unavailable("a blocking read failed", ex, back.future);
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
			back.positions.values().forEach(StreamPosition::answered);
			offer(answer, back);
		}
	}

	private void offer(List<Entries> answer, Read back) {
		IllegalStateException failure = null;
		for (Entries entries : answer) {
			StreamPosition position = this.positions.get(entries.stream());
			// Not for a stream that was stopped, or stopped and started anew, meanwhile.
			if (position != null && position == back.positions.get(entries.stream())) {
				try {
					position.offer(entries.records());
				}
				catch (Exception | OutOfMemoryError ex) {
					// One shard's failure must not keep the records of others waiting.
					failure = new IllegalStateException(
							"%s did not take its records; they are read again".formatted(position.shard()), ex);
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
		for (StreamPosition position : refused.positions.values()) {
			found |= !isReadable(position);
		}
		synchronized (this) {
			this.read = null;
		}
		return found;
	}

	private boolean isReadable(StreamPosition position) {
		String refusal = null;
		try {
			this.link.call((commands) -> commands.xlen(position.stream()));
		}
		catch (StoreUnavailableException ex) {
			if (!RedisLink.isRefusal(ex)) {
				throw ex;
			}
			refusal = ex.getMessage();
		}
		synchronized (this) {
			position.probed(refusal, System.nanoTime());
		}
		return refusal == null;
	}

	/** Looks whether what could not be read can be read again. */
	private void probe() {
		List<StreamPosition> due;
		synchronized (this) {
			long now = System.nanoTime();
			due = this.positions.values().stream().filter((position) -> position.isProbeDue(now)).toList();
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
		this.nextLookAtNanos = now + StreamPosition.PROBE_INTERVAL.toNanos();
		List<StreamPosition> all = List.copyOf(this.positions.values());
		if (now - this.nextCheckAtNanos >= 0) {
			this.nextCheckAtNanos = now + CHECK_INTERVAL.toNanos();
			this.nextCheck = (this.nextCheck + 1) % all.size();
			all.get(this.nextCheck).wantCheck();
		}
		all.forEach(StreamPosition::wantCheckIfSuspect);
	}

	/** Asks for the streams that are to be looked at, and does not wait. */
	private void check() {
		List<StreamPosition> toCheck = new ArrayList<>();
		List<String> offsets = new ArrayList<>();
		synchronized (this) {
			for (StreamPosition position : this.positions.values()) {
				if (position.takeCheck()) {
					toCheck.add(position);
					offsets.add(position.lastId());
				}
			}
		}
		if (toCheck.isEmpty()) {
			return;
		}
		List<CompletableFuture<List<Object>>> answers = this.link
			.sendAll(toCheck.stream().map((position) -> StreamCheck.command(position.stream())).toList());
		for (int i = 0; i < answers.size(); i++) {
			StreamPosition position = toCheck.get(i);
			// Reading may be further when the answer comes.
			String before = offsets.get(i);
			answers.get(i).whenComplete((reply, failure) -> {
				if (failure != null) {
					// Otherwise there is no stream, or none yet, or no Redis.
					this.connector.refusedSteps().failed(CHECK, failure);
					return;
				}
				this.connector.refusedSteps().done(CHECK);
				checked(position, before, StreamCheck.of(reply));
			});
		}
	}

	private synchronized void checked(StreamPosition position, String before, StreamCheck found) {
		position.checked(before, found);
	}

	private void readOn() throws InterruptedException {
		if (!this.connection.isOpen()) {
			disconnect();
		}
		this.connection.open();
		long clientId = clientId();
		probe();
		beginRead(clientId);
		// Behind the read: records must not wait for it.
		check();
	}

	private long clientId() throws InterruptedException {
		try {
			return this.connection.clientId();
		}
		catch (StoreUnavailableException ex) {
			// Nothing else would find out that nobody is at the other end.
			lost();
			throw ex;
		}
	}

	private synchronized void beginRead(long clientId) {
		this.read = null;
		Map<String, StreamPosition> wanted = new HashMap<>();
		ReadSize size = new ReadSize();
		List<String> streams = new ArrayList<>();
		List<String> lastIds = new ArrayList<>();
		this.positions.values().stream().filter(StreamPosition::isWanted).forEach((position) -> {
			wanted.put(position.stream(), position);
			streams.add(position.stream());
			lastIds.add(position.lastId());
			position.addTo(size);
		});
		if (streams.isEmpty()) {
			return;
		}
		ReadWakeUp wakeUp = new ReadWakeUp(this.link, clientId, System::nanoTime, this.onChange,
				this.connection::doubtClientId);
		RedisFuture<List<Entries>> future = this.connection.read(streams, lastIds, size.records());
		this.read = new Read(future, wanted, wakeUp, System.nanoTime() + this.connection.longestRead().toNanos());
		future.whenComplete((answer, failure) -> this.onChange.run());
	}

	private void lost() {
		disconnect();
		this.connector.suspectTopology();
	}

	private void disconnect() {
		synchronized (this) {
			this.read = null;
			this.positions.values().forEach(StreamPosition::disconnected);
		}
		this.connection.close();
	}

	@Override
	public void close() {
		disconnect();
	}

	private record Read(RedisFuture<List<Entries>> future, Map<String, StreamPosition> positions, ReadWakeUp wakeUp,
			long deadlineNanos) {

	}

}
