package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader.RecordSink;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Where reading of one stream stands, and what is wrong with the stream. Guarded by its
 * {@link StreamLane}.
 */
final class StreamPosition {

	private static final Logger logger = LoggerFactory.getLogger(StreamPosition.class);

	/** How often to look whether a stream that could not be read can be. */
	static final Duration PROBE_INTERVAL = Duration.ofSeconds(2);

	private final ShardId shard;

	private final String stream;

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

	StreamPosition(ShardId shard, String stream, RecordSink sink, String lastId) {
		this.shard = shard;
		this.stream = stream;
		this.sink = sink;
		this.lastId = lastId;
		// From the first record on there is nothing that could be missing.
		this.toCheck = !lastId.equals("0-0");
	}

	ShardId shard() {
		return this.shard;
	}

	String stream() {
		return this.stream;
	}

	String lastId() {
		return this.lastId;
	}

	/** Tells whether it was paused. */
	boolean resume() {
		boolean was = this.paused;
		this.paused = false;
		return was;
	}

	boolean isWanted() {
		return !this.paused && this.problem == null;
	}

	void addTo(ReadSize size) {
		size.add(this.averageBytes, this.fresh);
	}

	/** A read over it has come back. */
	void answered() {
		this.fresh = false;
	}

	/** Much may come together until there is another connection. */
	void disconnected() {
		this.fresh |= this.averageBytes == 0;
	}

	/** Reading goes on behind the records only when they were taken. */
	void offer(List<SourceRecord> records) {
		boolean room = this.sink.offer(records);
		this.lastId = records.get(records.size() - 1).offset().value();
		this.averageBytes = ReadSize.average(this.averageBytes, records);
		this.paused = !room;
	}

	/** Why it brings nothing, or might not. */
	@Nullable String problem() {
		return (this.problem != null) ? "The stream %s cannot be read: %s".formatted(this.stream, this.problem)
				: this.suspicion;
	}

	/**
	 * It was asked for alone.
	 * @param refusal why it was refused, {@code null} if it can be read
	 */
	void probed(@Nullable String refusal, long nowNanos) {
		if (refusal != null && this.problem == null) {
			logger.error("{} cannot be read; its stream is {}. {}", this.shard, this.stream, refusal);
		}
		this.problem = refusal;
		this.probeAtNanos = nowNanos + PROBE_INTERVAL.toNanos();
	}

	boolean isProbeDue(long nowNanos) {
		return this.problem != null && nowNanos - this.probeAtNanos >= 0;
	}

	/** Has the stream looked at. */
	void wantCheck() {
		this.toCheck = true;
	}

	/** Has the stream looked at once more if it looked wrong before. */
	void wantCheckIfSuspect() {
		this.toCheck |= this.suspicion != null;
	}

	/** Tells whether it is to be looked at, which is then no longer wanted. */
	boolean takeCheck() {
		if (!this.toCheck || this.problem != null) {
			return false;
		}
		this.toCheck = false;
		return true;
	}

	/**
	 * It was looked at.
	 * @param before where reading stood when it was asked for
	 * @param found the answer
	 */
	void checked(String before, StreamCheck found) {
		boolean first = !this.checkedOnce;
		this.checkedOnce = true;
		if (found.endsBefore(before)) {
			String wrong = ("The stream %s ends with %s, before the offset %s of this group: it was deleted or put "
					+ "back from an older copy, or the shard was set beyond the end. What is added up to that offset is "
					+ "not read. Set the shard to its beginning with ShardPositions")
				.formatted(this.stream, found.lastId(), before);
			if (this.suspicion == null) {
				logger.error("{}: {}", this.shard, wrong);
			}
			this.suspicion = wrong;
			return;
		}
		this.suspicion = null;
		String gap = first ? found.gapAfter(before) : null;
		if (gap != null) {
			logger.warn("{}: {}; going on with what is there", this.shard, gap);
		}
	}

}
