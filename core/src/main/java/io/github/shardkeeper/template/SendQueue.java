package io.github.shardkeeper.template;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.template.SendWindow.Place;

/**
 * Queue of records that passes them to the appender in order, one call at a time: on the
 * calling thread while few are in flight, else in batches on the sender thread.
 * Thread-safe.
 */
final class SendQueue {

	/** Number of records in flight below which the sender thread only costs time. */
	private static final int FEW = 32;

	private static final int MOST_PER_BATCH = 500;

	private static final int GOOD_BATCH = 100;

	/** Shorter than a reply takes while so many records are in flight. */
	private static final long GATHERING_NANOS = 300_000;

	/** Set while this thread completes futures: their callbacks must not wait. */
	private static final ThreadLocal<Boolean> COMPLETING = new ThreadLocal<>();

	private final ShardAppender appender;

	private final SendWindow window;

	private final Executor sender;

	private final Queue<Sending> queue;

	/** Queued or taken, not sent. Counted after adding: the queue may hold more. */
	private final AtomicInteger unsent = new AtomicInteger();

	SendQueue(ShardAppender appender, SendWindow window, Executor sender) {
		this(appender, window, sender, new ConcurrentLinkedQueue<>());
	}

	/** For tests; {@code queue} is thread-safe and adds all of a list or none. */
	SendQueue(ShardAppender appender, SendWindow window, Executor sender, Queue<Sending> queue) {
		this.appender = appender;
		this.window = window;
		this.sender = sender;
		this.queue = queue;
	}

	static boolean isCompleting() {
		return COMPLETING.get() != null;
	}

	void send(List<Sending> sendings) {
		int count = sendings.size();
		if (this.window.inFlight() < FEW + count && !isCompleting() && isQueueEmpty()
				&& this.unsent.compareAndSet(0, count)) {
			try {
				RuntimeException failure = append(sendings);
				if (failure != null) {
					sendings.forEach((sending) -> fail(sending, failure));
				}
			}
			finally {
				if (this.unsent.addAndGet(-count) != 0) {
					startSending();
				}
			}
			return;
		}
		this.queue.addAll(sendings);
		if (this.unsent.getAndAdd(count) == 0) {
			startSending();
		}
	}

	/**
	 * Returns whether the queue is empty, including records that are not counted yet: one
	 * may be sent on the count of a later one, which then stays while the count is 0; the
	 * next record of that thread must not overtake it.
	 */
	private boolean isQueueEmpty() {
		return this.queue.isEmpty();
	}

	private void startSending() {
		// An executor that throws may still run the task.
		AtomicBoolean begun = new AtomicBoolean();
		try {
			this.sender.execute(() -> {
				if (begun.compareAndSet(false, true)) {
					sendQueued();
				}
			});
		}
		catch (Throwable ex) {
			if (begun.compareAndSet(false, true)) {
				failQueued(ex);
			}
		}
	}

	/** Completes futures only when nothing is unsent: a callback may send again. */
	private void failQueued(Throwable cause) {
		List<Sending> refused = new ArrayList<>();
		int left = this.unsent.get();
		while (left > 0) {
			ArrayList<Sending> taken = new ArrayList<>();
			take(taken, left);
			refused.addAll(taken);
			left = this.unsent.addAndGet(-taken.size());
		}
		SendFailedException failure = new SendFailedException("Not sent: no thread is available: " + cause, cause,
				false);
		refused.forEach((sending) -> fail(sending, failure));
	}

	/** Never runs concurrently: it starts only when {@code unsent} leaves 0. */
	private void sendQueued() {
		ArrayList<Sending> taken = new ArrayList<>(MOST_PER_BATCH);
		do {
			taken.clear();
			try {
				send(taken);
			}
			catch (Throwable ex) {
				// They must still be counted out, or later records would wait forever.
				failAll(taken, ex);
			}
		}
		while (this.unsent.addAndGet(-taken.size()) != 0);
	}

