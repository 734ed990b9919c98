package io.github.shardkeeper.worker;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.util.backoff.BackOffExecution;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * One or more records that a handler gets in one call, and its failed calls so far.
 * Confined to the shard's worker.
 */
final class Delivery {

	private final List<TrackedRecord> records;

	private final @Nullable String key;

	private final long bytes;

	/** Whether its retries in place were made when it was part of a larger one. */
	private final boolean exhausted;

	private int calls;

	private @Nullable BackOffExecution backOff;

	/** Why the last call failed, and what it was; {@code null} if none did. */
	private @Nullable Throwable failure;

	private @Nullable MonotonicTime notBefore;

	/** Creates a delivery of one record that was not tried yet. */
	Delivery(TrackedRecord record) {
		this(alone(record), false);
	}

	/**
	 * Creates a delivery of several records that was not tried yet.
	 * @param records what is in it, not empty; belongs to the delivery from now on
	 */
	Delivery(List<TrackedRecord> records) {
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
		this.calls = records.get(0).earlierCalls();
	}

	private static List<TrackedRecord> alone(TrackedRecord record) {
		List<TrackedRecord> only = new ArrayList<>(1);
		only.add(record);
		return only;
	}

	/** Returns a delivery for each record, which is tried once more, alone. */
	List<Delivery> parts() {
		return split(true);
	}

	/** Returns a delivery for each record, as if they had never been together. */
	List<Delivery> single() {
		return split(false);
	}

	private List<Delivery> split(boolean triedTogether) {
		List<Delivery> parts = new ArrayList<>(this.records.size());
		for (TrackedRecord each : this.records) {
			Delivery part = new Delivery(alone(each), triedTogether);
			part.calls = this.calls;
			parts.add(part);
		}
		return parts;
	}

	/** Returns its records; those that are stored as failed may be removed. */
	List<TrackedRecord> records() {
		return this.records;
	}

	TrackedRecord first() {
		return this.records.get(0);
	}

	TrackedRecord last() {
		return this.records.get(this.records.size() - 1);
	}

	/** Returns the key of its first record. */
	@Nullable String key() {
		return this.key;
	}

	/** Returns how much its records take. */
	long bytes() {
		return this.bytes;
	}

	/** Notes that a call has thrown. */
	void failed(Throwable thrown) {
		this.failure = thrown;
		this.calls++;
	}

	/** Returns how often its handler was called and has thrown, under any owner. */
	int calls() {
		return this.calls;
	}

	@Nullable Throwable failure() {
		return this.failure;
	}

	/** Returns whether it is not tried again in place. */
	boolean isExhausted() {
		return this.exhausted || first().rounds() > 0;
	}

	/** Returns the pauses between its attempts; begun with the first. */
	BackOffExecution backOff(ConsumerSettings settings) {
		BackOffExecution begun = this.backOff;
		if (begun == null) {
			begun = settings.retry().getBackOff().start();
			this.backOff = begun;
		}
		return begun;
	}

	/** Delays the next attempt until a time. */
	void waitUntil(MonotonicTime time) {
		this.notBefore = time;
	}

	@Nullable MonotonicTime notBefore() {
		return this.notBefore;
	}

	boolean isDue(MonotonicTime now) {
		return this.notBefore == null || !now.isBefore(this.notBefore);
	}

	/** For messages. */
	String where() {
		return (this.records.size() == 1) ? "at offset " + first().offset()
				: "at offsets %s to %s".formatted(first().offset(), last().offset());
	}

}
