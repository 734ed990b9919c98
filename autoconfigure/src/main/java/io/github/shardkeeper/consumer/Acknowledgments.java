package io.github.shardkeeper.consumer;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.consumer.ConsumerSettings.CommitMode;

/**
 * What the application has acknowledged, from whatever thread, until the shard's worker
 * takes it in. Thread-safe.
 */
final class Acknowledgments {

	private final boolean wanted;

	private final Runnable wake;

	private final Queue<List<TrackedRecord>> said = new ConcurrentLinkedQueue<>();

	/**
	 * Creates it.
	 * @param wake wakes the worker
	 */
	Acknowledgments(ConsumerSettings settings, Runnable wake) {
		this.wanted = settings.commits().mode() == CommitMode.MANUAL;
		this.wake = wake;
	}

	/** Whether a record counts only once it was acknowledged. */
	boolean areWanted() {
		return this.wanted;
	}

	/** What a handler acknowledges a delivery with. */
	Acknowledgment of(Delivery delivery) {
		List<TrackedRecord> records = delivery.records();
		return () -> {
			this.said.add(records);
			this.wake.run();
		};
	}

	/** The next records that were acknowledged, {@code null} if there are none. */
	@Nullable List<TrackedRecord> next() {
		return this.said.poll();
	}

}
