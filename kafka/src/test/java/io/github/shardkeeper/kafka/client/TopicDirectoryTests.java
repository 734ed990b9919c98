package io.github.shardkeeper.kafka.client;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

class TopicDirectoryTests {

	@Test
	void partitionsAreNotAwaitedForeverWhileTheSourceIsClosed() {
		KafkaSourceSettings settings = KafkaSourceSettings.of(Map.of("orders", KafkaTopic.named("orders")),
				Map.of("bootstrap.servers", "localhost:1"));
		KafkaFailure failures = new KafkaFailure(settings.servers());
		CountDownLatch released = new CountDownLatch(1);
		ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1) {

			@Override
			protected void beforeExecute(Thread thread, Runnable task) {
				// As if the executor were shut down just now: no task ever ends.
				assertThatCode(released::await).doesNotThrowAnyException();
			}

		};
		try (KafkaAdmin admin = new KafkaAdmin(settings.adminProperties(""), failures, KafkaClientListener.NONE)) {
			TopicDirectory directory = new TopicDirectory(settings, admin, failures, executor);
			assertTimeoutPreemptively(Duration.ofSeconds(30), () -> directory.awaitPartitions("orders", 2));
			assertThat(directory.described("orders")).isNull();
		}
		finally {
			executor.shutdown();
			executor.getQueue().clear();
			released.countDown();
		}
	}

}
