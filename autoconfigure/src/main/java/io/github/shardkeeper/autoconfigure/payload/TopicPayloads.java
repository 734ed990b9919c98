package io.github.shardkeeper.autoconfigure.payload;

import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Converter of the payloads of some topics.
 *
 * @param topics the topics; without any, the converter is not used
 * @param converter the converter
 * @param resources what is closed with it
 */
public record TopicPayloads(Set<String> topics, PayloadConverter converter,
		List<AutoCloseable> resources) implements AutoCloseable {

	@Override
	public void close() {
		for (AutoCloseable resource : this.resources) {
			try {
				resource.close();
			}
			catch (Exception ex) {
				throw new IllegalStateException("Cannot close the converter of %s".formatted(this.topics), ex);
			}
		}
	}

	/**
	 * Returns a converter for all topics; {@code others} is for those without their own.
	 */
	public static PayloadConverter over(PayloadConverter others, Iterable<TopicPayloads> own) {
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
			public byte[] write(ShardId shard, Object payload, Map<String, String> headers) {
				return of(shard).write(shard, payload, headers);
			}

			@Override
			public Object read(byte[] payload, Type type) {
				return others.read(payload, type);
			}

			@Override
			public Object read(ShardId shard, SourceRecord source, Type type) {
				return of(shard).read(shard, source, type);
			}

			private PayloadConverter of(ShardId shard) {
				return TopicPayloads.this.topics.contains(shard.topic()) ? TopicPayloads.this.converter : others;
			}

		};
	}

}
