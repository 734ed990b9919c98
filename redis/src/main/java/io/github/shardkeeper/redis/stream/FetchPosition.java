package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader.RecordSink;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.text.PrintableLogger;

/** Reading progress and problems of one stream. Guarded by its {@link StreamFetcher}. */
final class FetchPosition {

	private static final Logger logger = PrintableLogger.of(FetchPosition.class);

	/** Interval of checks of a stream that cannot be read, or has a warning. */
	static final Duration PROBE_INTERVAL = Duration.ofSeconds(2);

	private final ShardId shard;

	private final String stream;

	private final RecordSink sink;

	private String lastId;

	private boolean paused;

	/** Reason why the stream cannot be read, while others can. */
	private @Nullable String problem;

	private long probeAtNanos;

	/** Average size of its records; 0 before the first. */
	private long averageBytes;

	/** Whether no read was answered yet, so that it may hold many large records. */
	private boolean unread = true;

	private boolean checkWanted;

	private boolean checkedOnce;

	/** Reason why it may never bring a record. */
	private @Nullable String warning;

	FetchPosition(ShardId shard, String stream, RecordSink sink, String lastId) {
		this.shard = shard;
		this.stream = stream;
		this.sink = sink;
		this.lastId = lastId;
		// Nothing can be missing before the first record.
		this.checkWanted = !lastId.equals("0-0");
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

	/** Resumes it; returns whether it was paused. */
	boolean resume() {
		boolean wasPaused = this.paused;
		this.paused = false;
		return wasPaused;
	}

	boolean isReadable() {
		return !this.paused && this.problem == null;
	}

	void addTo(ReadSize size) {
		size.add(this.averageBytes, this.unread);
	}

	void answered() {
		this.unread = false;
	}

	/** Many large records may be added until the next connection. */
	void disconnected() {
		this.unread |= this.averageBytes == 0;
	}

	/** Offers records to the sink, and advances only if it takes them. */
	void offer(List<SourceRecord> records) {
		boolean room = this.sink.offer(records);
		this.lastId = records.get(records.size() - 1).offset().value();
		this.averageBytes = ReadSize.average(this.averageBytes, records);
		this.paused = !room;
	}

	@Nullable String problem() {
		return (this.problem != null) ? "The stream %s cannot be read: %s".formatted(this.stream, this.problem)
				: this.warning;
	}

	/** Records the result of a read of this stream alone; {@code null} for success. */
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

	/** Returns whether it has to be probed or checked. */
	boolean isAttentionDue(long nowNanos) {
		return isProbeDue(nowNanos) || this.checkWanted && this.problem == null;
	}

	void requestCheck() {
		this.checkWanted = true;
	}

	void requestCheckIfWarned() {
		this.checkWanted |= this.warning != null;
	}

	boolean takeCheck() {
		if (!this.checkWanted || this.problem != null) {
			return false;
		}
		this.checkWanted = false;
		return true;
	}

	/** Records a check; {@code before} was the last id when the check was sent. */
	void checked(String before, StreamInfo found) {
		boolean first = !this.checkedOnce;
		this.checkedOnce = true;
		if (found.endsBefore(before)) {
			String behind = ("The stream %s ends with %s, before the offset %s of this group: it was deleted or put "
					+ "back from an older copy, or the shard was set beyond the end. What is added up to that offset is "
					+ "not read. Set the shard to its beginning with ShardPositions")
				.formatted(this.stream, found.lastId(), before);
			if (this.warning == null) {
				logger.error("{}: {}", this.shard, behind);
			}
			this.warning = behind;
			return;
		}
		this.warning = null;
		String gap = first ? found.gapAfter(before) : null;
		if (gap != null) {
			logger.warn("{}: {}; continuing with the entries that exist", this.shard, gap);
		}
	}

}
