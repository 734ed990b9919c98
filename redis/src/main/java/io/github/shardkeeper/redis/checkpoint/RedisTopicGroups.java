package io.github.shardkeeper.redis.checkpoint;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.Replies;
import io.github.shardkeeper.checkpoint.TopicGroups;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.ReplicatedLink;
import io.github.shardkeeper.redis.UnknownCommand;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;

import static io.github.shardkeeper.redis.checkpoint.CheckpointFormat.bytes;
import static io.github.shardkeeper.redis.checkpoint.CheckpointFormat.text;

/**
 * The groups of topics on Redis:
 *
 * <pre>
 * &lt;prefix&gt;:{&lt;topic&gt;}:groups     set: names of the groups that consume it
 * &lt;prefix&gt;:{&lt;topic&gt;}:trimming   string: the group that trims; expires
 * &lt;prefix&gt;:{&lt;topic&gt;}:trims      hash: server, groups, settling (millis); see claim-trimming.lua
 * </pre>
 *
 * Offsets are read from the checkpoints of all groups, see {@link ShardKeys}.
 * Thread-safe.
 */
public final class RedisTopicGroups implements TopicGroups {

	private static final Logger logger = PrintableLogger.of(RedisTopicGroups.class);

	private static final LuaScript REGISTER = script(ScriptOutputType.INTEGER, "register-group.lua");

	private static final LuaScript CLAIM = script(ScriptOutputType.MULTI, "claim-trimming.lua");

	private static final LuaScript COPY_OFFSET = script(ScriptOutputType.INTEGER, "copy-offset.lua");

	private static final LuaScript HANDLED = script(ScriptOutputType.VALUE, "read-offset.lua");

	private static final String REGISTERING = "register the group as a consumer of its topics";

	private static final String CLAIMING = "trim topics";

	private static final String SETTLING = "trim what all groups have handled";

	/** Field of a checkpoint with the offset of a checkpoint in another store. */
	private static final String COPY = "copy";

	private static final String COPYING = "copy offsets of the database for trimming";

	private static final String READING = "read the checkpoints of other groups for trimming";

	private final RedisLink<byte[]> plain;

	private final ReplicatedLink<byte[]> link;

	private final boolean waits;

	private final String keyPrefix;

	private final String group;

	/**
	 * Creates a store; connects when it is first used.
	 * @param wait wait for replicas before a group is registered, and a record handled
	 */
	public RedisTopicGroups(RedisConnector connector, String keyPrefix, String group, Duration timeout,
			ReplicaWait wait) {
		this.plain = connector.dataLink(timeout);
		this.link = new ReplicatedLink<>(connector, this.plain, timeout, wait);
		this.waits = wait.replicas() > 0;
		this.keyPrefix = keyPrefix;
		this.group = group;
	}

	private static LuaScript script(ScriptOutputType output, String file) {
		return LuaScript.load(RedisTopicGroups.class, output, file);
	}

	@Override
	public void register(Collection<String> topics) {
		List<List<String>> keys = new ArrayList<>(topics.size());
		topics.forEach((topic) -> keys.add(List.of(key(topic, "groups"), key(topic, "trims"))));
		remembering(REGISTERING, () -> this.link.runAll(REGISTER, keys, List.of(bytes(this.group))));
	}

	@Override
	public void unregister(String topic) {
		this.plain.call((commands) -> commands.srem(key(topic, "groups"), bytes(this.group)));
	}

	/** A lost copy only delays trimming, so no replica is waited for. */
	@Override
	public void copyOffsets(Map<ShardId, Copy> offsets) {
		ShardKeys keys = new ShardKeys(this.keyPrefix, this.group);
		List<CompletableFuture<Long>> copies = new ArrayList<>(offsets.size());
		remembering(COPYING, () -> {
			offsets.forEach((shard, copy) -> copies.add(this.plain.send(COPY_OFFSET, List.of(keys.checkpoint(shard)),
					List.of(bytes(copy.offset().value()), bytes(copy.token().value()), bytes(copy.commit())))));
			copies.forEach(Replies::await);
			return null;
		});
	}

