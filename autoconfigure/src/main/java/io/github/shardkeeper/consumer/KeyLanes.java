package io.github.shardkeeper.consumer;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.consumer.ConsumerSettings.Ordering;
import io.github.shardkeeper.handover.MonotonicTime;

/**
 * A lane for every key, or for every record: so many deliveries at a time, of one lane
 * only one. Those of a lane behind one that runs, or waits for another attempt, wait too.
 * Confined to the shard's worker.
 */
final class KeyLanes implements Lanes {

	private final ConsumerSettings settings;

	private final BufferShare share;

	/**
	 * The deliveries of each lane in their order; the first one runs, waits or is ready.
	 */
	private final Map<Object, Deque<Delivery>> lanes = new HashMap<>();

	private final Deque<Delivery> ready = new ArrayDeque<>();

	private final Queue<Delivery> waiting = new PriorityQueue<>(Comparator.comparing(KeyLanes::due));

	private final Set<Delivery> failing = new LinkedHashSet<>();

	private int running;

	private long bytes;

	KeyLanes(ConsumerSettings settings, BufferShare share) {
		this.settings = settings;
		this.share = share;
	}

	/** How many are taken up is bounded by the window, too; here it is how much. */
	@Override
	public boolean hasRoom() {
		return this.running < this.settings.concurrency() && this.bytes < this.settings.buffer().bytes();
	}

	@Override
	public void add(Delivery delivery) {
		this.bytes += delivery.bytes();
		this.share.take(delivery.bytes());
		Deque<Delivery> lane = this.lanes.computeIfAbsent(key(delivery), (key) -> new ArrayDeque<>(2));
		lane.add(delivery);
		if (lane.size() == 1) {
			this.ready.add(delivery);
		}
	}

	@Override
	public @Nullable Delivery next(MonotonicTime now) {
		while (!this.waiting.isEmpty() && this.waiting.peek().isDue(now)) {
			this.ready.addFirst(this.waiting.remove());
		}
		if (this.running >= this.settings.concurrency()) {
			return null;
		}
		Delivery next = this.ready.poll();
		if (next != null) {
			this.running++;
		}
		return next;
	}

	@Override
	public void again(Delivery delivery) {
		this.running--;
		if (delivery.failure() != null) {
			this.failing.add(delivery);
		}
		if (delivery.notBefore() != null) {
			this.waiting.add(delivery);
		}
		else {
			this.ready.addFirst(delivery);
		}
	}

	@Override
	public void remove(Delivery delivery) {
		this.running--;
		this.bytes -= delivery.bytes();
		this.share.giveBack(delivery.bytes());
		this.failing.remove(delivery);
		Object key = key(delivery);
		Deque<Delivery> lane = this.lanes.get(key);
		if (lane == null || lane.poll() != delivery) {
			throw new IllegalStateException("Not the first of its lane: the delivery " + delivery.where());
		}
		Delivery following = lane.peek();
		if (following != null) {
			this.ready.add(following);
		}
		else {
			this.lanes.remove(key);
		}
	}

	@Override
	public boolean areQuiet() {
		return this.running == 0;
	}

	@Override
	public @Nullable MonotonicTime nextDue() {
		return this.waiting.isEmpty() ? null : this.waiting.peek().notBefore();
	}

	@Override
	public @Nullable Delivery failing() {
		return this.failing.isEmpty() ? null : this.failing.iterator().next();
	}

	/** What shares a lane; a record without a key shares none. */
	private Object key(Delivery delivery) {
		String key = (this.settings.ordering() == Ordering.KEY) ? delivery.key() : null;
		return (key != null) ? key : delivery;
	}

	private static MonotonicTime due(Delivery delivery) {
		MonotonicTime due = delivery.notBefore();
		if (due == null) {
			throw new IllegalStateException("Waits for nothing: the delivery " + delivery.where());
		}
		return due;
	}

}
