package io.github.shardkeeper.benchmarks.startup;

import java.util.concurrent.CountDownLatch;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;

/**
 * An application that consumes the shards of one topic.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class ShardApplication {

	static final String TOPIC = "started";

	static final int SHARDS = 4;

	@Bean
	Handler handler() {
		return new Handler(new CountDownLatch(SHARDS));
	}

	public static void main(String[] arguments) throws Exception {
		StartupFigures.run(ShardApplication.class, (context) -> context.getBean(Handler.class).missing.await(),
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
