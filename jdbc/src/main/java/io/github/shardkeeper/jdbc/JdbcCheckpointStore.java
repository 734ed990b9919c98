package io.github.shardkeeper.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.CarriedCheckpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.CommitHistory;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Checkpoints in the application's database.
 * <p>
 * <b>The fence.</b> An old owner's transaction may be open when a new owner acquires the
 * shard: <pre>
 * update … set token = 8 where token &lt; 8    waits for a transaction that has written the row
 * commit                                    from now on no commit under 7 finds its row
 * select …                                  a new transaction: it sees the last one under 7
 * </pre> So each transaction of an earlier owner either ended before the new one reads,
 * or is rolled back. That needs no isolation above READ COMMITTED; above it, the database
 * refuses the earlier owner's update instead of finding no row.
 * <p>
 * Thread-safe. Acquisitions and commits run on threads of the store, because JDBC blocks.
 */
final class JdbcCheckpointStore implements CheckpointStore {

	private static final Logger logger = PrintableLogger.of(JdbcCheckpointStore.class);

	private static final int THREADS = 8;

	private static final int CONSISTENT_READS = 3;

	private final JdbcDataPlane database;

	private final StoreTransactions steps;

	private final CheckpointTable shards;

	private final ShardDataTables contents;

	private final OutboxTables outbox;

	private final CallTransactions transactions;

	private final @Nullable CheckpointStore earlier;

	/** {@code null} if there is no store that shards come from. */
	private final @Nullable TakeOver takeOver;

	private final ThreadPoolExecutor executor;

	JdbcCheckpointStore(JdbcDataPlane database, @Nullable CheckpointStore earlier) {
		this.database = database;
		this.steps = database.steps();
		this.shards = database.shards();
		this.contents = database.contents();
		this.outbox = database.outbox();
		this.transactions = new JdbcTransactions(database);
		this.earlier = earlier;
		this.takeOver = (earlier != null) ? new TakeOver(database, earlier) : null;
		AtomicInteger number = new AtomicInteger();
		this.executor = new ThreadPoolExecutor(THREADS, THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
				(task) -> {
					Thread thread = new Thread(task, "shardkeeper-jdbc-" + number.incrementAndGet());
					thread.setDaemon(true);
					return thread;
				});
		this.executor.allowCoreThreadTimeOut(true);
	}

	@Override
	public CallTransactions transactions(String topic) {
		return this.transactions;
	}

	private <T> CompletableFuture<T> onOwnThread(Supplier<T> step) {
		try {
			return CompletableFuture.supplyAsync(step, (Executor) this.executor);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			return CompletableFuture
				.failedFuture(new StoreUnavailableException("No thread for the database is available: " + ex, ex));
		}
	}

	@Override
	public CompletableFuture<Acquisition> acquire(ShardId shard, Token token) {
		return onOwnThread(() -> acquireHere(shard, token, this.contents::state));
	}

	@Override
	public boolean readsStateOnUse(String topic) {
		return true;
	}

	@Override
	public CompletableFuture<Acquisition> acquireWithoutState(ShardId shard, Token token) {
		return onOwnThread(() -> acquireHere(shard, token, (unread) -> Map.of()));
	}

	private Acquisition acquireHere(ShardId shard, Token token, Function<ShardId, Map<String, String>> state) {
		Acquisition.@Nullable Refused refused = (this.takeOver != null) ? this.takeOver.complete(shard, token) : null;
		return (refused != null) ? refused : raiseAndRead(shard, token, state);
	}

