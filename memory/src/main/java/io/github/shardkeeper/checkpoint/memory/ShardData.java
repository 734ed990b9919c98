package io.github.shardkeeper.checkpoint.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitBasis;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.CompletionReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.DueRecords;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitHistory;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.DeadLetterStore.Retention;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/** The durable part of one shard. Confined to the lock of the store. */
public final class ShardData {

	private static final Comparator<Waiting> ORDER = Comparator.comparingLong(Waiting::dueMillis)
		.thenComparing((waiting) -> waiting.record.offset().value());

	/** Sorted, because the order must be the same in every run of a simulation. */
	private final SortedMap<String, String> state = new TreeMap<>();

	private final Map<Offset, Waiting> retries = new HashMap<>();

	/** By number, in the order in which they were stored. */
	private final SortedMap<Long, FailedRecord> deadLetters = new TreeMap<>();

	/** Time at which each was stored, in milliseconds. */
	private final Map<Long, Long> deadLettersStored = new HashMap<>();

	private long lastDeadLetter;

	private Token fence = Token.NONE;

	private long lastCommit;

	/** The last commit before the fence was raised; {@code null} if it is not known. */
	private @Nullable LastCommit before;

	/** Time in milliseconds at which the fence was raised: identifies the acquisition. */
	private long acquired;

	/** Whether the owner reads entries of the state when it uses them. */
	private boolean readsOnUse;

	private @Nullable Offset offset;

	private Set<Offset> ahead = Set.of();

	private boolean completed;

	private Seeks seeks = Seeks.NONE;

	/** Sorted by place. */
	private final SortedMap<Outbox.Place, Outbox.Entry> sent = new TreeMap<>();

	private final SortedMap<ShardId, Long> sentNumbers = new TreeMap<>();

	private long sentEra;

	private Outbox.@Nullable Place lastSent;

	private final Timers timers = new Timers();

	ShardData() {
	}

	ShardData(ShardData other) {
		this.state.putAll(other.state);
		this.retries.putAll(other.retries);
		this.deadLetters.putAll(other.deadLetters);
		this.deadLettersStored.putAll(other.deadLettersStored);
		this.lastDeadLetter = other.lastDeadLetter;
		this.completed = other.completed;
		this.fence = other.fence;
		this.lastCommit = other.lastCommit;
		this.before = other.before;
		this.acquired = other.acquired;
		this.readsOnUse = other.readsOnUse;
		this.offset = other.offset;
		this.ahead = other.ahead;
		this.seeks = other.seeks;
		this.sent.putAll(other.sent);
		this.sentNumbers.putAll(other.sentNumbers);
		this.sentEra = other.sentEra;
		this.lastSent = other.lastSent;
		this.timers.putAll(other.timers);
	}

	boolean isFencedAgainst(Token token) {
		return this.fence.compareTo(token) > 0;
	}

	Token fence() {
		return this.fence;
	}

	void raiseFence(Token token, boolean ownerReadsOnUse, long nowMillis) {
		this.readsOnUse = ownerReadsOnUse;
		if (this.fence.compareTo(token) < 0) {
			this.before = new LastCommit(this.fence, this.lastCommit);
			this.fence = token;
			this.lastCommit = 0;
			this.acquired = nowMillis;
			this.completed = false;
		}
	}

	@Nullable Offset offset() {
		return this.offset;
	}

	CommitReply commit(Token token, Commit commit, long nowMillis) {
		if (this.fence.compareTo(token) < 0) {
			return CommitReply.GONE;
		}
		if (isFencedAgainst(token)) {
			return CommitReply.STALE;
		}
		if (!restsOn(commit.number().acquisition())) {
			return CommitReply.GONE;
		}
		if (commit.number().attempt() < this.lastCommit) {
			return CommitReply.STALE;
		}
		if (commit.number().attempt() == this.lastCommit) {
			return CommitReply.COMMITTED;
		}
		if (this.lastCommit < commit.number().acknowledged()) {
			return CommitReply.GONE;
		}
		if (this.readsOnUse && this.lastCommit > commit.number().acknowledged() && commit.number().acquisition() != 0) {
			// Of an earlier worker under the same token: this one may have read what it
			// has changed before, or after.
			return CommitReply.STALE;
		}
		if (commit.clearsState()) {
			this.state.clear();
			this.timers.clear();
		}
		this.lastCommit = commit.number().attempt();
		if (commit.offset() != null) {
			this.offset = commit.offset();
		}
		this.ahead = commit.ahead();
		commit.changes().forEach(this::change);
		commit.taken().forEach(this.retries::remove);
		commit.retries()
			.forEach((retry) -> this.retries.put(retry.record().offset(),
					new Waiting(retry.record(), nowMillis + retry.delay().toMillis())));
		commit.deadLetters().forEach((letter) -> {
			this.deadLetters.put(++this.lastDeadLetter, letter);
			this.deadLettersStored.put(this.lastDeadLetter, nowMillis);
		});
		if (commit.seek() != 0) {
			this.seeks = new Seeks(commit.seek(), this.seeks.pendingAfter(commit.seek()));
		}
		commit.timers().forEach(this.timers::change);
		change(commit.outbox());
		return CommitReply.COMMITTED;
	}

