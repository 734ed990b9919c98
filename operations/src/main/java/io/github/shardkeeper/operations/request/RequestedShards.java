package io.github.shardkeeper.operations.request;

import java.util.Collection;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.github.shardkeeper.operations.stored.ShardLookup;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SourceRegistry;

/**
 * Looks up the topics and shards that requests name, and refuses unknown ones.
 * Thread-safe.
 */
public final class RequestedShards {

	private static final int MOST_NAMED = 10;

	private final SourceRegistry sources;

	public RequestedShards(SourceRegistry sources) {
		this.sources = sources;
	}

	public static void requireName(String what, String name) {
		if (!Names.isValid(name)) {
			throw OperationRefusedException
				.malformed("'%s' is no %s. %s".formatted(ShardQuery.quoted(name), what, Names.RULE));
		}
	}

	public static ShardId shard(String topic, String shard) {
		requireName("topic", topic);
		requireName("id of a shard", shard);
		return new ShardId(topic, shard);
	}

	/** Returns some names, for a message. */
	public static String named(Collection<String> all) {
		String first = new TreeSet<>(all).stream().limit(MOST_NAMED).collect(Collectors.joining(", "));
		return (all.size() > MOST_NAMED) ? "%s and %d more".formatted(first, all.size() - MOST_NAMED)
				: all.isEmpty() ? "none" : first;
	}

	public SortedSet<ShardId> of(String topic) {
		requireTopic(topic);
		return new ShardLookup(this.sources, "A request").of(topic);
	}

	public void requireTopic(String topic) {
		if (!this.sources.names().contains(topic)) {
			throw OperationRefusedException
				.unknown("This instance has no topic '%s'; its topics are %s. Ask an instance that has it"
					.formatted(topic, named(this.sources.names())));
		}
	}

	/** Returns a shard that exists. */
	public ShardId require(ShardId shard) {
		SortedSet<ShardId> known = of(shard.topic());
		if (!known.contains(shard)) {
			throw unknownShard(shard, known);
		}
		return shard;
	}

	public static OperationRefusedException unknownShard(ShardId shard, SortedSet<ShardId> known) {
		return OperationRefusedException.unknown("There is no shard %s; the topic has %s".formatted(shard,
				known.isEmpty() ? "none" : known.first() + " to " + known.last()));
	}

}
