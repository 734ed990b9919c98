package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class ReopenedShardTests {

	@Test
	void completedShardThatTheSourceListsAsOpenIsAProblemOfTheGroup() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
			.withPropertyValues("shardkeeper.group=shop", "shardkeeper.store=memory")
			.withBean(ShardSource.class, EndingSource::new)
			.withBean(Orders.class, Orders::new)
			.run((context) -> {
				ShardCoordinator coordinator = context.getBean(ShardCoordinator.class);
				await().atMost(Duration.ofSeconds(30)).until(() -> !coordinator.groupProblems().isEmpty());
				assertThat(coordinator.groupProblems()).singleElement().satisfies((problem) -> {
					assertThat(problem.serious()).isTrue();
					assertThat(problem.concerned()).startsWith("orders/1, since ");
					assertThat(problem.problem()).contains("completed, but its source lists it as open");
				});
			});
	}

	static class Orders {

		@ShardConsumer("orders")
		void handle(String order) {
		}

	}

	/** Both shards have an end; the second one is listed as open long after it. */
	static class EndingSource implements ShardSource {

		@Override
		public Map<String, TopicShards> topics() {
			return Map.of("orders", TopicShards.count(2));
		}

		@Override
		public Map<String, OpenShards> openShards() {
			return Map.of("orders", new OpenShards(Set.of("1"), Duration.ofMinutes(-10)));
		}

		@Override
		public Watch watch(Runnable onChange) {
			return () -> {
			};
		}

		@Override
		public ShardReader openReader() {
			return new EndingReader();
		}

		@Override
		public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
			Map<ShardId, Offset> offsets = new HashMap<>();
			shards.forEach((shard) -> offsets.put(shard, new Offset("0")));
			return offsets;
		}

		@Override
		public void close() {
		}

	}

	static class EndingReader implements ShardReader {

		private final BlockingQueue<RecordSink> started = new LinkedBlockingQueue<>();

		@Override
		public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
			this.started.add(sink);
		}

		@Override
		public void stop(ShardId shard) {
		}

		@Override
		public void resume(ShardId shard) {
		}

		@Override
		public boolean poll() throws InterruptedException {
			RecordSink sink = this.started.poll(1, TimeUnit.SECONDS);
			if (sink != null) {
				sink.ended();
			}
			return true;
		}

		@Override
		public Map<ShardId, String> problems() {
			return Map.of();
		}

		@Override
		public void close() {
		}

	}

}
