package io.github.shardkeeper.worker.call;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.util.backoff.BackOffExecution;

import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.ConsumerSettings;

/**
 * One or more records that a handler gets in one call, with the failed calls so far.
 * Confined to the shard's worker.
 */
public final class Delivery {

	private final List<TrackedRecord> records;

	private final @Nullable String key;

	private final long bytes;

	/** Number of records at first: those that are stored apart are taken out. */
	private final int taken;

	/** Whether it was retried in place as a part of a larger delivery. */
	private final boolean exhausted;

	private int calls;

	/** Number of calls in a row that gave way to other transactions. */
	private int conflicts;

	/** Number of calls in a row that lost their connections to the database. */
	private int lostConnections;

	private @Nullable BackOffExecution backOff;

	private @Nullable Throwable failure;

	private @Nullable MonotonicTime notBefore;

	public Delivery(TrackedRecord record) {
		this(alone(record), false);
	}

	/** Creates a delivery; it may change the list, which is not empty. */
	public Delivery(List<TrackedRecord> records) {
		this(records, false);
	}

	private Delivery(List<TrackedRecord> records, boolean exhausted) {
		this.records = records;
		this.exhausted = exhausted;
		this.key = records.get(0).source().key();
		long size = 0;
		for (TrackedRecord each : records) {
			size += each.source().size();
		}
		this.bytes = size;
		this.taken = records.size();
		this.calls = records.get(0).earlierCalls();
	}

	private static List<TrackedRecord> alone(TrackedRecord record) {
		List<TrackedRecord> only = new ArrayList<>(1);
		only.add(record);
		return only;
	}

	/** Returns a delivery for each record, without further retries in place. */
	public List<Delivery> parts() {
		return split(true);
	}

	/** Returns a delivery for each record, with all retries in place. */
	public List<Delivery> single() {
		return split(false);
	}

	private List<Delivery> split(boolean exhausted) {
		List<Delivery> parts = new ArrayList<>(this.records.size());
		for (TrackedRecord each : this.records) {
			Delivery part = new Delivery(alone(each), exhausted);
			part.calls = this.calls;
			parts.add(part);
		}
		return parts;
	}

	/** Returns its records; the caller may remove those that are done. */
	public List<TrackedRecord> records() {
		return this.records;
	}

	public TrackedRecord first() {
		return this.records.get(0);
	}

	public TrackedRecord last() {
		return this.records.get(this.records.size() - 1);
	}

	@Nullable String key() {
		return this.key;
	}

	/** Returns the number of records that it had at first. */
	int taken() {
		return this.taken;
	}

	long bytes() {
		return this.bytes;
	}

	public void failed(Throwable thrown) {
		this.failure = thrown;
		this.calls++;
		this.conflicts = 0;
		this.lostConnections = 0;
	}

	/**
	 * Counts a call that gave way to another transaction; returns how many did in a row.
	 */
	public int conflicted() {
		return ++this.conflicts;
	}

	/** Counts a call that lost its connection; returns how many did in a row. */
	public int lostConnection() {
		return ++this.lostConnections;
	}

	/** Returns the number of failed calls, including those of earlier owners. */
	public int calls() {
		return this.calls;
	}

	@Nullable Throwable failure() {
		return this.failure;
	}

	/** Returns whether it is not retried in place. */
	public boolean isExhausted() {
		return this.exhausted || first().rounds() > 0;
	}

	public BackOffExecution backOff(ConsumerSettings settings) {
		BackOffExecution begun = this.backOff;
		if (begun == null) {
			begun = settings.retry().getBackOff().start();
			this.backOff = begun;
		}
		return begun;
	}

	public void waitUntil(MonotonicTime time) {
		this.notBefore = time;
	}

	@Nullable MonotonicTime notBefore() {
		return this.notBefore;
	}

	boolean isDue(MonotonicTime now) {
		return this.notBefore == null || !now.isBefore(this.notBefore);
	}

	public String where() {
		return (this.records.size() == 1) ? "at offset " + first().offset()
				: "at offsets %s to %s".formatted(first().offset(), last().offset());
	}

}
