package io.github.shardkeeper.output;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.checkpoint.CallScoped;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Records that one call sends. Confined to the call until it has ended.
 */
public final class OutputBuffer extends CallScoped implements ShardOutput {

	/** Redis passes no more on in a script. */
	private static final int MAX_HEADERS = 3_000;

	private final OutputTargets targets;

	private final List<NewRecord> records = new ArrayList<>();

	private long bytes;

	OutputBuffer(OutputTargets targets) {
		this.targets = targets;
	}

	@Override
	public void send(String topic, Outgoing record) {
		if (!isUsable()) {
			throw new IllegalStateException("ShardOutput may only be used inside the call that received it, on that "
					+ "call's thread: to send from elsewhere, use ShardTemplate");
		}
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(record, "record must not be null");
		// Interceptors may have changed it.
		NewRecord prepared = this.targets.prepare(topic, record);
		if (prepared.id() != null) {
			throw new IllegalArgumentException(
					"A record for '%s' has an id, but what a call sends is appended once without one: leave out withId(…), or send with ShardTemplate"
						.formatted(topic));
		}
		if (prepared.headers().size() > MAX_HEADERS) {
			throw new IllegalArgumentException("A record for '%s' has %,d headers, but may have %,d".formatted(topic,
					prepared.headers().size(), MAX_HEADERS));
		}
		this.bytes += ShardOutbox.size(prepared);
		if (this.records.size() >= OutputSettings.MAX_RECORDS_PER_CALL
				|| this.bytes > OutputSettings.MAX_BYTES_PER_CALL) {
			throw new IllegalArgumentException(
					("With this record for '%s' the call sends %,d records of %,d bytes, but may send %,d records of %,d "
							+ "bytes: send less in one call, or take fewer records at once with 'shardkeeper.consumer.batch-size'")
						.formatted(topic, this.records.size() + 1, this.bytes, OutputSettings.MAX_RECORDS_PER_CALL,
								OutputSettings.MAX_BYTES_PER_CALL));
		}
		this.records.add(prepared);
	}

	/** Returns the records, in the order in which they were sent. */
	public List<NewRecord> records() {
		return List.copyOf(this.records);
	}

	/** Returns an action that takes back what is sent from now on. */
	public Runnable savepoint() {
		int keptRecords = this.records.size();
		long keptBytes = this.bytes;
		return () -> {
			this.records.subList(Math.min(keptRecords, this.records.size()), this.records.size()).clear();
			this.bytes = Math.min(keptBytes, this.bytes);
		};
	}

}
