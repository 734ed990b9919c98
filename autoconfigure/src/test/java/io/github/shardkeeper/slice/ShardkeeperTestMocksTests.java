package io.github.shardkeeper.slice;

import java.time.Duration;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.test.slice.ShardkeeperTest;
import io.github.shardkeeper.test.slice.TestShards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.argThat;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/** Handlers and other beans that a test replaces. */
class ShardkeeperTestMocksTests {

	@Nested
	@ShardkeeperTest(value = VisitCounter.class,
			properties = { "shardkeeper.topics.visits.shards=1", "shardkeeper.topics.reports.shards=1" })
	class MockedHandler {

		@MockitoBean
		private VisitCounter counter;

		@Autowired
		private TestShards shards;

		@Test
		void isCalledAndItsRecordCounts() {
			Appended sent = this.shards.send("visits", "ann", "/");
			this.shards.step();

			verify(this.counter).visit(argThat((visit) -> visit.payload().equals("/")), any(), any(), any());
			assertThat(this.shards.committed(sent.shard())).contains(sent.offset());
			assertThat(this.shards.state(sent.shard(), Object.class)).isEmpty();
		}

		@Test
		void failsAsItIsTold() {
			willThrow(new IllegalStateException("busy")).willDoNothing()
				.given(this.counter)
				.visit(any(), any(), any(), any());
			Appended sent = this.shards.send("visits", "ann", "/");
			this.shards.step();
			assertThat(this.shards.committed(sent.shard())).isEmpty();

			this.shards.advance(Duration.ofSeconds(1));

			verify(this.counter, times(2)).visit(any(), any(), any(), any());
			assertThat(this.shards.committed(sent.shard())).contains(sent.offset());
		}

	}

	@Nested
	@ShardkeeperTest(value = VisitCounter.class,
			properties = { "shardkeeper.topics.visits.shards=1", "shardkeeper.topics.reports.shards=1" })
	@Import(Pages.class)
	class SpiedHandler {

		@MockitoSpyBean
		private VisitCounter counter;

		@MockitoBean
		private ShardTemplate template;

		@Autowired
		private TestShards shards;

		@Test
		void runsAndIsVerified() {
			Appended sent = this.shards.send("visits", "ann", "/");
			this.shards.step();

			verify(this.counter).visit(any(), any(), any(), any());
			assertThat(this.shards.state(sent.shard(), Object.class)).containsEntry("ann", 1);
		}

	}

}
