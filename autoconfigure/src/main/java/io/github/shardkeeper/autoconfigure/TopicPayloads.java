package io.github.shardkeeper.autoconfigure;

import java.lang.reflect.Type;
import java.util.Set;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Converter of the payloads of some topics.
 *
 * @param topics the topics; without any, the converter is not used
 * @param converter the converter
 */
record TopicPayloads(Set<String> topics, PayloadConverter converter) implements AutoCloseable {

	/** Closes the converter, unless it is that of the application. */
	@Override
	public void close() {
		if (!this.topics.isEmpty() && this.converter instanceof AutoCloseable own) {
			try {
				own.close();
			}
			catch (Exception ex) {
				throw new IllegalStateException("Cannot close the converter of %s".formatted(this.topics), ex);
			}
		}
	}

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
