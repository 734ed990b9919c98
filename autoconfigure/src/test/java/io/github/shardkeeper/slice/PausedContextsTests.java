package io.github.shardkeeper.slice;

import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestContextManager;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.consumer.ShardConsumerRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Contexts that Spring keeps for later tests: they consume only while a test uses them.
 */
class PausedContextsTests {

	@Test
	void cachedContextConsumesOnlyWhileItsTestsRun() throws Exception {
		TestContextManager first = new TestContextManager(First.class);
		first.beforeTestClass();
		ShardConsumerRunner cached = runner(first);
		assertThat(cached.isRunning()).isTrue();
		first.afterTestClass();

		TestContextManager second = new TestContextManager(Second.class);
		second.beforeTestClass();
		assertThat(runner(second)).isNotSameAs(cached);
		assertThat(cached.isRunning()).as("while another context is used").isFalse();
		second.afterTestClass();

		TestContextManager again = new TestContextManager(First.class);
		again.beforeTestClass();
		assertThat(runner(again)).isSameAs(cached);
		assertThat(cached.isRunning()).as("when it is used again").isTrue();
		again.afterTestClass();
	}

	private static ShardConsumerRunner runner(TestContextManager manager) {
		ApplicationContext context = manager.getTestContext().getApplicationContext();
		return context.getBean(ShardConsumerRunner.class);
	}

	@SpringBootTest(classes = Application.class, properties = { "spring.main.web-application-type=none",
			"shardkeeper.store=memory", "shardkeeper.group=first", "shardkeeper.topics.visits.shards=1" })
	static class First {

	}

	@SpringBootTest(classes = Application.class, properties = { "spring.main.web-application-type=none",
			"shardkeeper.store=memory", "shardkeeper.group=second", "shardkeeper.topics.visits.shards=1" })
	static class Second {

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ ShardkeeperAutoConfiguration.class, Visits.class })
	static class Application {

	}

	static class Visits {

		@ShardConsumer("visits")
		void visit(String page) {
			// Nothing is sent.
		}

	}

}