	private Acquisition raiseAndRead(ShardId shard, Token token, Function<ShardId, Map<String, String>> state) {
		String what = "acquire " + shard;
		boolean raised = this.steps.run(what, () -> this.shards.raise(shard, token, this.database.clock().millis()));
		if (!raised) {
			Optional<ShardRow> row = this.steps.run(what, () -> {
				// Waits for a transaction under the same token whose end had no reply.
				this.shards.lock(shard, token);
				return Optional.ofNullable(this.shards.read(shard));
			});
			if (row.isEmpty()) {
				if (this.takeOver != null) {
					throw CarriedCheckpoint.lost(shard);
				}
				insert(shard);
				return raiseAndRead(shard, token, state);
			}
		}
		boolean mayHaveSent = this.outbox.exist();
		// In another transaction: its snapshot is newer than the fence.
		return this.steps.run(what, () -> {
			ShardRow row = Objects.requireNonNull(this.shards.read(shard));
			return !row.token().equals(token) ? new Acquisition.Refused(row.token())
					: new Acquisition.Acquired(checkpoint(shard, row, state.apply(shard)), row.seeks(),
							row.lastCommit(), row.before(), row.acquired(),
							mayHaveSent ? this.outbox.read(shard) : Outbox.EMPTY);
		});
	}

	private Checkpoint checkpoint(ShardId shard, ShardRow row, Map<String, String> state) {
		Long first = this.contents.firstRetry(shard);
		return new Checkpoint(row.offset(), row.ahead(), state,
				(first != null) ? Duration.ofMillis(Math.max(0, first - this.database.clock().millis())) : null);
	}

	private void insert(ShardId shard) {
		try {
			this.steps.run("add the row of " + shard, () -> {
				this.shards.insert(shard, this.contents.lastLetter(shard));
				return true;
			});
		}
		catch (StoreUnavailableException ex) {
			if (!(ex.getCause() instanceof DuplicateKeyException)) {
				throw ex;
			}
			// Another instance was first.
		}
	}

	/** Only for a shard whose contents are carried over into the group's store. */
	@Override
	public boolean leave(ShardId shard, Token token, @Nullable Token there, boolean consumedThere, long sought) {
		boolean mayHaveSent = this.outbox.exist();
		return this.steps.run("remove " + shard, () -> {
			ShardRow row = this.shards.lock(shard) ? this.shards.read(shard) : null;
			if (row == null) {
				return true;
			}
			if (there != null || !row.token().equals(token) || row.seeks().pendingAfter(sought) != null) {
				return false;
			}
			this.contents.deleteCheckpoint(shard);
			if (mayHaveSent) {
				this.outbox.delete(shard);
			}
			this.shards.delete(shard);
			return true;
		});
	}

