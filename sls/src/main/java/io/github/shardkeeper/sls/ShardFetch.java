package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Reads one shard, one request at a time, from a position on. Remembers only what it
 * needs for the next request. Confined to one thread at a time.
 */
final class ShardFetch {

	private static final Logger logger = PrintableLogger.of(ShardFetch.class);

	/** Interval of checks whether logs expire before they are read. */
	private static final Duration EXPIRY_CHECK = Duration.ofMinutes(1);

	/** Size of a reply that reads aim at, uncompressed. */
	private static final int TARGET_BYTES = 1024 * 1024;

	private static final int FIRST_COUNT = 16;

	private static final Duration FIRST_PAUSE = Duration.ofMillis(250);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

	/** Short interruptions are no problem. */
	private static final int FAILURES_OF_A_PROBLEM = 3;

	/** Under a quota, requests are refused all the time, and the shard is read. */
	private static final Duration THROTTLED_FOR_A_PROBLEM = Duration.ofSeconds(30);

	/** Number of log groups that are worth a request before the poll interval. */
	private static final int WORTH_A_REQUEST = 16;

	private final ShardId shard;

	private final @Nullable Offset after;

	private final SlsClient client;

	private final ShardLists lists;

	private final SlsSettings.Logstore logstore;

	private final LongSupplier nanoTime;

	private final int maxCount;

	private final Duration pollInterval;

	/** Place of the next request, {@code null} until it is resolved. */
	private SlsOffset.@Nullable Place place;

	/** Number of logs after the place that are done. */
	private long skip;

	private int count;

	/** Whether the cursor was just asked for, so that it cannot have expired. */
	private boolean fresh;

	/** Whether no log was found since the beginning of the shard. */
	private boolean fromBeginning;

	private boolean behind;

	private long readAtNanos;

	private long checkedAtNanos;

	private int failures;

	/** Time of the first of these failures because of a quota, {@code null} for none. */
	private @Nullable Long throttledSinceNanos;

	/** {@code null} before the first reply, and after a failure. */
	private @Nullable Reached reached;

	ShardFetch(ShardId shard, @Nullable Offset after, SlsClient client, ShardLists lists, SlsSettings settings,
			LongSupplier nanoTime) {
		this.shard = shard;
		this.after = after;
		this.client = client;
		this.lists = lists;
		SlsSettings.Logstore known = settings.topics().get(shard.topic());
		this.logstore = (known != null) ? known : new SlsSettings.Logstore(shard.topic(), null, ResetPolicy.STOP);
		this.nanoTime = nanoTime;
		this.maxCount = settings.fetchCount();
		this.pollInterval = settings.pollInterval();
		this.count = Math.min(FIRST_COUNT, this.maxCount);
	}

	/** Reads once. Never throws. */
	Result next() {
		try {
			Result result = read();
			this.failures = 0;
			this.throttledSinceNanos = null;
			return result;
		}
		catch (SlsFailure ex) {
			return failed(ex);
		}
		catch (RuntimeException | Error ex) {
			return failed(SlsFailure.unexpected("read %s".formatted(this.shard), ex));
		}
	}

	/** Returns how far the shard is read, {@code null} if that may be outdated. */
	@Nullable Reached reached() {
		return this.reached;
	}

	private Result failed(SlsFailure failure) {
		this.reached = null;
		this.failures++;
		return new Failed(failure, RetryPause.after(this.failures, FIRST_PAUSE, LONGEST_PAUSE), isVisible(failure));
	}

	private boolean isVisible(SlsFailure failure) {
		return switch (failure.kind()) {
			case REFUSED, NO_SHARD -> true;
			case THROTTLED -> isThrottledForLong();
			default -> this.failures >= FAILURES_OF_A_PROBLEM;
		};
	}

	private boolean isThrottledForLong() {
		long now = this.nanoTime.getAsLong();
		Long since = this.throttledSinceNanos;
		if (since == null) {
			this.throttledSinceNanos = now;
			return false;
		}
		return now - since >= THROTTLED_FOR_A_PROBLEM.toNanos();
	}

	private Result read() {
		try {
			SlsOffset.Place from = this.place;
			if (from == null) {
				return resolve();
			}
			if (isExpiryCheckDue()) {
				this.checkedAtNanos = this.nanoTime.getAsLong();
				String begin = this.client.begin(this.shard);
				if (SlsOffset.isBefore(from.cursor(), begin)) {
					return expired(from.cursor(), "its logs expired before they were read");
				}
			}
			return pull(from);
		}
		catch (SlsFailure ex) {
			return switch (ex.kind()) {
				case CURSOR -> refusedCursor(ex);
				case NO_SHARD -> missing(ex);
				default -> throw ex;
			};
		}
	}

