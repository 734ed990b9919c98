package io.github.shardkeeper.worker.call;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

/**
 * Deliveries of a shard that are taken up and not done; decides which one may be called
 * next. Confined to the shard's worker.
 */
public sealed interface DeliveryOrder {

	/** Creates an order; the share counts deliveries that are called out of order. */
	static DeliveryOrder of(ConsumerSettings settings, BufferBudget.Share share) {
		return (settings.ordering() == Ordering.SHARD) ? new Sequential() : new Concurrent(settings, share);
	}

	boolean hasRoom();

	void add(Delivery delivery);

	/** Returns the next delivery, which now counts as running; {@code null} for none. */
	@Nullable Delivery next(MonotonicTime now);

	/** Keeps the place of a delivery whose call has ended, for another call. */
	void retry(Delivery delivery);

	void remove(Delivery delivery);

	/**
	 * Removes a delivery that counts as running, and those that wait for it, except
	 * records of the retry queue.
	 * @return the removed deliveries, in order
	 */
	List<Delivery> withdraw(Delivery delivery);

	boolean isIdle();

	/** Returns when a waiting delivery is due next, {@code null} if none waits. */
	@Nullable MonotonicTime nextDue();

	boolean hasFailing();

	final class Sequential implements DeliveryOrder {

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
		public void retry(Delivery delivery) {
			this.running = false;
		}

		@Override
		public void remove(Delivery delivery) {
			this.running = false;
			this.only = null;
		}

		@Override
		public List<Delivery> withdraw(Delivery delivery) {
			remove(delivery);
			return List.of(delivery);
		}

		@Override
		public boolean isIdle() {
			return !this.running;
		}

		@Override
		public @Nullable MonotonicTime nextDue() {
			return (this.only != null && !this.running) ? this.only.notBefore() : null;
		}

		@Override
		public boolean hasFailing() {
			return this.only != null && this.only.failure() != null;
		}

	}

	/**
	 * Calls several deliveries at the same time, but only one of each key. Later
	 * deliveries of a key wait while an earlier one runs or waits for another attempt.
	 */
	final class Concurrent implements DeliveryOrder {

		private final ConsumerSettings settings;

		private final BufferBudget.Share share;

		/** Deliveries by key; the first of each queue runs, waits or is ready. */
		private final Map<Object, Deque<Delivery>> queues = new HashMap<>();

		private final Deque<Delivery> ready = new ArrayDeque<>();

		private final Queue<Delivery> waiting = new PriorityQueue<>(Comparator.comparing(Concurrent::due));

		private final Set<Delivery> failing = new LinkedHashSet<>();

		private int running;

		private long bytes;

		private Concurrent(ConsumerSettings settings, BufferBudget.Share share) {
			this.settings = settings;
			this.share = share;
		}

		/** Limits the number of bytes; the window limits the number of records. */
		@Override
		public boolean hasRoom() {
			return this.running < this.settings.concurrency() && this.bytes < this.settings.buffer().bytes();
		}

		@Override
		public void add(Delivery delivery) {
			this.bytes += delivery.bytes();
			this.share.take(delivery.taken(), delivery.bytes());
			Deque<Delivery> queue = this.queues.computeIfAbsent(queueKey(delivery), (key) -> new ArrayDeque<>(2));
			queue.add(delivery);
			if (queue.size() == 1) {
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
		public void retry(Delivery delivery) {
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
		public List<Delivery> withdraw(Delivery delivery) {
			Deque<Delivery> queue = this.queues.get(queueKey(delivery));
			List<Delivery> behind = (queue != null)
					? queue.stream().filter((next) -> next != delivery && !next.first().isOfQueue()).toList()
					: List.of();
			if (queue != null) {
				queue.removeAll(behind);
			}
			behind.forEach(this::giveBack);
			remove(delivery);
			List<Delivery> withdrawn = new ArrayList<>();
			withdrawn.add(delivery);
			withdrawn.addAll(behind);
			return withdrawn;
		}

		private void giveBack(Delivery delivery) {
			this.bytes -= delivery.bytes();
			this.share.giveBack(delivery.taken(), delivery.bytes());
		}

		@Override
		public void remove(Delivery delivery) {
			this.running--;
			giveBack(delivery);
			this.failing.remove(delivery);
			Object key = queueKey(delivery);
			Deque<Delivery> queue = this.queues.get(key);
			if (queue == null || queue.poll() != delivery) {
				throw new IllegalStateException("Not the first of its queue: the delivery " + delivery.where());
			}
			Delivery following = queue.peek();
			if (following != null) {
				this.ready.add(following);
			}
			else {
				this.queues.remove(key);
			}
		}

		@Override
		public boolean isIdle() {
			return this.running == 0;
		}

		@Override
		public @Nullable MonotonicTime nextDue() {
			return this.waiting.isEmpty() ? null : this.waiting.peek().notBefore();
		}

		@Override
		public boolean hasFailing() {
			return !this.failing.isEmpty();
		}

		/** Returns the delivery itself if it has no key, so that it waits for none. */
		private Object queueKey(Delivery delivery) {
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

}
