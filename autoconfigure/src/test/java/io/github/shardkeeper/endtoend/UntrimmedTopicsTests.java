package io.github.shardkeeper.endtoend;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/** A stream that nobody trims fills Redis one day: an instance says so when it starts. */
@ExtendWith(OutputCaptureExtension.class)
class UntrimmedTopicsTests {

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.topics.sent.shards=1", "shardkeeper.topics.bounded.shards=1",
			"shardkeeper.topics.bounded.trim.max-age=7d", "shardkeeper.topics.tenants.source=fixed",
			"shardkeeper.topics.tenants.names=a,b");

	@Test
	void eachTopicWithoutLimitIsLoggedOnce(CapturedOutput output) {
		this.instances.start(Application.class, "one");

		assertThat(output.getOut().lines().filter((line) -> line.contains("keeps every record"))).hasSize(2)
			.allMatch((line) -> line.contains("INFO"))
			.anyMatch((line) -> line.contains("'orders'")
					&& line.contains("'shardkeeper.topics.orders.trim.max-age' or 'max-length'"))
			.anyMatch((line) -> line.contains("'sent'"));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("orders")
		void handle(String payload) {
		}

		@ShardConsumer("bounded")
		void handleToo(String payload) {
		}

	}

}