	@Override
	public CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit) {
		return onOwnThread(() -> this.steps.run("commit " + shard, () -> commitHere(shard, token, commit)));
	}

	private CommitReply commitHere(ShardId shard, Token token, Commit commit) {
		ShardRow row = this.shards.lock(shard) ? this.shards.read(shard) : null;
		if (row == null || row.token().compareTo(token) < 0) {
			return CommitReply.GONE;
		}
		if (!row.token().equals(token)) {
			return CommitReply.STALE;
		}
		CommitNumber number = commit.number();
		if (!restsOn(row, number.acquisition())) {
			return CommitReply.GONE;
		}
		if (number.attempt() <= row.lastCommit()) {
			return (number.attempt() == row.lastCommit()) ? CommitReply.COMMITTED : CommitReply.STALE;
		}
		if (row.lastCommit() < number.acknowledged()) {
			return CommitReply.GONE;
		}
		boolean counts = !commit.outbox().added().isEmpty();
		if (row.lastCommit() > number.acknowledged() && (counts || number.acquisition() != 0)) {
			// Of an earlier worker under the same token: this one does not know it, nor
			// the numbers that it has given.
			return CommitReply.STALE;
		}
		long nowMillis = this.database.clock().millis();
		this.shards.write(shard, row, commit, nowMillis);
		this.contents.write(shard, commit, row.lastLetter(), nowMillis);
		this.outbox.write(shard, commit.outbox());
		return CommitReply.COMMITTED;
	}

	private static boolean restsOn(ShardRow row, long acquisition) {
		return acquisition == 0 || acquisition == row.acquired();
	}

	@Override
	public DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except) {
		return this.steps.run("read the retry queue of " + shard,
				() -> this.contents.due(shard, limit, bytes, except, this.database.clock().millis()));
	}

	@Override
	public boolean listsWaiting(String topic) {
		return true;
	}

	@Override
	public void waiting(ShardId shard, Consumer<WaitingRecord> consumer) {
		this.steps.run("list the retry queue of " + shard, () -> {
			this.contents.waiting(shard, this.database.clock().millis(), consumer);
			return true;
		});
	}

	@Override
	public List<FailedRecord> retries(ShardId shard, List<Offset> offsets, long bytes) {
		return this.steps.run("read the retry queue of " + shard, () -> this.contents.retries(shard, offsets, bytes));
	}

	@Override
	public int changeWaiting(ShardId shard, List<Offset> offsets, WaitingRecord.Change change) {
		return this.steps.run("change the retry queue of " + shard, () -> this.shards.lock(shard)
				? this.contents.changeWaiting(shard, offsets, change, this.database.clock().millis()) : 0);
	}

	@Override
	public CompletionReply complete(ShardId shard, Token token, long acknowledged, long acquisition) {
		return this.steps.run("complete " + shard, () -> {
			ShardRow row = this.shards.lock(shard) ? this.shards.read(shard) : null;
			if (row != null && row.token().compareTo(token) > 0) {
				return CompletionReply.STALE;
			}
			if (row == null || !row.token().equals(token) || row.lastCommit() < acknowledged
					|| !restsOn(row, acquisition)) {
				return CompletionReply.GONE;
			}
			if (row.completed()) {
				return CompletionReply.COMPLETED;
			}
			if (row.seeks().pending() != null || this.contents.countRetries(shard) > 0
					|| this.contents.countTimers(shard) > 0) {
				return CompletionReply.PENDING;
			}
			this.shards.complete(shard);
			return CompletionReply.COMPLETED;
		});
	}

	@Override
	public Checkpoint read(ShardId shard) {
		return readHere(shard)
			.orElseGet(() -> (this.earlier != null) ? this.earlier.read(shard) : new Checkpoint(null, Map.of()));
	}

	private Optional<Checkpoint> readHere(ShardId shard) {
		return this.steps.run("read " + shard, () -> {
			for (int reads = 1;; reads++) {
				if (reads == CONSISTENT_READS) {
					this.shards.lock(shard);
				}
				ShardRow before = this.shards.read(shard);
				if (before == null) {
					return Optional.empty();
				}
				Checkpoint checkpoint = checkpoint(shard, before, this.contents.state(shard));
				if (reads == CONSISTENT_READS || before.equals(this.shards.read(shard))) {
					return Optional.of(checkpoint);
				}
			}
		});
	}

	@Override
	public Map<String, String> stateEntries(ShardId shard, Collection<String> keys) {
		Optional<Map<String, String>> here = this.steps.run("read the state of " + shard,
				() -> Optional.ofNullable(this.shards.read(shard)).map((row) -> this.contents.state(shard, keys)));
		return here.orElseGet(() -> (this.earlier != null) ? this.earlier.stateEntries(shard, keys) : Map.of());
	}

	@Override
	public @Nullable Map<String, String> ownedEntries(ShardId shard, CommitBasis basis, Collection<String> keys) {
		return owned(shard, basis, () -> this.contents.state(shard, keys));
	}

	@Override
	public @Nullable Set<String> ownedKeys(ShardId shard, CommitBasis basis, String prefix, long nowMillis) {
		return owned(shard, basis, () -> this.contents.stateKeys(shard, prefix, nowMillis));
	}

	@Override
	public @Nullable ExpiredKeys expiredKeys(ShardId shard, CommitBasis basis, @Nullable String after, long nowMillis) {
		return owned(shard, basis, () -> this.contents.expiredKeys(shard, after, nowMillis));
	}

	/** In a call its commit finds out whether the state was lost. */
	private <T> @Nullable T owned(ShardId shard, CommitBasis basis, Supplier<T> read) {
		if (this.steps.isInCall()) {
			return read.get();
		}
		return this.steps.<Optional<T>>run("read the state of " + shard, () -> {
			ShardRow row = this.shards.read(shard);
			return (row == null || !row.token().equals(basis.token()) || row.lastCommit() < basis.acknowledged()
					|| !restsOn(row, basis.acquisition())) ? Optional.empty() : Optional.of(read.get());
		}).orElse(null);
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
		Map<ShardId, ShardRow> rows = this.steps.run("read offsets", () -> this.shards.readAll(shards));
		Map<ShardId, Offset> offsets = new HashMap<>(notTakenOver(shards, rows, CheckpointStore::offsets));
		rows.forEach((shard, row) -> {
			if (row.offset() != null) {
				offsets.put(shard, row.offset());
			}
		});
		return offsets;
	}

	/** Reads something of the shards that have no row yet, where they are. */
	private <T> Map<ShardId, T> notTakenOver(Collection<ShardId> shards, Map<ShardId, ShardRow> rows,
			BiFunction<CheckpointStore, Collection<ShardId>, Map<ShardId, T>> read) {
		List<ShardId> others = (this.earlier != null)
				? shards.stream().filter((shard) -> !rows.containsKey(shard)).toList() : List.of();
		return (this.earlier != null && !others.isEmpty()) ? read.apply(this.earlier, others) : Map.of();
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards,
			BiConsumer<ShardId, StoreUnavailableException> unreadable) {
		try {
			return offsets(shards);
		}
		catch (StoreUnavailableException ex) {
			shards.forEach((shard) -> unreadable.accept(shard, ex));
			return Map.of();
		}
	}

	@Override
	public Long countStateEntries(ShardId shard) {
		return this.steps.run("count the state of " + shard, () -> this.contents.countState(shard));
	}

	@Override
	public CommitHistory commits(ShardId shard) {
		return history(
				this.steps.run("read " + shard, () -> Optional.ofNullable(this.shards.read(shard))).orElse(null));
	}

	@Override
	public Map<ShardId, CommitHistory> commits(Collection<ShardId> shards) {
		Map<ShardId, ShardRow> rows = this.steps.run("read the commits of shards", () -> this.shards.readAll(shards));
		Map<ShardId, CommitHistory> histories = new HashMap<>();
		shards.forEach((shard) -> histories.put(shard, history(rows.get(shard))));
		return histories;
	}

	private static CommitHistory history(@Nullable ShardRow row) {
		return (row != null)
				? new CommitHistory(row.offset(), new LastCommit(row.token(), row.lastCommit()),
						row.token().equals(Token.NONE) ? null : row.before())
				: new CommitHistory(null, LastCommit.NONE, null);
	}

	@Override
	public @Nullable SeekRequest seek(ShardId shard, Offset after, boolean clearsState) {
		if (this.takeOver != null && this.earlier != null && !this.takeOver.isHere(shard, clearsState)) {
			// Is carried out when the shard is taken over.
			return this.earlier.seek(shard, after, clearsState);
		}
		if (!this.steps.run("seek " + shard, () -> this.shards.lock(shard))) {
			insert(shard);
		}
		return this.steps.<Optional<SeekRequest>>run("seek " + shard, () -> {
			ShardRow row = this.shards.lock(shard) ? this.shards.read(shard) : null;
			if (row == null || row.completed()) {
				return Optional.empty();
			}
			SeekRequest request = new SeekRequest(row.seeks().nextNumber(this.database.clock().millis()), after,
					clearsState);
			this.shards.write(shard, new Seeks(row.seeks().applied(), request));
			return Optional.of(request);
		}).orElse(null);
	}

	@Override
	public Map<ShardId, Seeks> seeks(Collection<ShardId> shards) {
		Map<ShardId, ShardRow> rows = this.steps.run("read seeks", () -> this.shards.readAll(shards));
		Map<ShardId, Seeks> seeks = new HashMap<>(notTakenOver(shards, rows, CheckpointStore::seeks));
		rows.forEach((shard, row) -> seeks.put(shard, row.seeks()));
		shards.forEach((shard) -> seeks.putIfAbsent(shard, Seeks.NONE));
		return seeks;
	}

	@Override
	public Instant consumedSince(String topic, @Nullable Instant known) {
		Instant earliest = (known != null || this.earlier == null) ? known : this.earlier.consumedSince(topic);
		try {
			return this.steps.run("read since when '%s' is consumed".formatted(topic),
					() -> consumedSinceHere(topic, earliest));
		}
		catch (StoreUnavailableException ex) {
			if (!(ex.getCause() instanceof DuplicateKeyException)) {
				throw ex;
			}
			// Another instance was first.
			return consumedSince(topic, known);
		}
	}

	private Instant consumedSinceHere(String topic, @Nullable Instant known) {
		JdbcTemplate jdbc = this.steps.jdbc();
		String table = this.database.topics();
		String group = this.database.group();
		List<Long> stored = jdbc.queryForList(
				"select consumed_since from %s where group_name = ? and topic = ?".formatted(table), Long.class, group,
				topic);
		Instant wanted = (known != null) ? known : this.database.clock().instant().truncatedTo(ChronoUnit.MILLIS);
		if (stored.isEmpty()) {
			jdbc.update("insert into %s (group_name, topic, consumed_since) values (?, ?, ?)".formatted(table), group,
					topic, wanted.toEpochMilli());
			return wanted;
		}
		Instant since = Instant.ofEpochMilli(stored.get(0));
		if (known != null && known.isBefore(since)) {
			jdbc.update("update %s set consumed_since = ? where group_name = ? and topic = ? and consumed_since > ?"
				.formatted(table), known.toEpochMilli(), group, topic, known.toEpochMilli());
			return known;
		}
		return since;
	}

	@Override
	public Removal remove(String topic, Token newest) {
		boolean mayHaveSent = this.outbox.exist();
		SortedSet<ShardId> removed = new TreeSet<>();
		SortedSet<ShardId> kept = new TreeSet<>();
		for (ShardId shard : this.steps.run("find the shards of '%s'".formatted(topic),
				() -> this.shards.shards(topic))) {
			boolean isRemoved = this.steps.run("remove " + shard, () -> {
				ShardRow row = this.shards.lock(shard) ? this.shards.read(shard) : null;
				if (row != null && row.token().compareTo(newest) > 0) {
					return false;
				}
				this.contents.delete(shard);
				if (mayHaveSent) {
					this.outbox.delete(shard);
				}
				this.shards.delete(shard);
				return true;
			});
			(isRemoved ? removed : kept).add(shard);
		}
		if (kept.isEmpty()) {
			this.steps.run("remove '%s'".formatted(topic),
					() -> this.steps.jdbc()
						.update("delete from %s where group_name = ? and topic = ?".formatted(this.database.topics()),
								this.database.group(), topic));
		}
		return new Removal(removed, kept);
	}

	/**
	 * Checks that the tables exist: every handler that needs them asks first.
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if one is
	 * missing
	 */
	@Override
	public boolean keepsOutboxes(String topic) {
		try {
			this.outbox.require(topic);
		}
		catch (StoreUnavailableException ex) {
			logger.warn("The tables for what handlers of '{}' send cannot be checked yet. {}", topic, ex.getMessage());
		}
		return true;
	}

	@Override
	public List<Outbox.Entry> outbox(ShardId shard, Outbox.@Nullable Place after, int limit, long bytes) {
		return this.steps.run("read the outbox of " + shard, () -> this.outbox.read(shard, after, limit, bytes));
	}

	@Override
	public @Nullable Long countOutbox(ShardId shard) {
		if (!this.outbox.exist()) {
			return null;
		}
		Outbox found = this.steps.run("count the outbox of " + shard, () -> this.outbox.read(shard));
		return (found.era() != 0) ? found.entries() : null;
	}

	@Override
	public boolean keepsTimers(String topic) {
		return true;
	}

	@Override
	public List<StoredTimer> timers(ShardId shard, @Nullable StoredTimer after, int limit) {
		return this.steps.run("read the timers of " + shard, () -> this.contents.timers(shard, after, limit));
	}

	@Override
	public Long countTimers(ShardId shard) {
		return this.steps.run("count the timers of " + shard, () -> this.contents.countTimers(shard));
	}

	@Override
	public void close() {
		this.executor.shutdown();
	}

}