	private void change(Outbox.Changes changes) {
		if (changes.isEmpty()) {
			return;
		}
		if (changes.whole()) {
			this.sent.clear();
			this.sentNumbers.clear();
		}
		this.sentEra = changes.era();
		this.lastSent = changes.last();
		this.sentNumbers.putAll(changes.numbers());
		this.sent.keySet().removeAll(changes.removed());
		changes.added().forEach((entry) -> this.sent.put(entry.place(), entry));
	}

	Outbox outbox() {
		return new Outbox(this.sentEra, this.lastSent, this.sentNumbers, this.sent.size());
	}

	List<Outbox.Entry> outbox(Outbox.@Nullable Place after, int limit, long bytes) {
		List<Outbox.Entry> page = new ArrayList<>();
		long room = bytes;
		for (Outbox.Entry entry : this.sent.values()) {
			if (after != null && entry.place().compareTo(after) <= 0) {
				continue;
			}
			room -= entry.size();
			if (page.size() >= limit || !page.isEmpty() && room < 0) {
				break;
			}
			page.add(entry);
		}
		return page;
	}

	List<StoredTimer> timers(@Nullable StoredTimer after, int limit) {
		return this.timers.after(after, limit);
	}

	long countTimers() {
		return this.timers.size();
	}

	private void change(String key, @Nullable String value) {
		if (value != null) {
			this.state.put(key, value);
		}
		else {
			this.state.remove(key);
		}
	}

	Checkpoint toCheckpoint(long nowMillis) {
		return toCheckpoint(Collections.unmodifiableSortedMap(new TreeMap<>(this.state)), nowMillis);
	}

	/** Returns the checkpoint, with the state unless the owner reads it on use. */
	Checkpoint toAcquired(long nowMillis) {
		return this.readsOnUse ? toCheckpoint(Map.of(), nowMillis) : toCheckpoint(nowMillis);
	}

	private Checkpoint toCheckpoint(Map<String, String> entries, long nowMillis) {
		return new Checkpoint(this.offset, this.ahead, entries, due(0, 0, Set.of(), nowMillis).nextIn());
	}

	/** Returns the state, {@code null} if an owner's commits have not made it. */
	@Nullable SortedMap<String, String> state(CommitBasis basis) {
		return (this.fence.equals(basis.token()) && this.lastCommit >= basis.acknowledged()
				&& restsOn(basis.acquisition())) ? this.state : null;
	}

	public DueRecords due(int limit, long bytes, Set<Offset> except, long nowMillis) {
		List<FailedRecord> due = new ArrayList<>();
		long room = bytes;
		for (Waiting next : this.retries.values().stream().sorted(ORDER).toList()) {
			boolean wanted = !except.contains(next.record.offset());
			if (limit == 0 || next.dueMillis > nowMillis
					|| wanted && (due.size() == limit || !due.isEmpty() && next.record.size() > room)) {
				return new DueRecords(due, Duration.ofMillis(Math.max(0, next.dueMillis - nowMillis)));
			}
			if (wanted) {
				due.add(next.record);
				room -= next.record.size();
			}
		}
		return new DueRecords(due, null);
	}

	List<WaitingRecord> waiting(long nowMillis) {
		return this.retries.values()
			.stream()
			.sorted(ORDER)
			.map((waiting) -> WaitingRecord.of(waiting.record,
					Duration.ofMillis(Math.max(0, waiting.dueMillis - nowMillis))))
			.toList();
	}

