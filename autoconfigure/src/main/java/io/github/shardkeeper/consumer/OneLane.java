package io.github.shardkeeper.consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handover.MonotonicTime;

/**
 * One delivery after the other. Confined to the shard's worker.
 */
final class OneLane implements Lanes {

	private @Nullable Delivery only;

	private boolean running;

	@Override
	public boolean hasRoom() {
		return this.only == null;
	}

	@Override
	public void add(Delivery delivery) {
		this.only = delivery;
	}

	@Override
	public @Nullable Delivery next(MonotonicTime now) {
		Delivery waiting = this.only;
		if (waiting == null || this.running || !waiting.isDue(now)) {
			return null;
		}
		this.running = true;
		return waiting;
	}

	@Override
	public void again(Delivery delivery) {
		this.running = false;
	}

	@Override
	public void remove(Delivery delivery) {
		this.running = false;
		this.only = null;
	}

	@Override
	public boolean areQuiet() {
		return !this.running;
	}

	@Override
	public @Nullable MonotonicTime nextDue() {
		return (this.only != null && !this.running) ? this.only.notBefore() : null;
	}

	@Override
	public @Nullable Delivery failing() {
		return (this.only != null && this.only.failure() != null) ? this.only : null;
	}

}
