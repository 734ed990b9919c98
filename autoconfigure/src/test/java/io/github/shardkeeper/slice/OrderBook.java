package io.github.shardkeeper.slice;

import org.springframework.stereotype.Component;

import io.github.shardkeeper.ShardConsumer;

/** Handler that tests of the other one leave out, and what it would need. */
@Component
class OrderBook {

	OrderBook(Thread missing) {
	}

	@ShardConsumer("orders")
	void order(String order) {
		throw new AssertionError("Another handler is tested");
	}

}
