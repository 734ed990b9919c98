package io.github.shardkeeper.benchmarks.footprint;

import java.util.concurrent.CountDownLatch;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;

/**
 * An application that consumes all shards of one topic, which has no records.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class ShardApplication {

	static final String TOPIC = "waiting";

	/** Property with the number of shards. */
	static final String SHARDS = "shardkeeper.topics." + TOPIC + ".shards";

	@Bean
	Handler handler(@Value("${" + SHARDS + "}") int shards) {
		return new Handler(new CountDownLatch(shards));
	}

	public static void main(String[] arguments) throws Exception {
		FootprintProcess.run(ShardApplication.class, (context) -> context.getBean(Handler.class).missing.await(),
				arguments);
	}

	/** Waits for records that never come. */
	record Handler(CountDownLatch missing) {

		@OnShardAssigned
		public void assigned(ShardContext shard) {
			this.missing.countDown();
		}

		@ShardConsumer(TOPIC)
		public void handle(String payload) {
			throw new IllegalStateException("There are no records");
		}

	}

}
