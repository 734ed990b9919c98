package io.github.shardkeeper.redis.stream;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.ReplicatedLink;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.GroupPositions;
import io.github.shardkeeper.source.IdempotentAppender;
import io.github.shardkeeper.source.RecordFields;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.ShardListWatchers;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.ShardTrimmer;
import io.github.shardkeeper.source.TrimRule;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Topics on Redis Streams, one stream per shard:
 *
 * <pre>
 * &lt;prefix&gt;:{&lt;topic&gt;#&lt;bucket&gt;}:stream:&lt;id&gt;     fields: k (key), v (payload), headers by their own names
 * </pre>
 *
 * The bucket is {@code id mod 16}: on Redis Cluster a topic's shards then lie in at most
 * 16 slots, because one {@code XREAD} may only name streams of one slot. A record is
 * appended with {@code XADD … * k <key> v <payload> <header> <value> …}, without
 * {@code k} if it has no key; its entry id is its offset. Batches that may be repeated
 * are appended with {@code append-once.lua}, see {@link IdempotentAppendScript}. An entry
 * without {@code v} has an empty payload. Shard counts are kept in Redis, see
 * {@link StreamShardCounts}. Readers are watched with one key, see {@link ReadPulse}.
 * Streams are trimmed with {@code trim-stream.lua}, and {@code read-lag.lua} counts their
 * entries. {@link StreamGroups} reads where consumer groups of others stand. Thread-safe.
 */
public final class RedisStreamSource
		implements ShardSource, GroupPositions, IdempotentAppender, SequencedAppender, ShardTopics, ShardTrimmer {

	private static final Logger logger = PrintableLogger.of(RedisStreamSource.class);

	static final RedisCodec<String, byte[]> CODEC = RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);

	static final char KEY_FIELD = RecordFields.KEY.charAt(0);

	static final char PAYLOAD_FIELD = RecordFields.PAYLOAD.charAt(0);

	static final int BUCKETS = 16;

	private static final LuaScript TRIM = LuaScript.load(RedisStreamSource.class, ScriptOutputType.INTEGER,
			"trim-stream.lua");

	private static final LuaScript READ_LAG = LuaScript.load(RedisStreamSource.class, ScriptOutputType.MULTI,
			"read-lag.lua");

	private static final String TRIMMING = "trim streams";

	/** Removes the pulse of topics that nobody reads any more. */
	private static final Duration PULSE_EXPIRY = Duration.ofMinutes(1);

	private final RedisConnector connector;

	private final RedisLink<byte[]> link;

	private final ReplicatedLink<byte[]> writes;

	private final String keyPrefix;

	private final String pulseKey;

	private final StreamShardCounts counts;

	private final SequencedStreams sequenced;

	private final IdempotentAppendScript onceScript;

	private final ShardListWatchers watchers = new ShardListWatchers();

	/** Cache: building a key costs more than the rest of an append. */
	private final Map<ShardId, String> streamKeys = new ConcurrentHashMap<>();

	/** Creates a source that waits for no replicas; connects when it is first used. */
	public RedisStreamSource(RedisConnector connector, String keyPrefix, Map<String, Integer> topics,
			Duration timeout) {
		this(connector, keyPrefix, topics, timeout, ReplicaWait.NONE);
	}

	/**
	 * Creates a source; connects when it is first used.
	 * @param topics topics with their initial shard counts
	 * @param wait wait for replicas after a change of a shard count
	 */
	public RedisStreamSource(RedisConnector connector, String keyPrefix, Map<String, Integer> topics, Duration timeout,
			ReplicaWait wait) {
		this(connector, keyPrefix, topics, timeout, wait, RecordIds.DEFAULT);
	}

	/**
	 * Creates a source; connects when it is first used.
	 * @param topics topics with their initial shard counts
	 * @param wait wait for replicas after a change of a shard count
	 * @param ids how long ids of records are remembered
	 */
	public RedisStreamSource(RedisConnector connector, String keyPrefix, Map<String, Integer> topics, Duration timeout,
			ReplicaWait wait, RecordIds ids) {
		this.connector = connector;
		this.link = connector.dataLink(timeout);
		this.writes = new ReplicatedLink<>(connector, this.link, timeout, wait);
		this.keyPrefix = keyPrefix;
		// The same in all instances, and where each of them may write.
		this.pulseKey = keyPrefix + ":{" + topics.keySet().stream().min(Comparator.naturalOrder()).orElse("")
				+ "#0}:pulse";
		this.sequenced = new SequencedStreams(this.link, this::streamKey,
				(shard) -> bucketKey(shard) + ":received:" + shard.id());
		this.onceScript = new IdempotentAppendScript(this.link, ids);
		this.counts = new StreamShardCounts(this.link, this.writes, keyPrefix, this::newStreamKey, topics,
				this.watchers::changed);
	}

	/** Lets topics be compared with other users while this instance consumes or sends. */
	public void compare(TopicUsers users) {
		this.counts.onRefresh(users::recordIfDue);
	}

	/** Waits for Redis only while a topic's count is not known. */
	@Override
	public Map<String, TopicShards> topics() {
		try {
			if (this.counts.isKnown()) {
				this.counts.beginRefreshIfDue();
			}
			else {
				this.counts.refreshIfDue();
			}
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The topics' numbers of shards are not known yet, or are old", ex);
		}
		return this.counts.known();
	}

	@Override
	public Map<String, String> problems() {
		return this.counts.problems();
	}

	@Override
	public void refresh(String topic, boolean mayWait) {
		boolean known = this.counts.isKnown(topic);
		try {
			if (known && !mayWait) {
				return;
			}
			if (known) {
				this.counts.refreshIfDue();
			}
			else if (mayWait) {
				this.counts.refresh(topic);
			}
		}
		catch (StoreUnavailableException ex) {
			if (!known) {
				throw new SendFailedException(
						"Not sent: the number of shards of '%s' is not known. %s".formatted(topic, ex.getMessage()), ex,
						false);
			}
		}
	}

	@Override
	public int shards(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		this.counts.refresh(topic);
		TopicShards shards = this.counts.known().get(topic);
		if (shards == null) {
			throw ShardkeeperConfigurationException.unknownTopic("A call of ShardTopics", topic,
					this.counts.known().keySet());
		}
		return shards.count();
	}

	@Override
	public int raise(String topic, int shards) {
		Objects.requireNonNull(topic, "topic must not be null");
		return this.counts.raise(topic, shards);
	}

	@Override
	public Watch watch(Runnable onChange) {
		Objects.requireNonNull(onChange, "onChange must not be null");
		return this.watchers.add(onChange);
	}

	@Override
	public ShardReader openReader() {
		topics();
		return new RedisStreamReader(this.connector, this.link, this::bucketKey, this::streamKey,
				pulse(ReadPulse.INTERVAL), this.counts::beginRefreshIfDue);
	}

	/** Returns the pulse of the readers. */
	ReadPulse.Settings pulse(Duration interval) {
		return new ReadPulse.Settings(this.pulseKey, interval,
				() -> this.counts.readWithPulse(this.pulseKey, PULSE_EXPIRY));
	}

	@Override
	public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
		Objects.requireNonNull(position, "position must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		if (position instanceof StartPosition.Latest) {
			return ends(shards);
		}
		Offset before = EntryIds.before(position);
		Map<ShardId, Offset> offsets = new HashMap<>();
		for (ShardId shard : shards) {
			offsets.put(shard, before);
		}
		return offsets;
	}

	@Override
	public Map<ShardId, Position> positions(String group, Collection<ShardId> shards) {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		return new StreamGroups(this.link, this::streamKey, StreamGroups.ALIVE).positions(group, shards);
	}

	/** Reads the last ids; a stream without entries is read from the beginning. */
	private Map<ShardId, Offset> ends(Collection<ShardId> shards) {
		List<Function<RedisClusterAsyncCommands<String, byte[]>, RedisFuture<List<StreamMessage<String, byte[]>>>>> reads = new ArrayList<>(
				shards.size());
		for (ShardId shard : shards) {
			String stream = streamKey(shard);
			reads.add((commands) -> commands.xrevrange(stream, Range.unbounded(), Limit.from(1)));
		}
		List<List<StreamMessage<String, byte[]>>> last = this.link.callAll(reads);
		Map<ShardId, Offset> offsets = new HashMap<>();
		int i = 0;
		for (ShardId shard : shards) {
			List<StreamMessage<String, byte[]>> entry = last.get(i++);
			offsets.put(shard, entry.isEmpty() ? EntryIds.BEFORE_ALL : new Offset(entry.get(0).getId()));
		}
		return offsets;
	}

	@Override
	public Lag lag(ShardId shard, Offset committed) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(committed, "committed must not be null");
		String offset = EntryIds.before(StartPosition.after(committed)).value();
		List<byte[]> reply = this.link.run(READ_LAG, List.of(streamKey(shard)), List.of(bytes(offset)));
		String records = new String(reply.get(0), StandardCharsets.UTF_8);
		String age = new String(reply.get(1), StandardCharsets.UTF_8);
		return age.isEmpty() ? Lag.NONE
				: new Lag(records.isEmpty() ? null : Long.valueOf(records), Duration.ofMillis(Long.parseLong(age)));
	}

	@Override
	public CompletableFuture<Long> trim(ShardId shard, @Nullable Collection<Offset> handled, TrimRule rule) {
		String keepFrom = "";
		if (handled != null) {
			// A group without an offset needs all entries.
			keepFrom = handled.stream().map(Offset::value).min(EntryIds::compare).orElse("0-0");
		}
		Long maxLength = rule.maxLength();
		Duration maxAge = rule.maxAge();
		CompletableFuture<Long> removed = this.link.send(TRIM, List.of(streamKey(shard)),
				List.of(bytes(keepFrom), bytes((maxLength != null) ? maxLength.toString() : ""),
						bytes((maxAge != null) ? Long.toString(maxAge.toMillis()) : "")));
		return removed.whenComplete((number, failure) -> {
			if (failure != null) {
				this.link.refusedOperations().recordIfNew(TRIMMING, failure);
			}
			else {
				this.link.refusedOperations().succeeded(TRIMMING);
			}
		});
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	@Override
	public void check(NewRecord newRecord) {
		RecordFields.check(newRecord.headers());
	}

	@Override
	public List<CompletableFuture<Offset>> append(List<NewRecord> records) {
		records.forEach(this::check);
		List<AsyncCommand<String, byte[], String>> commands = new ArrayList<>(records.size());
		records.forEach((newRecord) -> commands.add(xadd(newRecord)));
		List<CompletableFuture<String>> ids;
		try {
			ids = this.link.sendAll(commands);
		}
		catch (StoreUnavailableException ex) {
			throw new SendFailedException("Not sent. " + ex.getMessage(), ex, false);
		}
		List<CompletableFuture<Offset>> offsets = new ArrayList<>(ids.size());
		for (int i = 0; i < ids.size(); i++) {
			offsets.add(offset(ids.get(i), records.get(i).shard()));
		}
		return offsets;
	}

	@Override
	public CompletableFuture<Reply> append(Sequence sequence, SequencedAppender.Batch batch) {
		Objects.requireNonNull(sequence, "sequence must not be null");
		Objects.requireNonNull(batch, "batch must not be null");
		return this.sequenced.append(sequence, batch);
	}

	@Override
	public CompletableFuture<Appended> appendOnce(IdempotentAppender.Batch batch) {
		batch.records().forEach(this::check);
		return this.onceScript.append(bucketKey(batch.shard()), streamKey(batch.shard()), batch);
	}

	@Override
	public boolean appendRecognizesIds(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		return this.onceScript.hasNativeIds(streamKey(shard));
	}

	private static CompletableFuture<Offset> offset(CompletableFuture<String> id, ShardId shard) {
		CompletableFuture<Offset> offset = new CompletableFuture<>();
		id.whenComplete((value, failure) -> {
			if (failure == null) {
				offset.complete(new Offset(value));
				return;
			}
			offset.completeExceptionally(IdempotentAppendScript.failed(shard, failure));
		});
		return offset;
	}

	private AsyncCommand<String, byte[], String> xadd(NewRecord newRecord) {
		CommandArgs<String, byte[]> arguments = new CommandArgs<>(CODEC).addKey(streamKey(newRecord.shard()));
		String id = newRecord.id();
		if (id != null) {
			if (!appendRecognizesIds(newRecord.shard())) {
				throw new IllegalArgumentException(
						"A record for %s has an id, which only appendOnce(…) recognizes there"
							.formatted(newRecord.shard()));
			}
			arguments.add("IDMP").add(NativeIds.producer(id)).add(bytes(id));
		}
		arguments.add("*");
		String key = newRecord.key();
		if (key != null) {
			arguments.add(RecordFields.KEY).add(bytes(key));
		}
		arguments.add(RecordFields.PAYLOAD).add(newRecord.payload());
		newRecord.headers().forEach((name, value) -> arguments.add(bytes(name)).add(bytes(value)));
		return new AsyncCommand<>(new Command<>(CommandType.XADD, new StatusOutput<>(CODEC), arguments));
	}

	private String bucketKey(ShardId shard) {
		return this.keyPrefix + ":{" + shard.topic() + "#" + Integer.parseInt(shard.id()) % BUCKETS + "}";
	}

	private String streamKey(ShardId shard) {
		return this.streamKeys.computeIfAbsent(shard, this::newStreamKey);
	}

	private String newStreamKey(ShardId shard) {
		return bucketKey(shard) + ":stream:" + shard.id();
	}

	@Override
	public void close() {
		// The other link is shared, and closed by the connector.
		this.writes.close();
	}

}