	private Result resolve() {
		SlsOffset position;
		try {
			position = (this.after != null) ? SlsOffset.parse(this.after) : SlsOffset.BEGIN;
		}
		catch (IllegalArgumentException ex) {
			return new Stopped("%s cannot be read from its checkpoint: %s. Set the position of the shard"
				.formatted(this.shard, ex.getMessage()));
		}
		SlsOffset.Place from = position.resumeAt();
		String begin = this.client.begin(this.shard);
		this.checkedAtNanos = this.nanoTime.getAsLong();
		if (from != null && SlsOffset.isBefore(from.cursor(), begin)) {
			return expired(from.cursor(), "the logs after its checkpoint have expired, or there were none");
		}
		this.skip = position.skip();
		this.fromBeginning = from == null;
		return pull((from != null) ? from : SlsOffset.Place.origin(begin));
	}

	private boolean isExpiryCheckDue() {
		long now = this.nanoTime.getAsLong();
		return now - this.readAtNanos > EXPIRY_CHECK.toNanos()
				|| this.behind && now - this.checkedAtNanos > EXPIRY_CHECK.toNanos();
	}

	private Result pull(SlsOffset.Place from) {
		this.place = from;
		// Known before the read: what is read from a shard that is read-only is all.
		LogstoreShards known = this.lists.known(this.shard.topic());
		boolean readOnly = known != null && known.isReadOnly(this.shard);
		SlsClient.Pulled pulled = this.client.pull(this.shard, from.cursor(), this.count);
		List<SourceRecord> records = decode(pulled, from);
		if (this.fromBeginning && !records.isEmpty()) {
			return foundBeginning(from.cursor());
		}
		long now = this.nanoTime.getAsLong();
		Duration sinceLast = Duration.ofNanos(now - this.readAtNanos);
		this.readAtNanos = now;
		this.fresh = false;
		this.behind = pulled.count() > 0;
		adapt(pulled);
		String next = (pulled.next() != null) ? pulled.next() : from.cursor();
		if (next.equals(from.cursor())) {
			return this.behind ? stayed(records) : atEnd(from, readOnly);
		}
		Duration pause = pulled.atEnd() && !readOnly ? pauseAtEnd(pulled.count(), sinceLast) : Duration.ZERO;
		this.reached = new Reached(next, pulled.atEnd(), pulled.nextEpochSecond());
		int done = (int) Math.min(this.skip, records.size());
		this.skip -= done;
		this.place = from.after(records.size(), next);
		return new Fetched(records.subList(done, records.size()), pause);
	}

	/** The reply names no place after its logs: they come again. */
	private Result stayed(List<SourceRecord> records) {
		this.reached = null;
		int done = (int) Math.min(this.skip, records.size());
		this.skip = Math.max(this.skip, records.size());
		return new Fetched(records.subList(done, records.size()), this.pollInterval);
	}

	private Result atEnd(SlsOffset.Place from, boolean readOnly) {
		this.reached = new Reached(from.cursor(), true, 0);
		if (this.skip > 0) {
			logger.warn("{}: its checkpoint {} is {} logs after the last one; continuing with the next log", this.shard,
					this.after, this.skip);
			this.skip = 0;
			// Logs that do not exist were counted.
			this.place = SlsOffset.Place.origin(from.cursor());
		}
		if (readOnly && this.client.end(this.shard).equals(from.cursor())) {
			return new Ended();
		}
		return new Fetched(List.of(), this.pollInterval);
	}

	/**
	 * Returns the time until a read is worth a request, if log groups arrive as they have
	 * since the shard was at its end before.
	 */
	private Duration pauseAtEnd(int count, Duration sinceLast) {
		boolean wasAtEnd = this.reached != null && this.reached.atEnd();
		if (count == 0 || !wasAtEnd) {
			return this.pollInterval;
		}
		Duration worth = sinceLast.multipliedBy(WORTH_A_REQUEST).dividedBy(count);
		return (worth.compareTo(this.pollInterval) < 0) ? worth : this.pollInterval;
	}

	/**
	 * The beginning moves when logs expire: the next owner could not count from the same
	 * log. The logs are read again, after the position.
	 */
	private Result foundBeginning(String cursor) {
		this.fromBeginning = false;
		this.place = SlsOffset.Place.origin(cursor);
		return new Moved(SlsOffset.before(cursor).toOffset(), null);
	}

