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
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisFailure;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.WrongKeyType;
import io.github.shardkeeper.redis.stream.XreadOutput.Entries;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader.RecordSink;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Reads streams with one blocking {@code XREAD} over all of them; a {@link ReadWakeUp}
 * ends it when a stream is added or resumed. While replies are long, it reads the streams
 * in two halves and does not block: Redis puts one reply together while the client
 * decodes the other. No stream is in two reads.
 * <p>
 * The thread of the client that decodes a reply also delivers it, and sends the next
 * read: to wake another thread takes longer than both. What may block or fails is left to
 * the polling thread. Thread-safe, except {@link #poll()}, which one thread calls.
 */
final class StreamFetcher implements AutoCloseable {

	private static final Logger logger = PrintableLogger.of(StreamFetcher.class);

	/** Interval after which the next stream is checked for being deleted or trimmed. */
	private static final Duration CHECK_INTERVAL = Duration.ofSeconds(10);

	/** Time after which a read that was to be woken is lost. */
	private static final Duration WAKE_UP_LIMIT = Duration.ofSeconds(5);

	private static final Duration WAKE_UP_RETRY = Duration.ofMillis(100);

	/**
	 * Number of records in a reply from which on reading in halves is faster, and the
	 * next reply is likely to be as long.
	 */
	private static final int LONG_ANSWER = ReadSize.MAX_RECORDS;

	private static final String CHECK = "detect that a stream was deleted, replaced or trimmed before it was read";

	private final RedisConnector connector;

	private final RedisLink<byte[]> link;

	private final Runnable onChange;

	/** Changed by the polling thread only, and never while a read is in flight. */
	private final FetchConnection connection;

	/** By stream key; guarded by this. */
	private final Map<String, FetchPosition> positions = new HashMap<>();

	/**
	 * Reads that are in flight, in the order in which they were sent; guarded by this.
	 */
	private final List<Read> reads = new ArrayList<>();

	/** Whether the reply that came last was a long one. Guarded by this. */
	private boolean longReply;

	/** Whether the client's thread has delivered since the last poll. Guarded by this. */
	private boolean delivered;

	/** Failure of a delivery on the client's thread; guarded by this. */
	private @Nullable RuntimeException failed;

	/** Index of the stream that was checked last; guarded by this. */
	private int checked;

	/** Guarded by this. */
	private long nextCheckAtNanos = System.nanoTime();

	/** Time of the next check of streams with a warning; guarded by this. */
	private long nextWarnedCheckAtNanos = System.nanoTime();

	/** Time of the next look at streams while a read blocks; of the polling thread. */
	private long nextMaintenanceAtNanos = System.nanoTime();

	StreamFetcher(RedisConnector connector, RedisLink<byte[]> link, ReadPulse.Settings pulse, Runnable onChange) {
		this.connector = connector;
		this.link = link;
		this.onChange = onChange;
		this.connection = new FetchConnection(connector, () -> new ReadPulse(link, pulse, System::nanoTime, onChange));
	}

	synchronized void start(ShardId shard, String stream, String lastId, RecordSink sink) {
		this.positions.put(stream, new FetchPosition(shard, stream, sink, lastId));
	}

	synchronized void stop(String stream) {
		FetchPosition stopped = this.positions.remove(stream);
		if (stopped != null) {
			// A read may block for hours, and must not keep the shard's buffer.
			this.reads.forEach((read) -> read.positions.remove(stream, stopped));
		}
	}

	synchronized boolean resume(String stream) {
		FetchPosition position = this.positions.get(stream);
		return position != null && position.resume();
	}

	/** Ends the read that is blocked, so that the next one includes all streams. */
	void wakeUp() {
		Read waiting = firstRead();
		if (waiting != null && waiting.isBlocking()) {
			waiting.wakeUp.request();
		}
		this.onChange.run();
	}

	/** Returns the read that is answered next, {@code null} if none is in flight. */
	private synchronized @Nullable Read firstRead() {
		return this.reads.isEmpty() ? null : this.reads.get(0);
	}

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
	 * Delivers a returned read and begins the next, unless that is done; returns whether
	 * one has returned since the last call.
	 */
	boolean poll() throws InterruptedException {
		boolean before = takeDelivered();
		return pollRead() || before;
	}

	private synchronized boolean takeDelivered() {
		RuntimeException failure = this.failed;
		if (failure != null) {
			this.failed = null;
			throw failure;
		}
		boolean any = this.delivered;
		this.delivered = false;
		return any;
	}

	private boolean pollRead() throws InterruptedException {
		Read current = firstRead();
		if (current != null) {
			if (!current.future.isDone()) {
				watch(current);
				return false;
			}
			deliver(current);
			this.connection.readSucceeded();
		}
		if (firstRead() == null) {
			readNext();
		}
		return current != null;
	}

	private void watch(Read waiting) throws InterruptedException {
		if (!this.connection.isOpen() || System.nanoTime() - waiting.deadlineNanos > 0
				|| this.connection.pulse().isLost() || waiting.wakeUp.isOverdue(WAKE_UP_LIMIT)) {
			connectionLost();
			throw new StoreUnavailableException("Redis: the connection of a blocking read was lost",
					new RedisException("XREAD"));
		}
		if (this.connector.isCluster()) {
			return;
		}
		waiting.wakeUp.sendIfWanted();
		if (waiting.isLong()) {
			if (waiting.wakeUp.isRefused()) {
				// Closing the connection is the only other way to end it.
				disconnect();
				readNext();
				return;
			}
			maintain();
		}
		this.connection.pulse().beat();
		if (waiting.isLong() && !this.connection.isWatched()) {
			waiting.wakeUp.request();
			waiting.wakeUp.sendIfWanted();
		}
	}

	/**
	 * Does what otherwise happens between two reads, as often as a short read returns.
	 */
	private void maintain() {
		long now = System.nanoTime();
		if (now - this.nextMaintenanceAtNanos < 0) {
			return;
		}
		this.nextMaintenanceAtNanos = now + FetchConnection.BLOCK.toNanos();
		synchronized (this) {
			requestChecks();
		}
		sendChecks();
		if (probe()) {
			// Not the read that was looked at: it may have been followed by another one.
			wakeUp();
		}
	}

	/** Returns the time until the next poll is due, if nothing happens before. */
	long nanosToNext() {
		Read waiting = firstRead();
		if (waiting == null || this.connector.isCluster()) {
			return FetchConnection.BLOCK.toNanos();
		}
		long next = this.connection.pulse().nanosToNext();
		return waiting.wakeUp.isPending() ? Math.min(next, WAKE_UP_RETRY.toNanos()) : next;
	}

	private void deliver(Read returned) throws InterruptedException {
		List<Entries> reply;
		try {
			reply = returned.future.get();
		}
		catch (ExecutionException | CancellationException ex) {
			StoreUnavailableException failure = RedisFailure.unavailable("a blocking read failed", ex, returned.future);
			if (RedisLink.isRefusal(failure) && findUnreadable(returned)) {
				// Redis refused the whole read because of them; the next read omits them.
				return;
			}
			connectionLost();
			throw failure;
		}
		accept(reply, returned);
	}

	/**
	 * Processes the end of a read on the client's thread. A read that fails, and the
	 * first one of a connection, are left to {@link #poll}.
	 */
	private void ended(Read returned, @Nullable List<Entries> reply) {
		// With the lock it is a thread that has just sent it, and not the client's.
		if (reply == null || Thread.holdsLock(this) || !deliverAndReadOn(returned, reply)) {
			this.onChange.run();
		}
	}

	/**
	 * Delivers and begins the next read, without waiting for anything; returns whether
	 * all is done.
	 */
	private synchronized boolean deliverAndReadOn(Read returned, List<Entries> reply) {
		if (!this.reads.contains(returned) || !this.connection.isVerified()) {
			return false;
		}
		try {
			this.delivered = true;
			accept(reply, returned);
		}
		catch (RuntimeException | Error ex) {
			this.failed = (ex instanceof RuntimeException failure) ? failure
					: new IllegalStateException("Records were not delivered; they are read again", ex);
			return false;
		}
		long now = System.nanoTime();
		if (!this.connector.isCluster() && this.connection.pulse().isFollowDue()
				|| this.positions.values().stream().anyMatch((position) -> position.isAttentionDue(now))) {
			return false;
		}
		try {
			beginReads(this.connection.knownClientId());
			return true;
		}
		catch (RuntimeException ex) {
			logger.debug("The next read could not be sent; the polling thread sends it", ex);
			return false;
		}
	}

	private synchronized void accept(List<Entries> reply, Read returned) {
		if (!this.reads.remove(returned)) {
			// The other thread was faster.
			return;
		}
		this.longReply = reply.stream().mapToInt((entries) -> entries.records().size()).sum() >= LONG_ANSWER;
		this.connection.pulse().answered();
		if (!reply.isEmpty() || !returned.wakeUp.isRequested()) {
			this.connection.readReturned(!reply.isEmpty(), returned.block);
		}
		requestChecks();
		returned.positions.values().forEach(FetchPosition::answered);
		offer(reply, returned);
	}

	private void offer(List<Entries> reply, Read returned) {
		IllegalStateException failure = null;
		for (Entries entries : reply) {
			FetchPosition position = this.positions.get(entries.stream());
			// Not for a stream that was stopped, or restarted, meanwhile.
			if (position != null && position == returned.positions.get(entries.stream())) {
				try {
					position.offer(entries.records());
				}
				catch (Exception ex) {
					// Deliver the records of the other shards first.
					failure = new IllegalStateException(
							"%s did not take its records; they are read again".formatted(position.shard()), ex);
				}
			}
		}
		if (failure != null) {
			throw failure;
		}
	}

	/** Reads each stream alone; returns whether Redis refused one. */
	private boolean findUnreadable(Read refused) {
		boolean found = false;
		List<FetchPosition> positions;
		synchronized (this) {
			positions = List.copyOf(refused.positions.values());
		}
		for (FetchPosition position : positions) {
			found |= !isReadable(position);
		}
		synchronized (this) {
			this.reads.remove(refused);
		}
		return found;
	}

	private boolean isReadable(FetchPosition position) {
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

	/** Retries streams that could not be read; returns whether one can be now. */
	private boolean probe() {
		List<FetchPosition> due;
		synchronized (this) {
			long now = System.nanoTime();
			due = this.positions.values().stream().filter((position) -> position.isProbeDue(now)).toList();
		}
		boolean found = false;
		for (FetchPosition position : due) {
			found |= isReadable(position);
		}
		return found;
	}

	/**
	 * Requests checks, due ones only: of one more stream in turn, so that the cost does
	 * not grow with the shards, and more often of streams with a warning.
	 */
	private void requestChecks() {
		long now = System.nanoTime();
		if (now - this.nextWarnedCheckAtNanos < 0 || this.positions.isEmpty()) {
			return;
		}
		this.nextWarnedCheckAtNanos = now + FetchPosition.PROBE_INTERVAL.toNanos();
		List<FetchPosition> all = List.copyOf(this.positions.values());
		if (now - this.nextCheckAtNanos >= 0) {
			this.nextCheckAtNanos = now + CHECK_INTERVAL.toNanos();
			this.checked = (this.checked + 1) % all.size();
			all.get(this.checked).requestCheck();
		}
		all.forEach(FetchPosition::requestCheckIfWarned);
	}

	/** Sends the requested checks; does not wait for the replies. */
	private void sendChecks() {
		List<FetchPosition> toCheck = new ArrayList<>();
		List<String> offsets = new ArrayList<>();
		synchronized (this) {
			for (FetchPosition position : this.positions.values()) {
				if (position.takeCheck()) {
					toCheck.add(position);
					offsets.add(position.lastId());
				}
			}
		}
		if (toCheck.isEmpty()) {
			return;
		}
		List<CompletableFuture<List<Object>>> replies = this.link
			.sendAll(toCheck.stream().map((position) -> StreamInfo.command(position.stream())).toList());
		for (int i = 0; i < replies.size(); i++) {
			FetchPosition position = toCheck.get(i);
			// Reading may have advanced when the reply arrives.
			String before = offsets.get(i);
			replies.get(i).whenComplete((reply, failure) -> {
				if (failure != null) {
					this.connector.refusedOperations().failed(CHECK, failure);
					if (failure.getCause() != null && WrongKeyType.isReason(failure.getCause())) {
						// A blocked read does not notice it, but the next one is refused.
						wakeUp();
					}
					return;
				}
				this.connector.refusedOperations().succeeded(CHECK);
				checked(position, before, StreamInfo.of(reply));
			});
		}
	}

	private synchronized void checked(FetchPosition position, String before, StreamInfo found) {
		position.checked(before, found);
	}

	private void readNext() throws InterruptedException {
		if (!this.connection.isOpen()) {
			disconnect();
		}
		this.connection.open();
		long clientId = clientId();
		if (!this.connector.isCluster()) {
			this.connection.followPulse();
		}
		probe();
		beginReads(clientId);
		// After the read, so that records do not wait for it.
		sendChecks();
	}

	private long clientId() throws InterruptedException {
		try {
			return this.connection.clientId();
		}
		catch (StoreUnavailableException ex) {
			// Nothing else detects that the other end is gone.
			connectionLost();
			throw ex;
		}
	}

	/** Begins the reads that are to follow the reply that came last. */
	private synchronized void beginReads(long clientId) {
		Read other = firstRead();
		if (other != null && !this.longReply) {
			// A read that blocks would leave out the streams of the other one.
			return;
		}
		List<FetchPosition> free = this.positions.values()
			.stream()
			.filter((position) -> position.isReadable()
					&& (other == null || other.positions.get(position.stream()) != position))
			.toList();
		if (other != null) {
			beginRead(free, clientId, Duration.ZERO);
		}
		else if (this.longReply && free.size() > 1) {
			int half = free.size() / 2;
			beginRead(free.subList(0, half), clientId, Duration.ZERO);
			beginRead(free.subList(half, free.size()), clientId, Duration.ZERO);
		}
		else {
			beginRead(free, clientId, this.connection.block());
		}
	}

	private void beginRead(List<FetchPosition> readable, long clientId, Duration block) {
		if (readable.isEmpty()) {
			return;
		}
		Map<String, FetchPosition> wanted = new HashMap<>();
		ReadSize size = new ReadSize(block.isZero() ? 2 : 1);
		List<String> streams = new ArrayList<>();
		List<String> lastIds = new ArrayList<>();
		readable.forEach((position) -> {
			wanted.put(position.stream(), position);
			streams.add(position.stream());
			lastIds.add(position.lastId());
			position.addTo(size);
		});
		ReadWakeUp wakeUp = new ReadWakeUp(this.link, clientId, System::nanoTime, this.onChange,
				this.connection::invalidateClientId, this.connection::setWakeable);
		RedisFuture<List<Entries>> future = this.connection.read(streams, lastIds, size.records(), block);
		Read begun = new Read(future, wanted, wakeUp, block,
				System.nanoTime() + FetchConnection.timeLimit(block).toNanos());
		this.reads.add(begun);
		future.whenComplete((reply, failure) -> ended(begun, (failure == null) ? reply : null));
	}

	private void connectionLost() {
		disconnect();
		this.connector.refreshTopology();
	}

	private void disconnect() {
		synchronized (this) {
			this.reads.clear();
			this.longReply = false;
			this.positions.values().forEach(FetchPosition::disconnected);
		}
		this.connection.close();
	}

	@Override
	public void close() {
		disconnect();
	}

	/**
	 * A read that is in flight.
	 *
	 * @param block the time for which it may block, zero if it does not
	 */
	private record Read(RedisFuture<List<Entries>> future, Map<String, FetchPosition> positions, ReadWakeUp wakeUp,
			Duration block, long deadlineNanos) {

		boolean isBlocking() {
			return !this.block.isZero();
		}

		boolean isLong() {
			return this.block.compareTo(FetchConnection.BLOCK) > 0;
		}

	}

}
