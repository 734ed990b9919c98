package io.github.shardkeeper.redis.checkpoint;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * Keys of a group's data plane; those of one shard share a slot. Immutable.
 *
 * <pre>
 * &lt;prefix&gt;:{&lt;group&gt;/&lt;topic&gt;/&lt;id&gt;}:checkpoint   hash: fence, commit (number), offset, ahead, committed (millis), completed, seek, sought
 * &lt;prefix&gt;:{&lt;group&gt;/&lt;topic&gt;/&lt;id&gt;}:state        hash: the state's entries, values as JSON
 * &lt;prefix&gt;:{&lt;group&gt;/&lt;topic&gt;/&lt;id&gt;}:retry        sorted set: offset, millis when it is due
 * &lt;prefix&gt;:{&lt;group&gt;/&lt;topic&gt;/&lt;id&gt;}:retried      hash: offset, record to handle again
 * &lt;prefix&gt;:{&lt;group&gt;/&lt;topic&gt;/&lt;id&gt;}:dead         stream: dead letters
 * &lt;prefix&gt;:{&lt;group&gt;/&lt;topic&gt;/&lt;id&gt;}:sequences    hash: era, last (place), topic/id of a target, number of the last record for it
 * &lt;prefix&gt;:{&lt;group&gt;/&lt;topic&gt;/&lt;id&gt;}:outbox       stream: records that were sent and may not be forwarded yet
 * &lt;prefix&gt;:{&lt;group&gt;/&lt;topic&gt;/&lt;id&gt;}:timers       sorted set: bytes of the key, colon, key, name of a timer, millis when it is due
 * &lt;prefix&gt;:{&lt;group&gt;/&lt;topic&gt;}:topic             hash: since (millis), when the group began with the topic
 * </pre>
 */
final class ShardKeys {

	private final String start;

	ShardKeys(String prefix, String group) {
		this.start = prefix + ":{" + group + "/";
	}

	/** Returns the keys of a shard, in the order of {@code data.lua}. */
	List<String> all(ShardId shard) {
		return List.of(checkpoint(shard), state(shard), retry(shard), of(shard, "retried"), dead(shard),
				sequences(shard), outbox(shard), timers(shard));
	}

	String checkpoint(ShardId shard) {
		return of(shard, "checkpoint");
	}

	String state(ShardId shard) {
		return of(shard, "state");
	}

	String retry(ShardId shard) {
		return of(shard, "retry");
	}

	String dead(ShardId shard) {
		return of(shard, "dead");
	}

	String sequences(ShardId shard) {
		return of(shard, "sequences");
	}

	String outbox(ShardId shard) {
		return of(shard, "outbox");
	}

	String timers(ShardId shard) {
		return of(shard, "timers");
	}

	/** Returns the pattern of the keys of a topic's shards, for {@code SCAN}. */
	String pattern(String topic) {
		return (this.start + topic).replaceAll("[\\\\*?\\[\\]]", "\\\\$0") + "/*";
	}

	@Nullable ShardId shard(String key) {
		int end = key.lastIndexOf("}:");
		if (!key.startsWith(this.start) || end < this.start.length()) {
			return null;
		}
		try {
			return ShardId.parse(key.substring(this.start.length(), end));
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/** Returns the key of the topic itself, in a slot of its own. */
	String topic(String topic) {
		return this.start + topic + "}:topic";
	}

	private String of(ShardId shard, String kind) {
		return this.start + shard + "}:" + kind;
	}

}
