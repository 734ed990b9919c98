package io.github.shardkeeper.endtoend;

import io.github.shardkeeper.test.EmbeddedGroup;

class FourShardsOnRedisTests extends FourShardsContract {

	@Override
	String[] source(EmbeddedGroup group) {
		return new String[] { "shardkeeper.topics.orders.source=redis" };
	}

}
