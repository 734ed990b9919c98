package io.github.shardkeeper.redis.checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CarriedCheckpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitHistory;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Replies;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.ReplicatedLink;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableLogger;

import static io.github.shardkeeper.redis.checkpoint.CheckpointFormat.bytes;
import static io.github.shardkeeper.redis.checkpoint.CheckpointFormat.text;

/**
 * Data plane of one group on Redis, under the keys of {@link ShardKeys}. Each script is
 * one atomic step; a large state is read in several. Payloads stay the same bytes.
 * Thread-safe.
 */
public final class RedisCheckpointStore implements CheckpointStore {

	private static final Logger logger = PrintableLogger.of(RedisCheckpointStore.class);

	/** Keys and fields are text, values and arguments are bytes. */
	static final RedisCodec<String, byte[]> CODEC = RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);

	private static final byte[] NOTHING = {};

	private static final byte[] READS = bytes("reads");

	private static final byte[] WRITES_BACK = bytes("writes back");

	private static final byte[] CARRIES_BACK = bytes("carries back");

	private static final byte[] STATE = bytes("state");

	private static final byte[] NO_STATE = bytes("no state");

	private static final int READING_ATTEMPTS = 3;

	private static final Pattern BEFORE = Pattern.compile("(\\d{1,18}) (\\d{1,18}) (\\d{1,18})");

	private static final int REMOVED_AT_ONCE = 500;

	private static final int SCANNED_AT_ONCE = 1000;

	private static final int CHANGED_AT_ONCE = 100;

	private static final int TIMER_BYTES_AT_ONCE = 1_000_000;

	private final RedisLink<byte[]> link;

	/** Shards that come back wait for their pages, which the link's threads read. */
	private final Executor carrying = RedisConnector.threads("shardkeeper-carrying");

	private final ReplicatedLink<byte[]> fences;

	private final DataScripts scripts;

	private final ShardKeys keys;

	private final OwnedState owned;

	/** Returns whether the checkpoints of a topic belong here, not into a database. */
	private volatile Predicate<String> here = (topic) -> true;

	private volatile Supplier<@Nullable CheckpointStore> database = () -> null;

	/** Creates a store that waits for no replicas; connects when it is first used. */
	public RedisCheckpointStore(RedisConnector connector, String keyPrefix, String group, Duration timeout) {
		this(connector, keyPrefix, group, timeout, ReplicaWait.NONE);
	}

	/**
	 * Creates a store; connects when it is first used.
	 * @param wait wait for replicas after a new fence, before its owner consumes
	 */
	public RedisCheckpointStore(RedisConnector connector, String keyPrefix, String group, Duration timeout,
			ReplicaWait wait) {
		this(connector, keyPrefix, group, timeout, wait, DataScripts.STANDARD);
	}

	RedisCheckpointStore(RedisConnector connector, String keyPrefix, String group, Duration timeout, ReplicaWait wait,
			DataScripts scripts) {
		this.scripts = scripts;
		this.link = connector.dataLink(timeout);
		this.fences = new ReplicatedLink<>(connector, this.link, timeout, wait);
		this.keys = new ShardKeys(keyPrefix, group);
		this.owned = new OwnedState(this.link, scripts, this.keys);
	}

	/**
	 * Sets the database from which a shard comes back that was consumed in its
	 * transactions before. Without it, such a shard is refused.
	 * @param here returns whether the checkpoints of a topic belong into this store now
	 * @param database returns the checkpoints in the database, as they are, {@code null}
	 * if there is none; called each time, and may throw what they throw
	 */
	public void carryBackFrom(Predicate<String> here, Supplier<@Nullable CheckpointStore> database) {
		this.here = here;
		this.database = database;
	}

	@Override
	public CompletableFuture<Acquisition> acquire(ShardId shard, Token token) {
		return acquire(shard, token, READS, STATE, 1);
	}

	@Override
	public boolean readsStateOnUse(String topic) {
		return true;
	}

	@Override
	public CompletableFuture<Acquisition> acquireWithoutState(ShardId shard, Token token) {
		return acquire(shard, token, READS, NO_STATE, 1);
	}

	@Override
	public Acquisition acquireToWriteBack(ShardId shard, Token token) {
		return Replies.await(acquire(shard, token, WRITES_BACK, STATE, 1));
	}

	private CompletableFuture<Acquisition> acquire(ShardId shard, Token token, byte[] purpose, byte[] state,
			int attempt) {
		CompletableFuture<List<Object>> acquired = this.fences.send(this.scripts.acquireShard(), this.keys.all(shard),
				List.of(bytes(token.toString()), purpose, state));
		return acquired.thenCompose((reply) -> {
			if (text(reply.get(0)).equals("REFUSED")) {
				return CompletableFuture
					.completedFuture(new Acquisition.Refused(new Token(Long.parseLong(text(reply.get(1))))));
			}
			if (text(reply.get(0)).equals("HERE")) {
				// Another call was first: it must not be overwritten.
				return CompletableFuture.failedFuture(CarriedCheckpoint.interrupted(shard));
			}
			if (text(reply.get(0)).equals("ELSEWHERE")) {
				return CompletableFuture.supplyAsync(() -> carryBack(shard, token, state), this.carrying);
			}
			return readRemaining(shard, reply.subList(1, reply.size()))
				.thenCompose((checkpoint) -> acquired(shard, token, purpose, state, attempt, reply, checkpoint));
		});
	}

	private CompletableFuture<Acquisition> acquired(ShardId shard, Token token, byte[] purpose, byte[] state,
			int attempt, List<Object> reply, Optional<Checkpoint> checkpoint) {
		if (checkpoint.isPresent()) {
			return CompletableFuture.completedFuture(new Acquisition.Acquired(checkpoint.get(),
					CheckpointFormat.seeks((byte[]) reply.get(9), (byte[]) reply.get(10)),
					Long.parseLong(text(reply.get(2))), before(text(reply.get(11)), token),
					Long.parseLong(text(reply.get(12))),
					CheckpointFormat.outbox((List<?>) reply.get(13), Long.parseLong(text(reply.get(14))))));
		}
		if (attempt < READING_ATTEMPTS) {
			// A newer owner has it, or there was a failover: acquire again. Not on the
			// connection's thread, because it waits for replicas.
			return CompletableFuture
				.supplyAsync(() -> acquire(shard, token, purpose, state, attempt + 1), this.link.background())
				.thenCompose(Function.identity());
		}
		String problem = "the state of " + shard + " did not stay the same while it was read";
		return CompletableFuture
			.failedFuture(new StoreUnavailableException("Redis: " + problem, new RedisException(problem)));
	}

	/**
	 * Acquires a shard whose checkpoint is in the database, and carries it over. It
	 * counts here once it is written; what is left in the database then has the same
	 * token as here or a lower one, and is ignored.
	 */
	private Acquisition carryBack(ShardId shard, Token token, byte[] state) {
		CheckpointStore source = databaseOf(shard);
		if (source == null) {
			throw elsewhere(shard);
		}
		CarriedCheckpoint.requireAny(source, shard);
		Acquisition there = source.acquireNow(shard, token);
		if (!(there instanceof Acquisition.Acquired found)) {
			return there;
		}
		CarriedCheckpoint carried = CarriedCheckpoint.of(source, shard, found,
				CarriedCheckpoint.Direction.OUT_OF_DATABASE);
		Acquisition reply = Replies.await(acquire(shard, token, CARRIES_BACK, STATE, 1));
		if (!(reply instanceof Acquisition.Acquired before)) {
			return reply;
		}
		if (Replies.await(commit(shard, token, carried.replacing(before))) != CommitReply.COMMITTED) {
			throw CarriedCheckpoint.interrupted(shard);
		}
		if (!source.leave(shard, token, null, false, carried.sought())) {
			requestAgain(source, shard, token);
		}
		String summary = carried.summary(shard);
		if (summary != null) {
			logger.info(summary);
		}
		return Replies.await(acquire(shard, token, READS, state, 1));
	}

	/** For a seek that came while the shard was carried over. */
	private void requestAgain(CheckpointStore source, ShardId shard, Token token) {
		SeekRequest later = source.seeks(List.of(shard)).getOrDefault(shard, Seeks.NONE).pending();
		if (later != null) {
			seek(shard, later.after(), later.clearsState());
			source.leave(shard, token, null, false, later.number());
		}
	}

	/** Returns the database that a shard comes back from, {@code null} for none. */
	private @Nullable CheckpointStore databaseOf(ShardId shard) {
		if (!this.here.test(shard.topic())) {
			// It was carried over into the database since the caller has asked.
			throw CarriedCheckpoint.interrupted(shard);
		}
		return this.database.get();
	}

	private StoreUnavailableException elsewhere(ShardId shard) {
		return new StoreUnavailableException(
				"%s was consumed with 'consumer.transaction: jdbc', and its checkpoint is in the application's database; the one in Redis, at offset %s, is from before. So the shard is not consumed. Set the transaction of its topic to 'jdbc' again; or add 'shardkeeper-jdbc' and the DataSource to the application, and the checkpoint is carried back; or give it up with ShardPositions.reset, or clearState of the endpoint: then the shard begins with an empty state where you say, and what waits in the database to be sent or retried is not handled"
					.formatted(shard, offsets(List.of(shard)).get(shard)),
				null, true);
	}

	@Override
	public boolean leave(ShardId shard, Token token, @Nullable Token there, boolean consumedThere, long sought) {
		return this.fences.<Long>run(this.scripts.leaveShard(), this.keys.all(shard), List.of(bytes(token.toString()),
				bytes((there != null) ? there.toString() : ""), bytes(sought), bytes(consumedThere ? "1" : "0"))) == 1;
	}

	private CompletableFuture<Optional<Checkpoint>> readRemaining(ShardId shard, List<?> beginning) {
		return new PagedCheckpoint(beginning).readRemaining(this.link, this.scripts.readStatePage(),
				this.keys.all(shard));
	}

	@Override
	public CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit) {
		return this.link.<byte[]>send(this.scripts.commit(), this.keys.all(shard), CommitArguments.of(token, commit))
			.thenApply((reply) -> CommitReply.valueOf(text(reply)));
	}

	@Override
	public DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except) {
		List<byte[]> arguments = new ArrayList<>(2 + except.size());
		arguments.add(bytes(limit));
		arguments.add(bytes(bytes));
		except.forEach((offset) -> arguments.add(bytes(offset.value())));
		List<Object> reply = this.link.run(this.scripts.readDueRetries(), this.keys.all(shard), arguments);
		List<FailedRecord> records = new ArrayList<>();
		for (int i = 1; i < reply.size(); i += 2) {
			records.add(CheckpointFormat.failedRecord(new Offset(text(reply.get(i))), (byte[]) reply.get(i + 1)));
		}
		return new DueRecords(records, millis(text(reply.get(0))));
	}

	@Override
	public boolean listsWaiting(String topic) {
		return true;
	}

	@Override
	public void waiting(ShardId shard, Consumer<WaitingRecord> consumer) {
		for (int attempt = 1; attempt <= READING_ATTEMPTS; attempt++) {
			if (readWaiting(shard, consumer)) {
				return;
			}
		}
		String problem = "the retry queue of " + shard + " did not stay the same while it was read";
		throw new StoreUnavailableException("Redis: " + problem, new RedisException(problem));
	}

	/**
	 * Reads the retry queue once, and returns whether no record is missing: others may
	 * add and remove some meanwhile, and a cursor may become invalid.
	 */
	private boolean readWaiting(ShardId shard, Consumer<WaitingRecord> consumer) {
		Set<Offset> different = new HashSet<>();
		String cursor = "0";
		long atFirst = -1;
		while (true) {
			List<byte[]> part = this.link.run(this.scripts.listWaiting(), this.keys.all(shard), List.of(bytes(cursor)));
			atFirst = (atFirst < 0) ? number(part.get(1)) : atFirst;
			for (int i = 2; i < part.size(); i += 4) {
				Offset offset = new Offset(text(part.get(i)));
				different.add(offset);
				if (part.get(i + 2).length > 0) {
					consumer.accept(CheckpointFormat.waiting(offset, Duration.ofMillis(number(part.get(i + 1))),
							part.get(i + 2), number(part.get(i + 3))));
				}
			}
			cursor = text(part.get(0));
			if (cursor.equals("0")) {
				// Fewer only if a cursor was invalid, or if more were removed than added.
				return different.size() >= Math.min(atFirst, number(part.get(1)));
			}
		}
	}

	private static long number(byte[] text) {
		return Long.parseLong(text(text));
	}

	@Override
	public List<FailedRecord> retries(ShardId shard, List<Offset> offsets, long bytes) {
		List<byte[]> arguments = new ArrayList<>(1 + offsets.size());
		arguments.add(bytes(bytes));
		offsets.forEach((offset) -> arguments.add(bytes(offset.value())));
		List<byte[]> reply = this.link.run(this.scripts.readRetries(), this.keys.all(shard), arguments);
		List<FailedRecord> records = new ArrayList<>(reply.size() / 2);
		for (int i = 0; i < reply.size(); i += 2) {
			records.add(CheckpointFormat.failedRecord(new Offset(text(reply.get(i))), reply.get(i + 1)));
		}
		return records;
	}

	@Override
	public int changeWaiting(ShardId shard, List<Offset> offsets, WaitingRecord.Change change) {
		int changed = 0;
		for (int from = 0; from < offsets.size(); from += CHANGED_AT_ONCE) {
			List<byte[]> arguments = new ArrayList<>();
			arguments.add(bytes(change.name()));
			offsets.subList(from, Math.min(from + CHANGED_AT_ONCE, offsets.size()))
				.forEach((offset) -> arguments.add(bytes(offset.value())));
			changed += this.link.<Long>run(this.scripts.changeWaiting(), this.keys.all(shard), arguments).intValue();
		}
		return changed;
	}

	@Override
	public CompletionReply complete(ShardId shard, Token token, long acknowledged, long acquisition) {
		return CompletionReply.valueOf(text(this.fences.<byte[]>run(this.scripts.completeShard(), this.keys.all(shard),
				List.of(bytes(token.toString()), bytes(acknowledged), bytes(acquisition)))));
	}

	@Override
	public Checkpoint read(ShardId shard) {
		for (int attempt = 1;; attempt++) {
			// By page fails while an owner commits faster than pages are read.
			String how = (attempt < READING_ATTEMPTS) ? "by page" : "whole";
			List<Object> beginning = this.link.run(this.scripts.readCheckpoint(), this.keys.all(shard),
					List.of(bytes(how)));
			Optional<Checkpoint> checkpoint = Replies.await(readRemaining(shard, beginning));
			if (checkpoint.isPresent()) {
				return checkpoint.get();
			}
		}
	}

	@Override
	public Map<String, String> stateEntries(ShardId shard, Collection<String> keys) {
		Map<String, String> entries = new HashMap<>();
		if (!keys.isEmpty()) {
			for (KeyValue<String, byte[]> entry : this.link
				.call((commands) -> commands.hmget(this.keys.state(shard), keys.toArray(String[]::new)))) {
				if (entry.hasValue()) {
					entries.put(entry.getKey(), text(entry.getValue()));
				}
			}
		}
		return entries;
	}

	@Override
	public @Nullable Map<String, String> ownedEntries(ShardId shard, CommitBasis basis, Collection<String> entries) {
		return this.owned.entries(shard, basis, List.copyOf(entries));
	}

	@Override
	public @Nullable Set<String> ownedKeys(ShardId shard, CommitBasis basis, String prefix, long nowMillis) {
		return this.owned.keys(shard, basis, prefix, nowMillis);
	}

	@Override
	public @Nullable ExpiredKeys expiredKeys(ShardId shard, CommitBasis basis, @Nullable String after, long nowMillis) {
		return this.owned.expired(shard, basis, after, nowMillis);
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
		return offsets(shards, (shard, failure) -> {
			throw failure;
		});
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards,
			BiConsumer<ShardId, StoreUnavailableException> unreadable) {
		List<ShardId> order = List.copyOf(shards);
		List<AsyncCommand<String, byte[], byte[]>> reads = new ArrayList<>();
		order.forEach((shard) -> reads.add(new AsyncCommand<>(new Command<>(CommandType.HGET, new ValueOutput<>(CODEC),
				new CommandArgs<>(CODEC).addKey(this.keys.checkpoint(shard)).add("offset")))));
		List<byte @Nullable []> offsets = this.link.callEach(reads,
				(place, failure) -> unreadable.accept(order.get(place), failure));
		Map<ShardId, Offset> result = new HashMap<>();
		int i = 0;
		for (ShardId shard : order) {
			byte @Nullable [] found = offsets.get(i++);
			if (found != null) {
				result.put(shard, new Offset(text(found)));
			}
		}
		return result;
	}

	@Override
	public Long countStateEntries(ShardId shard) {
		return this.link.call((commands) -> commands.hlen(this.keys.state(shard)));
	}

	@Override
	public CommitHistory commits(ShardId shard) {
		List<KeyValue<String, byte[]>> fields = this.link
			.call((commands) -> commands.hmget(this.keys.checkpoint(shard), "offset", "fence", "commit", "before"));
		String offset = text(fields.get(0).getValueOrElse(NOTHING));
		Token fence = new Token(number("fence", fields.get(1)));
		return new CommitHistory(offset.isEmpty() ? null : new Offset(offset),
				new LastCommit(fence, number("commit", fields.get(2))),
				before(text(fields.get(3).getValueOrElse(NOTHING)), fence));
	}

	private static long number(String name, KeyValue<String, byte[]> field) {
		return CheckpointFormat.number(name, text(field.getValueOrElse(NOTHING)));
	}

	/**
	 * Returns the last commit before a fence; {@code null} if the field belongs to
	 * another fence.
	 */
	private static @Nullable LastCommit before(String field, Token fence) {
		Matcher parts = BEFORE.matcher(field);
		return (parts.matches() && parts.group(1).equals(fence.toString()))
				? new LastCommit(new Token(Long.parseLong(parts.group(2))), Long.parseLong(parts.group(3))) : null;
	}

	@Override
	public @Nullable SeekRequest seek(ShardId shard, Offset after, boolean clearsState) {
		byte[] number = requestSeek(shard, after, clearsState, false);
		if (text(number).equals("ELSEWHERE")) {
			CheckpointStore there = databaseOf(shard);
			if (there != null) {
				return there.seek(shard, after, clearsState);
			}
			if (!clearsState) {
				throw elsewhere(shard);
			}
			number = requestSeek(shard, after, true, true);
		}
		return (number.length > 0) ? new SeekRequest(Long.parseLong(text(number)), after, clearsState) : null;
	}

	private byte[] requestSeek(ShardId shard, Offset after, boolean clearsState, boolean givesUp) {
		return this.fences.run(this.scripts.requestSeek(), this.keys.all(shard),
				List.of(bytes(clearsState ? "1" : "0"), bytes(after.value()), bytes(givesUp ? "1" : "0")));
	}

	@Override
	public Map<ShardId, Seeks> seeks(Collection<ShardId> shards) {
		List<Function<RedisClusterAsyncCommands<String, byte[]>, RedisFuture<List<KeyValue<String, byte[]>>>>> reads = new ArrayList<>();
		shards.forEach((shard) -> reads
			.add((commands) -> commands.hmget(this.keys.checkpoint(shard), "seek", "sought", "elsewhere")));
		List<List<KeyValue<String, byte[]>>> found = this.link.callAll(reads);
		Map<ShardId, Seeks> seeks = new HashMap<>();
		Set<ShardId> elsewhere = new HashSet<>();
		int i = 0;
		for (ShardId shard : shards) {
			List<KeyValue<String, byte[]>> fields = found.get(i++);
			seeks.put(shard, CheckpointFormat.seeks(fields.get(0).getValueOrElse(NOTHING),
					fields.get(1).getValueOrElse(NOTHING)));
			if (fields.get(2).hasValue()) {
				elsewhere.add(shard);
			}
		}
		CheckpointStore there = elsewhere.isEmpty() ? null : this.database.get();
		if (there != null) {
			seeks.putAll(there.seeks(elsewhere));
		}
		return seeks;
	}

	@Override
	public boolean keepsOutboxes(String topic) {
		return true;
	}

	@Override
	public List<Outbox.Entry> outbox(ShardId shard, Outbox.@Nullable Place after, int limit, long bytes) {
		return CheckpointFormat
			.outboxEntries(this.link.<List<Object>>run(this.scripts.readOutbox(), this.keys.all(shard),
					List.of(bytes((after != null) ? after.toString() : ""), bytes(limit), bytes(bytes))));
	}

	/** The numbers stay when the outbox is empty. */
	@Override
	public @Nullable Long countOutbox(ShardId shard) {
		List<Long> found = this.link.<Long>callAll(List.of((commands) -> commands.exists(this.keys.sequences(shard)),
				(commands) -> commands.xlen(this.keys.outbox(shard))));
		long records = found.get(1);
		return (found.get(0) > 0 || records > 0) ? records : null;
	}

	@Override
	public boolean keepsTimers(String topic) {
		return true;
	}

	@Override
	public List<StoredTimer> timers(ShardId shard, @Nullable StoredTimer after, int limit) {
		List<byte[]> arguments = new ArrayList<>(List.of(bytes(limit), bytes(TIMER_BYTES_AT_ONCE)));
		if (after != null) {
			arguments.add(CheckpointFormat.timer(after.id()));
			arguments.add(bytes(after.due().toEpochMilli()));
		}
		return CheckpointFormat
			.timers(this.link.<List<byte[]>>run(this.scripts.readTimers(), this.keys.all(shard), arguments));
	}

	@Override
	public Long countTimers(ShardId shard) {
		return this.link.call((commands) -> commands.zcard(this.keys.timers(shard)));
	}

	@Override
	public Instant consumedSince(String topic, @Nullable Instant known) {
		byte[] since = this.fences.run(this.scripts.recordConsumedSince(), List.of(this.keys.topic(topic)),
				List.of(bytes((known != null) ? Long.toString(known.toEpochMilli()) : "")));
		return Instant.ofEpochMilli(CheckpointFormat.number("since", text(since)));
	}

	@Override
	public Removal remove(String topic, Token newest) {
		List<ShardId> shards = List.copyOf(shards(topic));
		SortedSet<ShardId> removed = new TreeSet<>();
		SortedSet<ShardId> kept = new TreeSet<>();
		for (int from = 0; from < shards.size(); from += REMOVED_AT_ONCE) {
			List<ShardId> some = shards.subList(from, Math.min(from + REMOVED_AT_ONCE, shards.size()));
			List<Long> replies = this.fences.runAll(this.scripts.removeShard(),
					some.stream().map(this.keys::all).toList(), List.of(bytes(newest.toString())));
			for (int i = 0; i < replies.size(); i++) {
				((replies.get(i) == 1) ? removed : kept).add(some.get(i));
			}
		}
		if (kept.isEmpty()) {
			this.link.call((commands) -> commands.unlink(this.keys.topic(topic)));
		}
		return new Removal(removed, kept);
	}

	/** Searches the keys, because the group may have forgotten the shards. */
	private Set<ShardId> shards(String topic) {
		ScanArgs wanted = ScanArgs.Builder.matches(this.keys.pattern(topic)).limit(SCANNED_AT_ONCE);
		Set<ShardId> shards = new LinkedHashSet<>();
		ScanCursor cursor = ScanCursor.INITIAL;
		while (!cursor.isFinished()) {
			ScanCursor last = cursor;
			// On a Cluster the cursor covers all masters.
			KeyScanCursor<String> page = this.link.call((commands) -> commands.scan(last, wanted));
			for (String key : page.getKeys()) {
				ShardId shard = this.keys.shard(key);
				if (shard != null) {
					shards.add(shard);
				}
			}
			cursor = page;
		}
		return shards;
	}

	private static @Nullable Duration millis(String text) {
		return text.isEmpty() ? null : Duration.ofMillis(Long.parseLong(text));
	}

	@Override
	public void close() {
		// The other link is shared, and closed by the connector.
		this.fences.close();
	}

}
