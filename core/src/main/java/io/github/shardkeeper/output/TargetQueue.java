package io.github.shardkeeper.output;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.checkpoint.Outbox.Entry;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.SequencedAppender.Batch;
import io.github.shardkeeper.source.SequencedAppender.Reply;
import io.github.shardkeeper.source.SequencedAppender.Sequence;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Backoff;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Records of an outbox for one shard, which are forwarded in order, one request at a
 * time. A request without a reply is repeated before any later one is sent, so "all
 * before the first record are there" is true of every request, also of one that arrives
 * late. Confined to the worker of the shard that sends.
 */
final class TargetQueue {

	private static final Logger logger = PrintableLogger.of(TargetQueue.class);

	static final int MAX_RECORDS_PER_REQUEST = 500;

	/** Limit, because one script blocks the store; a single record may be larger. */
	static final long MAX_BYTES_PER_REQUEST = 1_000_000;

	private static final Duration FIRST_PAUSE = Duration.ofMillis(200);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

	private final ShardId id;

	private final Sender sender;

	/** Committed records, in the order of their numbers. */
	private final Deque<Entry> waiting = new ArrayDeque<>();

	/** Last record that earlier owners have left: they may have sent it. */
	private @Nullable Entry lastRestored;

	private @Nullable CompletableFuture<Reply> request;

	private int requested;

	/** Since when the first record that waits is the first. */
	private @Nullable MonotonicTime firstSince;

	/** Set after a failure. */
	private @Nullable MonotonicTime notBefore;