	private List<SourceRecord> decode(SlsClient.Pulled pulled, SlsOffset.Place from) {
		try {
			return LogDecoder.decode(pulled, from, this.logstore.keyField());
		}
		catch (IllegalArgumentException ex) {
			throw SlsFailure.malformed("read %s at %s".formatted(this.shard, from.cursor()),
					String.valueOf(ex.getMessage()));
		}
	}

	private void adapt(SlsClient.Pulled pulled) {
		long bytes = pulled.logGroups().length;
		if (bytes > TARGET_BYTES) {
			this.count = (int) Math.max(1, this.count * (long) TARGET_BYTES / bytes);
		}
		else if (pulled.count() >= this.count && bytes < TARGET_BYTES / 2) {
			this.count = Math.min(this.maxCount, this.count * 2);
		}
	}

	private Result refusedCursor(SlsFailure refusal) {
		SlsOffset.Place from = this.place;
		if (this.fresh || from == null) {
			throw refusal;
		}
		return expired(from.cursor(), "SLS refuses its position: " + refusal.getMessage());
	}

	private Result expired(String from, String reason) {
		if (this.logstore.reset() == ResetPolicy.STOP) {
			return new Stopped(
					"%s: %s. It stands at %s and is not read, because the topic's 'reset' is 'stop'. Set its position"
						.formatted(this.shard, reason, position(from)));
		}
		boolean earliest = this.logstore.reset() == ResetPolicy.EARLIEST;
		String resumed = earliest ? this.client.begin(this.shard) : this.client.end(this.shard);
		String text = "%s: %s. It stood at %s, and resumes %s, at %s. SLS does not tell how many logs are lost"
			.formatted(this.shard, reason, position(from), earliest ? "at its first log" : "after its last log",
					resumed);
		this.place = SlsOffset.Place.origin(resumed);
		this.skip = 0;
		this.fromBeginning = false;
		this.fresh = true;
		return new Moved(SlsOffset.before(resumed).toOffset(), text);
	}

	private String position(String from) {
		return (this.place == null && this.after != null) ? this.after.value() : from;
	}

	/** A shard that is read-only is removed when its last log has expired. */
	private Result missing(SlsFailure refusal) {
		if (!this.lists.refresh(this.shard.topic(), Duration.ZERO).isGone(this.shard)) {
			throw refusal;
		}
		boolean hadPosition = this.place != null
				|| this.after != null && !this.after.equals(SlsOffset.BEGIN.toOffset());
		if (hadPosition && this.logstore.reset() == ResetPolicy.STOP) {
			return new Stopped(
					("%s does not exist any more: its logs have expired, perhaps before they were read. It is "
							+ "not completed, because the topic's 'reset' is 'stop'. Set its position to 'earliest'")
						.formatted(this.shard));
		}
		if (hadPosition) {
			logger.warn("{} does not exist any more: its logs have expired, perhaps before they were read. It ends",
					this.shard);
		}
		return new Ended();
	}

	/** Result of a read. */
	sealed interface Result {

	}

	/**
	 * Records, in order.
	 *
	 * @param records the records; may be empty
	 * @param pause the time until the next read
	 */
	record Fetched(List<SourceRecord> records, Duration pause) implements Result {

	}

	/**
	 * Logs are counted from another position: that of the first log, or that where
	 * reading resumes because the next logs do not exist any more.
	 *
	 * @param after the offset before the next record
	 * @param loss what may be lost; {@code null} if nothing is
	 */
	record Moved(Offset after, @Nullable String loss) implements Result {

	}

	/** The shard is closed, and its last record was read. */
	record Ended() implements Result {

	}

	/**
	 * The shard cannot be read until its position is set.
	 *
	 * @param problem the reason
	 */
	record Stopped(String problem) implements Result {

	}

	/**
	 * The read failed; it can be repeated.
	 *
	 * @param failure the reason
	 * @param pause the time until the next attempt
	 * @param visible whether it is a problem of the shard
	 */
	record Failed(SlsFailure failure, Duration pause, boolean visible) implements Result {

	}

	/**
	 * How far a shard is read. Immutable.
	 *
	 * @param cursor the cursor after the last log
	 * @param atEnd whether the shard had no more logs
	 * @param epochSecond the time of the cursor; 0 if it is not known
	 */
	record Reached(String cursor, boolean atEnd, long epochSecond) {

	}

}
