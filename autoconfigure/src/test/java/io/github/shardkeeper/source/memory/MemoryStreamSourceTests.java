package io.github.shardkeeper.source.memory;

import java.util.Map;

import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.ShardSourceContract;

class MemoryStreamSourceTests extends ShardSourceContract {

	@Override
	protected ShardSource createSource(Map<String, Integer> topics) {
		return new MemoryStreamSource(topics);
	}

}