	/** The list holds all records taken, which may be more than were sent. */
	private void send(ArrayList<Sending> taken) {
		gather();
		// Only counted records: another one may just have been added.
		take(taken, Math.min(this.unsent.get(), MOST_PER_BATCH));
		int batch = taken.size();
		RuntimeException failure = append(taken);
		if (failure != null) {
			// All queued records fail now: each would wait as long for a connection.
			// They are taken before a future completes, because callbacks may send again.
			take(taken, this.unsent.get());
			taken.subList(0, batch).forEach((sending) -> fail(sending, failure));
			taken.subList(batch, taken.size())
				.forEach((sending) -> fail(sending, new SendFailedException(
						"Not sent, because the records before it could not be sent", null, false)));
		}
	}

	private void failAll(List<Sending> taken, Throwable cause) {
		for (Sending sending : taken) {
			try {
				fail(sending, new SendFailedException("It is unknown whether it was sent: " + cause, cause, true));
			}
			catch (Throwable ex) {
				// A callback has failed; the other futures must complete too.
			}
		}
	}

	/** Waits for more records: in a batch each costs a third of one sent alone. */
	private void gather() {
		if (this.unsent.get() < GOOD_BATCH && this.window.inFlight() > FEW) {
			LockSupport.parkNanos(GATHERING_NANOS);
		}
	}

	private void take(ArrayList<Sending> taken, int most) {
		// Before taking: a record that has left the queue must be in the list.
		taken.ensureCapacity(most);
		while (taken.size() < most) {
			Sending next = this.queue.poll();
			if (next == null) {
				break;
			}
			taken.add(next);
		}
	}

	/** Returns the failure if none could be sent; no future is completed then. */
	private @Nullable RuntimeException append(List<Sending> sendings) {
		List<CompletableFuture<Offset>> replies;
		try {
			List<NewRecord> records = new ArrayList<>(sendings.size());
			sendings.forEach((sending) -> records.add(sending.newRecord));
			replies = this.appender.append(records);
			if (replies.size() != sendings.size()) {
				throw new IllegalStateException(
						"It has returned %d futures for %d records".formatted(replies.size(), sendings.size()));
			}
		}
		catch (Throwable ex) {
			// Also errors: the records must be counted out, or later ones would wait.
			return (ex instanceof SendFailedException failed) ? failed
					: new SendFailedException("The source cannot append: " + ex, ex, true);
		}
		for (int i = 0; i < replies.size(); i++) {
			Sending sending = sendings.get(i);
			replies.get(i).whenComplete((offset, failure) -> complete(sending, offset, failure));
		}
		return null;
	}

	private void fail(Sending sending, RuntimeException failure) {
		complete(sending, null, failure);
	}

	private void complete(Sending sending, @Nullable Offset offset, @Nullable Throwable failure) {
		if (!sending.completing.compareAndSet(false, true)) {
			return;
		}
		// Before completing the future, so that its callbacks find room.
		this.window.leave(sending.place);
		Boolean before = COMPLETING.get();
		COMPLETING.set(true);
		try {
			if (offset != null) {
				sending.appended.complete(new Appended(sending.newRecord.shard(), offset));
			}
			else {
				sending.appended.completeExceptionally(
						(failure != null) ? failure : new IllegalStateException("The source has returned no offset"));
			}
		}
		finally {
			if (before == null) {
				COMPLETING.remove();
			}
			this.window.finish(sending.place);
		}
	}

	static final class Sending {

		private final NewRecord newRecord;

		private final Place place;

		private final CompletableFuture<Appended> appended = new CompletableFuture<>();

		private final AtomicBoolean completing = new AtomicBoolean();

		Sending(NewRecord newRecord, Place place) {
			this.newRecord = newRecord;
			this.place = place;
		}

		CompletableFuture<Appended> appended() {
			return this.appended;
		}

	}

}
