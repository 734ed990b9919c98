package io.github.shardkeeper.source;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Sends to the shard that the key's hash names. Thread-safe.
 */
public final class KeyedShardTemplate implements ShardTemplate {

	private final Map<String, Integer> topics;

	private final ShardAppender appender;

	private final PayloadConverter converter;

	/**
	 * Creates a template.
	 * @param topics the topics with their shard counts
	 * @param appender appends the records
	 * @param converter writes payloads
	 */
	public KeyedShardTemplate(Map<String, Integer> topics, ShardAppender appender, PayloadConverter converter) {
		this.topics = Map.copyOf(topics);
		this.appender = appender;
		this.converter = converter;
	}

	@Override
	public Appended send(String topic, String key, Object payload) {
		return sendAll(topic, List.of(new Outgoing(key, payload))).get(0);
	}

	@Override
	public List<Appended> sendAll(String topic, Collection<Outgoing> records) {
		int shards = shardCount(topic);
		List<NewRecord> toAppend = new ArrayList<>(records.size());
		for (Outgoing outgoing : records) {
			toAppend.add(new NewRecord(shard(topic, shards, outgoing.key()), outgoing.key(),
					this.converter.write(outgoing.payload())));
		}
		List<Offset> offsets = this.appender.append(toAppend);
		List<Appended> appended = new ArrayList<>(offsets.size());
		for (int i = 0; i < offsets.size(); i++) {
			appended.add(new Appended(toAppend.get(i).shard(), offsets.get(i)));
		}
		return appended;
	}

	@Override
	public ShardId shardFor(String topic, String key) {
		return shard(topic, shardCount(topic), key);
	}

	private static ShardId shard(String topic, int shards, String key) {
		return ShardId.of(topic, (Murmur2.hash(key.getBytes(StandardCharsets.UTF_8)) & 0x7fffffff) % shards);
	}

	private int shardCount(String topic) {
		Integer count = this.topics.get(topic);
		if (count == null) {
			throw ShardkeeperConfigurationException.unknownTopic("A call of ShardTemplate", topic,
					this.topics.keySet());
		}
		return count;
	}

}
