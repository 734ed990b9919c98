package io.github.shardkeeper.shard;

import io.github.shardkeeper.ShardConsumer;

/** Handler that only classes of this package can override. */
public class HandlerOfAnotherPackage {

	@ShardConsumer("orders")
	void handle(String payload) {
	}

}
