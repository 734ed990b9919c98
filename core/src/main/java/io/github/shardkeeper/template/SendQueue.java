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
 * Hands records to the appender, in their order, one call at a time. While little is
 * under way, whoever sends does that himself, at once. Otherwise a thread does, with
 * whatever comes together in a fraction of a millisecond. Thread-safe.
 */
public final class SendQueue {

	/** With fewer under way, a thread in between only costs time. */
	private static final int FEW = 32;

	private static final int MOST_PER_BATCH = 500;

	private static final int GOOD_BATCH = 100;

	/** Less than an answer takes when as much is under way. */
	private static final long GATHERING_NANOS = 300_000;

	/** Set while futures are completed: whoever they call must wait for nothing. */
	private static final ThreadLocal<Boolean> COMPLETING = new ThreadLocal<>();

	private final ShardAppender appender;

	private final SendWindow window;

	private final Executor sender;

	private final Queue<Sending> queue;

	/**
	 * In the queue, or in the hand of the one who sends. A record is counted just after
	 * it was added, so the queue may hold more for a moment.
	 */
	private final AtomicInteger unsent = new AtomicInteger();

	public SendQueue(ShardAppender appender, SendWindow window, Executor sender) {
		this(appender, window, sender, new ConcurrentLinkedQueue<>());
	}

	/**
	 * With a queue of the caller's.
	 * @param queue thread-safe and empty; adds all of a list, or nothing
	 */
	public SendQueue(ShardAppender appender, SendWindow window, Executor sender, Queue<Sending> queue) {
		this.appender = appender;
		this.window = window;
		this.sender = sender;
		this.queue = queue;
	}

	/** Whether this is a call out of a future that is being completed. */
	static boolean isCompleting() {
		return COMPLETING.get() != null;
	}

	public void send(List<Sending> sendings) {
		int count = sendings.size();
		if (this.window.underWay() < FEW + count && !isCompleting() && nothingWaits()
				&& this.unsent.compareAndSet(0, count)) {
			try {
				RuntimeException failure = append(sendings);
				if (failure != null) {
					sendings.forEach((sending) -> fail(sending, failure));
				}
			}
			finally {
				if (this.unsent.addAndGet(-count) != 0) {
					beginToSend();
				}
			}
			return;
		}
		this.queue.addAll(sendings);
		if (this.unsent.getAndAdd(count) == 0) {
			beginToSend();
		}
	}

	/**
	 * Whether nothing is queued, counted or not. What a thread has added and not counted
	 * yet is sent on the count of something behind it, which waits uncounted then: what
	 * comes from the same thread next must not overtake that.
	 */
	private boolean nothingWaits() {
		return this.queue.isEmpty();
	}

	/** What is queued is sent, or, where no thread can be had for that, refused. */
	private void beginToSend() {
		// An executor that throws may have kept the task all the same.
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
				refuseQueued(ex);
			}
		}
	}

	/**
	 * Like {@link #sendQueued} in what it takes. Whoever hears of it may send at once
	 * again, so it is told only when the next one finds nothing unsent.
	 */
	private void refuseQueued(Throwable cause) {
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

	/**
	 * Never runs twice at a time: only who finds, or leaves, nothing unsent begins it.
	 */
	private void sendQueued() {
		ArrayList<Sending> taken = new ArrayList<>(MOST_PER_BATCH);
		do {
			taken.clear();
			try {
				send(taken);
			}
			catch (Throwable ex) {
				// What comes later waits until these are counted out, for ever otherwise.
				failAll(taken, ex);
			}
		}
		while (this.unsent.addAndGet(-taken.size()) != 0);
	}

	/** Sends a batch; whatever it takes, which may be more, is in the list. */
	private void send(ArrayList<Sending> taken) {
		gather();
		// Not more than are counted: another one may have been added a moment ago.
		take(taken, Math.min(this.unsent.get(), MOST_PER_BATCH));
		int batch = taken.size();
		RuntimeException failure = append(taken);
		if (failure != null) {
			// Not one after the other: each would wait as long for a connection. They
			// are taken before anybody hears of it, who may send at once again.
			take(taken, this.unsent.get());
			taken.subList(0, batch).forEach((sending) -> fail(sending, failure));
			taken.subList(batch, taken.size())
				.forEach((sending) -> fail(sending,
						new SendFailedException("Not sent, because those before it could not be", null, false)));
		}
	}

	private void failAll(List<Sending> taken, Throwable cause) {
		for (Sending sending : taken) {
			try {
				fail(sending, new SendFailedException("It is unknown whether it was sent: " + cause, cause, true));
			}
			catch (Throwable ex) {
				// The others shall hear of it.
			}
		}
	}

	/** Records that go together cost a third of what they cost one by one. */
	private void gather() {
		if (this.unsent.get() < GOOD_BATCH && this.window.underWay() > FEW) {
			LockSupport.parkNanos(GATHERING_NANOS);
		}
	}

	/** Takes more, until it has so many. */
	private void take(ArrayList<Sending> taken, int most) {
		// First: whatever leaves the queue is in the list.
		taken.ensureCapacity(most);
		while (taken.size() < most) {
			Sending next = this.queue.poll();
			if (next == null) {
				break;
			}
			taken.add(next);
		}
	}

	/**
	 * What becomes of each, its future says; why none could be sent is returned, and told
	 * nobody yet.
	 */
	private @Nullable RuntimeException append(List<Sending> sendings) {
		List<CompletableFuture<Offset>> answers;
		try {
			List<NewRecord> records = new ArrayList<>(sendings.size());
			sendings.forEach((sending) -> records.add(sending.newRecord));
			answers = this.appender.append(records);
			if (answers.size() != sendings.size()) {
				throw new IllegalStateException(
						"It has answered %d futures for %d records".formatted(answers.size(), sendings.size()));
			}
		}
		catch (Throwable ex) {
			// An error, too: those that come later wait until these are counted out.
			return (ex instanceof SendFailedException failed) ? failed
					: new SendFailedException("The source cannot append: " + ex, ex, true);
		}
		for (int i = 0; i < answers.size(); i++) {
			Sending sending = sendings.get(i);
			answers.get(i).whenComplete((offset, failure) -> complete(sending, offset, failure));
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
		// First, so that who hears of it finds room.
		this.window.leave(sending.place);
		Boolean before = COMPLETING.get();
		COMPLETING.set(true);
		try {
			if (offset != null) {
				sending.appended.complete(new Appended(sending.newRecord.shard(), offset));
			}
			else {
				sending.appended.completeExceptionally(
						(failure != null) ? failure : new IllegalStateException("The source has told no offset"));
			}
		}
		finally {
			if (before == null) {
				COMPLETING.remove();
			}
			this.window.finish(sending.place);
		}
	}

	/** A record on its way. */
	public static final class Sending {

		private final NewRecord newRecord;

		private final Place place;

		private final CompletableFuture<Appended> appended = new CompletableFuture<>();

		private final AtomicBoolean completing = new AtomicBoolean();

		public Sending(NewRecord newRecord, Place place) {
			this.newRecord = newRecord;
			this.place = place;
		}

		public CompletableFuture<Appended> appended() {
			return this.appended;
		}

	}

}
