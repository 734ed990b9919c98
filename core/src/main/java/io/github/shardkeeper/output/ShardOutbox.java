package io.github.shardkeeper.output;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Outbox.Entry;
import io.github.shardkeeper.checkpoint.Outbox.Place;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Outbox of an owned shard. A record of a call gets its number when the call is done,
 * goes into the next commit, and is forwarded to its target by a {@link TargetQueue} once
 * that commit is answered. The next commit removes what was forwarded.
 * <p>
 * Calls in transactions of the application commit what they send themselves, one after
 * the other. Confined to the shard's worker, except for {@link #waiting()}, and for
 * {@link #prepareForCall}, {@link #writtenByCall} and {@link #notWrittenByCall}, which
 * belong to the call that has the turn to commit.
 */
public final class ShardOutbox implements CommitPart.Sized, CommitPart.Gate {

	private static final Logger logger = PrintableLogger.of(ShardOutbox.class);

	private final ShardId shard;

	private final String sender;

	private final Token token;

	private final OutputSettings outputs;

	private final Runnable wake;

	private final OutboxUsage usage;

	private final OutboxUsage.Share share;

	private final Map<ShardId, TargetQueue> targets = new LinkedHashMap<>();

	private final OutboxSequences numbers;

	/** Records for the next commit. */
	private final List<Entry> fresh = new ArrayList<>();

	private long freshBytes;

	/** Records in the commit that is under way. */
	private List<Entry> inCommit = List.of();

	private final OutboxExchange exchange = new OutboxExchange();

	private final TargetQueue.Sender own = new Own();

	/** Number and size of all records that are not forwarded. */
	private int waiting;

	private long waitingBytes;

	/** Since when the first record for a target is the first, {@code null} for none. */
	private @Nullable MonotonicTime waitingSince;

	/** Number of records in the store that are not read yet. */
	private long unread;

	private @Nullable Place lastRead;

	/** Era that a target has seen, if the store has lost writes of this shard since. */
	private @Nullable Long supersededBy;

	/** Whether the next commit replaces everything in the store. */
	private boolean replaces;

	/** Whether that is because of a new era: known to be true once it is written. */
	private boolean begunAnew;

	/** Whether there may be something to send; replies set it on their threads. */
	private volatile boolean attentionDue;

	/**
	 * Creates the outbox of a shard under a token.
	 * @param usage what waits in all outboxes of the topic
	 * @param wake wakes the worker after a reply
	 */
	public ShardOutbox(String group, ShardId shard, Token token, OutputSettings outputs, OutboxUsage usage,
			Runnable wake) {
		this.shard = shard;
		this.sender = group + "/" + shard;
		this.token = token;
		this.numbers = new OutboxSequences(token);
		this.outputs = outputs;
		this.wake = wake;
		this.usage = usage;
		this.share = usage.join(outputs);
	}

	/** Ends with the worker: what waits is that of the next owner. */
	public void close() {
		this.usage.leave(this.share);
	}

	/** Begins with what the store has, once the shard is acquired. */
	public void begin(Outbox stored) {
		this.numbers.begin(stored);
		this.unread = stored.entries();
	}

	/**
	 * Reads the records that earlier owners have left. Does nothing once they are read.
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; the next call continues
	 */
	public void load(CheckpointStore store) {
		while (this.unread > 0) {
			List<Entry> page = store.outbox(this.shard, this.lastRead, TargetQueue.MAX_RECORDS_PER_REQUEST,
					TargetQueue.MAX_BYTES_PER_REQUEST);
			for (Entry entry : page) {
				this.lastRead = entry.place();
				target(entry.target()).restore(entry);
				this.numbers.restore(entry);
				count(entry, 1);
			}
			this.unread = page.isEmpty() ? 0 : this.unread - page.size();
		}
		if (this.numbers.era() != 0) {
			publish();
		}
		if (!this.targets.isEmpty()) {
			this.attentionDue = true;
		}
	}

	/** Returns the approximate size in bytes, with one byte per character. */
	static long size(NewRecord prepared) {
		return new Entry(new Place(0, 0), 0, prepared.shard(), 0, prepared.key(), prepared.payload(),
				prepared.headers())
			.size();
	}

	/** Adds the records of a call that is done to the next commit. */
	public void add(List<NewRecord> records) {
		Outbox.Changes changes = this.numbers.following(records, List.of());
		this.numbers.count(changes);
		for (Entry entry : changes.added()) {
			addFresh(entry);
			count(entry, 1);
		}
	}

	/**
	 * Returns the changes for the transaction of a call, which has the turn to commit.
	 * Ends with {@link #writtenByCall} or {@link #notWrittenByCall} in the same turn.
	 * @param records what the call has sent
	 */
	public Outbox.Changes prepareForCall(List<NewRecord> records) {
		List<Place> removed = this.exchange.takeForwarded();
		return (records.isEmpty() && removed.isEmpty()) ? Outbox.Changes.NONE
				: this.numbers.following(records, removed);
	}

	/** Processes that the transaction of a call was committed. */
	public void writtenByCall(Outbox.Changes changes) {
		if (!changes.added().isEmpty()) {
			this.numbers.count(changes);
			this.exchange.written(changes.added());
			this.attentionDue = true;
		}
	}

	/** Processes that the transaction of a call was not committed. */
	public void notWrittenByCall(Outbox.Changes changes) {
		this.exchange.giveBack(changes.removed());
	}

	/** Takes over what calls have committed, in the order of their commits. */
	private void takeWritten() {
		for (Entry entry : this.exchange.takeWritten()) {
			target(entry.target()).add(entry);
			count(entry, 1);
		}
	}

	private void addFresh(Entry entry) {
		this.fresh.add(entry);
		this.freshBytes += entry.size();
	}

	private void count(Entry entry, int sign) {
		this.waiting += sign;
		this.waitingBytes += sign * entry.size();
		publish();
	}

	private void publish() {
		this.share.set(new OutboxUsage.Waiting(this.waiting, this.waitingBytes, this.waitingSince));
	}

	/**
	 * Returns what waits, also what is about to be committed; {@code null} if the shard
	 * has never sent anything, or its outbox is not read yet.
	 */
	public OutboxUsage.@Nullable Waiting waiting() {
		return this.share.known();
	}

	@Override
	public long bytes() {
		return this.freshBytes;
	}

	/** Returns whether nothing waits, neither to be committed nor to be forwarded. */
	@Override
	public boolean isEmpty() {
		return this.waiting == 0 && this.exchange.isEmpty() && !this.replaces;
	}

	/** Returns whether calls may be made before records were forwarded. */
	@Override
	public boolean permitsCalls() {
		return this.waiting < this.outputs.maxRecords() && this.waitingBytes < this.outputs.maxBytes();
	}

	@Override
	public Added addTo(Commit.Builder commit) {
		return add(commit, false);
	}

	@Override
	public Added addAllTo(Commit.Builder commit, Acquired stored) {
		return add(commit, true);
	}

	private Added add(Commit.Builder commit, boolean whole) {
		commit.outbox(prepare(whole));
		return new Added() {

			@Override
			public void committed() {
				ShardOutbox.this.committed();
			}

			@Override
			public void notCommitted() {
				ShardOutbox.this.notCommitted();
			}

		};
	}

	private Outbox.Changes prepare(boolean whole) {
		takeWritten();
		if (this.supersededBy != null && !isForwarding()) {
			beginAnew(this.supersededBy);
		}
		List<Place> removed = this.exchange.takeForwarded();
		boolean untouched = !whole && !this.replaces && this.fresh.isEmpty() && removed.isEmpty();
		if (untouched || this.numbers.era() == 0) {
			return Outbox.Changes.NONE;
		}
		boolean all = whole || this.replaces;
		List<Entry> waitingNow = all ? placeAnew() : List.of();
		this.inCommit = List.copyOf(this.fresh);
		List<Entry> added = this.inCommit;
		Map<ShardId, Long> changed = new LinkedHashMap<>();
		if (all) {
			added = new ArrayList<>(waitingNow);
			added.addAll(this.inCommit);
			changed.putAll(this.numbers.all());
		}
		else {
			added.forEach((entry) -> changed.put(entry.target(), entry.number()));
		}
		Outbox.Changes changes = new Outbox.Changes(this.numbers.era(), this.numbers.last(), changed, added,
				all ? List.of() : removed, all);
		this.fresh.clear();
		this.freshBytes = 0;
		this.replaces = false;
		return changes;
	}

	/**
	 * Gives all records new places, because the store accepts no lower ones than it has
	 * seen; returns those that are committed.
	 */
	private List<Entry> placeAnew() {
		List<Entry> before = committedInOrder();
		this.targets.values().forEach((target) -> target.clear());
		List<Entry> moved = before.stream().map((entry) -> entry.at(this.numbers.nextPlace())).toList();
		moved.forEach((entry) -> target(entry.target()).add(entry));
		this.fresh.replaceAll((entry) -> entry.at(this.numbers.nextPlace()));
		return moved;
	}

	private List<Entry> committedInOrder() {
		return this.targets.values()
			.stream()
			.flatMap((target) -> target.waiting().stream())
			.sorted(Comparator.comparing(Entry::place))
			.toList();
	}

	/** Processes that the commit was written: its records may be forwarded. */
	private void committed() {
		this.inCommit.forEach((entry) -> target(entry.target()).add(entry));
		if (!this.inCommit.isEmpty()) {
			this.attentionDue = true;
		}
		this.inCommit = List.of();
		if (this.begunAnew) {
			this.begunAnew = false;
			logger.error(
					"The store has lost commits of {}: records that it sent after them are in their targets, and may be there "
							+ "twice now. The numbers of its records begin again in era {}",
					this.shard, this.numbers.era());
		}
	}

	/** Processes that the commit was not written: its records go into the next one. */
	private void notCommitted() {
		List<Entry> later = List.copyOf(this.fresh);
		this.fresh.clear();
		this.freshBytes = 0;
		this.inCommit.forEach(this::addFresh);
		later.forEach(this::addFresh);
		this.inCommit = List.of();
	}

	private TargetQueue target(ShardId id) {
		return this.targets.computeIfAbsent(id, (target) -> new TargetQueue(target, this.own));
	}

	/**
	 * Processes replies, and sends what may be sent. Does not block.
	 * @return whether there is something to commit that was not there before
	 */
	public boolean forward(MonotonicTime now) {
		MonotonicTime next = nextAttempt();
		if (!this.attentionDue && (next == null || now.isBefore(next))) {
			return false;
		}
		this.attentionDue = false;
		takeWritten();
		long before = this.exchange.forwardedEver();
		for (TargetQueue target : this.targets.values()) {
			target.advance(now);
		}
		this.targets.values().removeIf(TargetQueue::isIdle);
		publishSince();
		return this.exchange.forwardedEver() > before || this.supersededBy != null && !isForwarding();
	}

	private void publishSince() {
		MonotonicTime since = null;
		for (TargetQueue target : this.targets.values()) {
			since = MonotonicTime.earliestOf(since, target.firstSince());
		}
		if (!Objects.equals(since, this.waitingSince)) {
			this.waitingSince = since;
			publish();
		}
	}

	/**
	 * Returns when a refused or unanswered request is to be repeated, {@code null} for
	 * none.
	 */
	public @Nullable MonotonicTime nextAttempt() {
		MonotonicTime next = null;
		if (isExclusive()) {
			return null;
		}
		for (TargetQueue target : this.targets.values()) {
			MonotonicTime at = target.nextAttempt();
			next = (next == null || at != null && at.isBefore(next)) ? at : next;
		}
		return next;
	}

	/** Returns whether records are on their way. */
	public boolean isForwarding() {
		return this.targets.values().stream().anyMatch(TargetQueue::isForwarding);
	}

	/**
	 * Returns whether nothing is forwarded before the next commit, which begins a new
	 * era.
	 */
	@Override
	public boolean isExclusive() {
		return this.supersededBy != null;
	}

	/** Returns why records are not forwarded, {@code null} if they are. */
	public @Nullable String problem() {
		for (TargetQueue target : this.targets.values()) {
			if (target.problem() != null) {
				return "%s records that it has sent cannot be appended to %s: %s".formatted(
						permitsCalls() ? "Continues, but" : "Takes no more records, because", target.id(),
						target.problem());
			}
		}
		return null;
	}

	/**
	 * Begins a new era with all records that wait: the store has lost commits after which
	 * records were forwarded, so their numbers were given twice.
	 */
	private void beginAnew(long above) {
		List<Entry> all = new ArrayList<>(committedInOrder());
		all.addAll(this.fresh);
		this.numbers.beginAnew(above);
		this.targets.clear();
		this.fresh.clear();
		this.freshBytes = 0;
		Outbox.Changes again = this.numbers.following(all.stream().map(TargetQueue::record).toList(), List.of());
		this.numbers.count(again);
		again.added().forEach(this::addFresh);
		this.exchange.takeForwarded();
		this.supersededBy = null;
		this.replaces = true;
		this.begunAnew = true;
	}

	/** This outbox, as the queues of its targets see it. */
	private final class Own implements TargetQueue.Sender {

		@Override
		public ShardId shard() {
			return ShardOutbox.this.shard;
		}

		@Override
		public String name() {
			return ShardOutbox.this.sender;
		}

		@Override
		public Token token() {
			return ShardOutbox.this.token;
		}

		@Override
		public SequencedAppender appender(String topic) {
			return ShardOutbox.this.outputs.targets().appender(topic);
		}

		@Override
		public void forwarded(Entry entry) {
			ShardOutbox.this.exchange.forwarded(entry.place());
			count(entry, -1);
		}

		@Override
		public void superseded(long era) {
			ShardOutbox.this.supersededBy = era;
		}

		@Override
		public boolean isSuperseded() {
			return ShardOutbox.this.supersededBy != null;
		}

		@Override
		public void replied() {
			ShardOutbox.this.attentionDue = true;
			ShardOutbox.this.wake.run();
		}

	}

}