	List<FailedRecord> retries(List<Offset> offsets, long bytes) {
		List<FailedRecord> found = new ArrayList<>();
		long room = bytes;
		for (Offset wanted : offsets) {
			Waiting waiting = this.retries.get(wanted);
			if (waiting == null) {
				continue;
			}
			if (!found.isEmpty() && waiting.record.size() > room) {
				break;
			}
			found.add(waiting.record);
			room -= waiting.record.size();
		}
		return found;
	}

	int changeWaiting(List<Offset> offsets, WaitingRecord.Change change, long nowMillis) {
		int changed = 0;
		for (Offset wanted : offsets) {
			Waiting waiting = this.retries.remove(wanted);
			if (waiting == null) {
				continue;
			}
			changed++;
			switch (change) {
				case RETRY_NOW -> this.retries.put(wanted, new Waiting(waiting.record, nowMillis));
				case SEND_BACK -> this.retries.put(wanted, new Waiting(waiting.record.withoutAttempts(), nowMillis));
				case DROP -> {
					// It is removed.
				}
			}
		}
		return changed;
	}

	CompletionReply complete(Token token, long acknowledged, long acquisition) {
		if (isFencedAgainst(token)) {
			return CompletionReply.STALE;
		}
		if (!this.fence.equals(token) || this.lastCommit < acknowledged || !restsOn(acquisition)) {
			return CompletionReply.GONE;
		}
		boolean pending = !this.retries.isEmpty() || this.timers.size() > 0 || this.seeks.pending() != null;
		this.completed = this.completed || !pending;
		return pending ? CompletionReply.PENDING : CompletionReply.COMPLETED;
	}

	/**
	 * {@return whether an acquisition still exists} If it is lost, a late repetition of
	 * it may have acquired the remaining data under the same token.
	 */
	private boolean restsOn(long acquisition) {
		return acquisition == 0 || acquisition == this.acquired;
	}

	long acquired() {
		return this.acquired;
	}

	long lastCommit() {
		return this.lastCommit;
	}

	@Nullable LastCommit before() {
		return this.before;
	}

	CommitHistory commits() {
		return new CommitHistory(this.offset, new LastCommit(this.fence, this.lastCommit), this.before);
	}

	Seeks seeks() {
		return this.seeks;
	}

	@Nullable SeekRequest seek(Offset after, boolean clearsState, long nowMillis) {
		if (this.completed) {
			return null;
		}
		SeekRequest request = new SeekRequest(this.seeks.nextNumber(nowMillis), after, clearsState);
		this.seeks = new Seeks(this.seeks.applied(), request);
		return request;
	}

	public boolean isCompleted() {
		return this.completed;
	}

	int retries() {
		return this.retries.size();
	}

	SortedMap<Long, FailedRecord> deadLetters() {
		return this.deadLetters;
	}

	/** Removes dead letters; returns how many there were. */
	int drop(Collection<Long> letters) {
		int before = this.deadLetters.size();
		this.deadLetters.keySet().removeAll(letters);
		this.deadLettersStored.keySet().retainAll(this.deadLetters.keySet());
		return before - this.deadLetters.size();
	}

	/** Removes the oldest dead letters that are too old or too many. */
	int expire(Retention retention, long nowMillis) {
		int before = this.deadLetters.size();
		if (retention.maxCount() != null) {
			while (this.deadLetters.size() > retention.maxCount()) {
				this.deadLetters.remove(this.deadLetters.firstKey());
			}
		}
		if (retention.maxAge() != null) {
			long oldest = nowMillis - retention.maxAge().toMillis();
			this.deadLetters.keySet().removeIf((letter) -> this.deadLettersStored.getOrDefault(letter, 0L) < oldest);
		}
		this.deadLettersStored.keySet().retainAll(this.deadLetters.keySet());
		return before - this.deadLetters.size();
	}

	/** Moves a dead letter into the retry queue; returns whether it existed. */
	boolean sendBack(long letter, long nowMillis) {
		FailedRecord record = this.deadLetters.remove(letter);
		this.deadLettersStored.remove(letter);
		if (record != null) {
			this.retries.put(record.offset(), new Waiting(record.withoutAttempts(), nowMillis));
		}
		return record != null;
	}

	private record Waiting(FailedRecord record, long dueMillis) {

	}

}
