package io.github.shardkeeper.worker.shard;

import io.github.shardkeeper.output.OutboxUsage;
import io.github.shardkeeper.worker.record.BufferBudget;

/**
 * What waits in the shards of a topic that this instance consumes, as it changes.
 * Thread-safe.
 */
public final class TopicBacklog {

	private final BufferBudget.Usage buffered = new BufferBudget.Usage();

	private final ParkedTotals parked = new ParkedTotals();

	private final OutboxUsage outboxes = new OutboxUsage();

	TopicBacklog() {
	}

	/** Returns what is read ahead. */
	public BufferBudget.Usage buffered() {
		return this.buffered;
	}

	/** Returns what waits with {@code on-failure: park-key}. */
	public ParkedTotals parked() {
		return this.parked;
	}

	/** Returns what waits in the outboxes. */
	public OutboxUsage outboxes() {
		return this.outboxes;
	}

}
