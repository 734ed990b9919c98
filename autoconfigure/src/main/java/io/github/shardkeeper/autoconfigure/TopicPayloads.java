package io.github.shardkeeper.autoconfigure;

import java.lang.reflect.Type;
import java.util.Set;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Converter of the payloads of some topics.
 *
 * @param topics the topics
 * @param converter the converter
 */
record TopicPayloads(Set<String> topics, PayloadConverter converter) {

	/**
	 * Returns a converter for all topics; {@code others} is for those without their own.
	 */
	static PayloadConverter over(PayloadConverter others, Iterable<TopicPayloads> own) {
		PayloadConverter all = others;
		for (TopicPayloads some : own) {
			all = some.topics.isEmpty() ? all : some.before(all);
		}
		return all;
	}

	private PayloadConverter before(PayloadConverter others) {
		return new PayloadConverter() {

			@Override
			public byte[] write(Object payload) {
				return others.write(payload);
			}

			@Override
			public Object read(byte[] payload, Type type) {
				return others.read(payload, type);
			}

			@Override
			public Object read(ShardId shard, SourceRecord source, Type type) {
				PayloadConverter one = TopicPayloads.this.topics.contains(shard.topic()) ? TopicPayloads.this.converter
						: others;
				return one.read(shard, source, type);
			}

		};
	}

}
