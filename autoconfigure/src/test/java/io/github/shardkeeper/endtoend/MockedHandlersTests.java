package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.verify;

/** What the guide says of mocks in tests of applications. */
class MockedHandlersTests {

	private static final ShardId SHARD = ShardId.of("visits", 0);

	@Nested
	@SpringBootTest(classes = Application.class,
			properties = { "spring.main.web-application-type=none", "shardkeeper.store=memory",
					"shardkeeper.group=shop", "shardkeeper.topics.visits.shards=1",
					"shardkeeper.consumer.commit.mode=batch" })
	class MockedHandler {

		@MockitoBean
		private Visits visits;

		@Autowired
		private ShardTemplate shards;

		@Autowired
		private CheckpointStore checkpoints;

		@Test
		void acknowledgesItsRecords() {
			Offset offset = this.shards.send("visits", "ann", "/").offset();

			await().atMost(Duration.ofSeconds(20))
				.untilAsserted(() -> assertThat(this.checkpoints.offsets(List.of(SHARD))).containsEntry(SHARD, offset));
			verify(this.visits).visit(eq("/"), any());
		}

	}

	@Nested
	@SpringBootTest(classes = Application.class,
			properties = { "spring.main.web-application-type=none", "shardkeeper.store=memory",
					"shardkeeper.group=shop", "shardkeeper.topics.visits.shards=1",
					"shardkeeper.consumer.commit.mode=batch" })
	class SpiedHandler {

		@MockitoSpyBean
		private Visits visits;

		@MockitoBean
		private Pages pages;

		@Autowired
		private ShardTemplate shards;

		@Autowired
		private ShardStateReader states;

		@Test
		void runsAndIsVerified() {
			this.shards.send("visits", "ann", "/");

			await().atMost(Duration.ofSeconds(20))
				.untilAsserted(() -> assertThat(this.states.read(SHARD, Long.class)).containsEntry("/", 1L));
			verify(this.visits).visit(eq("/"), any());
			verify(this.pages).opened("/");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Pages pages() {
			return new Pages();
		}

		@Bean
		Visits visits(Pages pages) {
			return new Visits(pages);
		}

	}

	static class Pages {

		void opened(String page) {
			throw new IllegalStateException("There are no pages in this test");
		}

	}

	static class Visits {

		private final Pages pages;

		Visits(Pages pages) {
			this.pages = pages;
		}

		@ShardConsumer("visits")
		void visit(String page, ShardState state) {
			this.pages.opened(page);
			state.increment(page, 1);
		}

	}

}