	private final Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);

	private @Nullable String problem;

	TargetQueue(ShardId id, Sender sender) {
		this.id = id;
		this.sender = sender;
	}

	ShardId id() {
		return this.id;
	}

	void restore(Entry entry) {
		this.waiting.add(entry);
		this.lastRestored = entry;
	}

	/** Adds a committed record. */
	void add(Entry entry) {
		this.waiting.add(entry);
	}

	/** Removes all records, to add them at other places. */
	void clear() {
		this.waiting.clear();
	}

	/** Returns the committed records, in the order of their numbers. */
	Collection<Entry> waiting() {
		return Collections.unmodifiableCollection(this.waiting);
	}

	/** Returns whether a request is on its way. */
	boolean isForwarding() {
		return this.request != null;
	}

	/** Returns since when its first record is the first, {@code null} for none. */
	@Nullable MonotonicTime firstSince() {
		return this.firstSince;
	}

	/** Returns when to repeat a request, {@code null} while one is on its way. */
	@Nullable MonotonicTime nextAttempt() {
		return (this.request == null) ? this.notBefore : null;
	}

	/** Returns why records are not forwarded, {@code null} if they are. */
	@Nullable String problem() {
		return this.problem;
	}

	boolean isIdle() {
		return this.waiting.isEmpty() && this.request == null;
	}

	void advance(MonotonicTime now) {
		while (true) {
			CompletableFuture<Reply> sent = this.request;
			if (sent != null) {
				if (!sent.isDone()) {
					return;
				}
				this.request = null;
				process(sent, now);
			}
			if (this.firstSince == null && !this.waiting.isEmpty()) {
				this.firstSince = now;
			}
			boolean pausing = this.notBefore != null && now.isBefore(this.notBefore);
			if (this.waiting.isEmpty() || pausing || this.sender.isSuperseded()) {
				return;
			}
			send(now);
		}
	}

	private void send(MonotonicTime now) {
		List<Entry> batch = batch();
		Entry first = batch.get(0);
		List<NewRecord> records = batch.stream().map(TargetQueue::record).toList();
		CompletableFuture<Reply> reply;
		try {
			reply = this.sender.appender(this.id.topic())
				.append(new Sequence(this.sender.name(), first.era(), this.sender.token().value()),
						new Batch(this.id, first.number(), lastPossible(first), committedUnder(first), records));
		}
		catch (Throwable ex) {
			// Errors, too: the shard handles its records meanwhile.
			failed(ex, now);
			return;
		}
		this.requested = batch.size();
		this.notBefore = null;
		this.request = reply;
		if (!reply.isDone()) {
			reply.whenComplete((forwarded, failure) -> this.sender.replied());
		}
	}

	/** Returns a record as it is appended. */
	static NewRecord record(Entry entry) {
		return new NewRecord(entry.target(), entry.key(), entry.payload(), entry.headers());
	}

	/**
	 * Returns the first records, which have consecutive numbers and were committed by one
	 * owner.
	 */
	private List<Entry> batch() {
		List<Entry> batch = new ArrayList<>();
		long bytes = 0;
		for (Entry entry : this.waiting) {
			Entry before = batch.isEmpty() ? null : batch.get(batch.size() - 1);
			boolean follows = before == null || entry.era() == before.era() && entry.number() == before.number() + 1
					&& committedUnder(entry) == committedUnder(before);
			bytes += entry.size();
			if (!follows || batch.size() >= MAX_RECORDS_PER_REQUEST
					|| before != null && bytes > MAX_BYTES_PER_REQUEST) {
				break;
			}
			batch.add(entry);
		}
		return batch;
	}

	private void process(CompletableFuture<Reply> answered, MonotonicTime now) {
		Reply reply;
		try {
			reply = answered.join();
		}
		catch (CompletionException ex) {
			failed(Objects.requireNonNullElse(ex.getCause(), ex), now);
			return;
		}
		if (reply instanceof Reply.Superseded superseded) {
			removeThoseBefore(superseded.era(), superseded.owner());
			this.sender.superseded(superseded.era());
			return;
		}
		for (int i = 0; i < this.requested; i++) {
			removeFirst();
		}
		if (this.problem != null) {
			logger.info("{}: records are appended to {} again", this.sender.shard(), this.id);
		}
		this.problem = null;
		this.backoff.reset();
	}

	/** Returns the highest number that the target may have from other owners. */
	private long lastPossible(Entry first) {
		Entry restored = this.lastRestored;
		long before = first.number() - 1;
		return (restored != null && restored.era() == first.era()) ? Math.max(before, restored.number()) : before;
	}

	/**
	 * Returns the token under which a record of an earlier owner was committed, 0 for one
	 * of this owner. After the store has lost commits, an owner gives numbers again: the
	 * target may have them from the one before, for other records.
	 */
	private long committedUnder(Entry entry) {
		long token = entry.place().token();
		return (token != this.sender.token().value()) ? token : 0;
	}

	/**
	 * Removes the records whose numbers were given before the store has lost commits: the
	 * target has higher ones of the same era, by an owner that had them.
	 */
	private void removeThoseBefore(long eraOfTarget, long ownerOfTarget) {
		Entry first = this.waiting.getFirst();
		long lastPossible = lastPossible(first);
		while (first != null && first.era() == eraOfTarget && first.number() <= lastPossible
				&& committedUnder(first) <= ownerOfTarget) {
			removeFirst();
			first = this.waiting.peek();
		}
	}

	private void removeFirst() {
		Entry entry = this.waiting.remove();
		this.firstSince = null;
		this.sender.forwarded(entry);
	}

	private void failed(Throwable failure, MonotonicTime now) {
		String reason = String.valueOf(failure.getMessage());
		if (!reason.equals(this.problem)) {
			logger.warn("{}: records cannot be appended to {}; retrying. {}", this.sender.shard(), this.id, reason);
		}
		this.problem = reason;
		this.notBefore = now.plus(this.backoff.next());
	}

	/** Outbox of the shard that sends. */
	interface Sender {

		ShardId shard();

		/** Returns the name under which targets know it. */
		String name();

		Token token();

		SequencedAppender appender(String topic);

		/** Processes that a record was forwarded, or need not be. */
		void forwarded(Entry entry);

		/** Processes that a target has seen a newer era of it. */
		void superseded(long era);

		/** Returns whether it is to begin a new era before anything is forwarded. */
		boolean isSuperseded();

		/** Processes a reply. On any thread. */
		void replied();

	}

}
