package io.github.shardkeeper.slice;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestContextManager;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.test.slice.ShardkeeperTest;
import io.github.shardkeeper.test.slice.TestShards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What is in the context of a slice, and what it refuses. */
class ShardkeeperTestContextTests {

	@Test
	void classWithoutAHandlerFailsTheStart() {
		assertThatStartOf(NoHandler.class)
			.hasMessageContaining("names io.github.shardkeeper.slice.Pages, which has no @ShardConsumer method");
	}

	@Test
	void broadcastTopicFailsTheStart() {
		assertThatStartOf(BroadcastTopic.class).hasMessageContaining("'visits' is a broadcast topic");
	}

	private static AbstractThrowableAssert<?, ?> assertThatStartOf(Class<?> testClass) {
		TestContextManager manager = new TestContextManager(testClass);
		return assertThatThrownBy(() -> manager.getTestContext().getApplicationContext()).rootCause();
	}

	@ShardkeeperTest(value = Pages.class, properties = "shardkeeper.topics.visits.shards=1")
	static class NoHandler {

	}

	@ShardkeeperTest(value = VisitCounter.class,
			properties = { "shardkeeper.topics.visits.mode=broadcast", "shardkeeper.topics.visits.shards=1",
					"shardkeeper.topics.reports.shards=1" })
	@Import(Pages.class)
	static class BroadcastTopic {

	}

	/** A handler of the test itself, in a schedule, with what the application adds. */
	@Nested
	@ShardkeeperTest(value = Reports.class,
			properties = { "shardkeeper.topics.nightly.source=fixed", "shardkeeper.topics.nightly.shards=2",
					"shardkeeper.topics.visits.shards=1" })
	@Import(Calls.class)
	class HandlerOfTheTest {

		@Autowired
		private TestShards shards;

		@Autowired
		private Reports reports;

		@Autowired
		private AtomicInteger intercepted;

		@Test
		void runsInItsScheduleAndThroughInterceptors() {
			this.shards.advance(Duration.ofMinutes(59));
			assertThat(this.reports.written).isZero();

			this.shards.advance(Duration.ofMinutes(1));

			assertThat(this.reports.written).isEqualTo(2);
			assertThat(this.intercepted).hasValue(2);
		}

	}

	static class Reports {

		private int written;

		@ShardConsumer(value = "nightly", cron = "0 0 1 * * *", zone = "UTC")
		void write() {
			this.written++;
		}

	}

	static class Calls {

		@Bean
		AtomicInteger intercepted() {
			return new AtomicInteger();
		}

		@Bean
		ShardInterceptor counter(AtomicInteger intercepted) {
			return (shard, records, call) -> {
				intercepted.incrementAndGet();
				call.proceed();
			};
		}

	}

}