	@Override
	public @Nullable Claim claimTrimming(String topic, Duration interval, Duration settling) {
		List<Object> reply = remembering(CLAIMING,
				() -> this.link.run(CLAIM, List.of(key(topic, "groups"), key(topic, "trimming"), key(topic, "trims")),
						List.of(bytes(this.group), bytes(interval.toMillis()), bytes(settling.toMillis()))));
		if (reply.isEmpty()) {
			return null;
		}
		told(text((byte[]) reply.get(1)));
		Set<String> groups = new LinkedHashSet<>();
		reply.subList(2, reply.size()).forEach((name) -> groups.add(text((byte[]) name)));
		return new Claim(groups, (Long) reply.get(0) == 1);
	}

	private void told(String unknownServer) {
		if (unknownServer.isEmpty()) {
			this.plain.refusedOperations().succeeded(SETTLING);
		}
		else {
			this.plain.refusedOperations()
				.skipped(SETTLING, "Redis: INFO does not tell the script claim-trimming.lua which process it runs in ("
						+ unknownServer + "), so a failover that has lost a group would not be noticed; "
						+ (UnknownCommand.isReason(unknownServer) ? UnknownCommand.sentence("info")
								: "grant +info to the user of 'spring.data.redis.username', or else to 'default', "
										+ "with ACL SETUSER"));
		}
	}

	@Override
	public Map<ShardId, List<Offset>> offsets(Set<String> groups, Collection<ShardId> shards) {
		List<String> checkpoints = new ArrayList<>(groups.size() * shards.size());
		for (String consuming : groups) {
			ShardKeys ofGroup = new ShardKeys(this.keyPrefix, consuming);
			shards.forEach((shard) -> checkpoints.add(ofGroup.checkpoint(shard)));
		}
		List<byte @Nullable []> found = offsets(checkpoints);
		Map<ShardId, List<Offset>> offsets = new HashMap<>();
		int i = 0;
		for (int number = 0; number < groups.size(); number++) {
			for (ShardId shard : shards) {
				byte[] offset = found.get(i++);
				if (offset != null && offset.length > 0) {
					offsets.computeIfAbsent(shard, (s) -> new ArrayList<>()).add(new Offset(text(offset)));
				}
			}
		}
		offsets.values().removeIf((ofGroups) -> ofGroups.size() < groups.size());
		return offsets;
	}

	/** Returns no offset for an unreadable checkpoint: nothing is trimmed then. */
	private List<byte @Nullable []> offsets(List<String> checkpoints) {
		if (this.waits) {
			return remembering(READING,
					() -> this.link.runAll(HANDLED, checkpoints.stream().map(List::of).toList(), List.of()));
		}
		List<AsyncCommand<String, byte[], List<byte[]>>> reads = new ArrayList<>(checkpoints.size());
		checkpoints.forEach((key) -> reads
			.add(new AsyncCommand<>(new Command<>(CommandType.HMGET, new ValueListOutput<>(RedisCheckpointStore.CODEC),
					new CommandArgs<>(RedisCheckpointStore.CODEC).addKey(key).add(COPY).add("offset")))));
		List<byte @Nullable []> offsets = new ArrayList<>(checkpoints.size());
		this.plain.callEach(reads, (place, failure) -> logger.debug("A shard is not trimmed", failure))
			.forEach((fields) -> offsets.add((fields != null) ? firstOf(fields) : null));
		return offsets;
	}

	private static byte @Nullable [] firstOf(List<byte @Nullable []> fields) {
		return (fields.get(0) != null) ? fields.get(0) : fields.get(1);
	}

	private <T> T remembering(String step, Supplier<T> call) {
		try {
			T reply = call.get();
			this.plain.refusedOperations().succeeded(step);
			return reply;
		}
		catch (StoreUnavailableException ex) {
			this.plain.refusedOperations().recordIfNew(step, ex);
			throw ex;
		}
	}

	private String key(String topic, String kind) {
		return this.keyPrefix + ":{" + topic + "}:" + kind;
	}

	@Override
	public void close() {
		// The other link is shared, and closed by the connector.
		this.link.close();
	}

}
