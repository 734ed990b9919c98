package io.github.shardkeeper.cluster.session;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.cluster.ClusterInstance;
import io.github.shardkeeper.cluster.memory.MemoryCluster;
import io.github.shardkeeper.cluster.memory.MemorySignalStore;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

/** What the tools of one instance hear of their session. */
@Tag("proof")
class ClusterSessionTests {

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final MemoryCluster cluster = MemoryCluster.of(this.store);

	@Test
	void toolThatFailsDoesNotKeepTheOthersFromMessagesAndCatchingUp() {
		try (ClusterInstance instance = new ClusterInstance("a", this.store, this.cluster)) {
			Failing failing = new Failing();
			Recorder recorder = new Recorder();
			instance.session().add(failing);
			instance.session().add(recorder);
			await(recorder.caughtUp);

			new MemorySignalStore(this.cluster).send("any", "", Duration.ofMinutes(1), "address");
			await(recorder.told);
			instance.cutOff(true);

			await(recorder.sessionChanged);
			assertThat(failing.failures).isDone();
		}
	}

	@Test
	void toolsCatchUpWithoutASubscriptionWhileTheStoreIsFull() {
		try (ClusterInstance instance = new ClusterInstance("a", this.store, this.cluster)) {
			instance.withoutMemory(true);
			Recorder recorder = new Recorder();
			instance.session().add(recorder);
			await(recorder.caughtUp);

			instance.withoutMemory(false);
			Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> {
				new MemorySignalStore(this.cluster).send("any", "", Duration.ofMinutes(1), "address");
				return recorder.told.await(100, TimeUnit.MILLISECONDS);
			});
		}
	}

	private static void await(CountDownLatch latch) {
		Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> latch.await(1, TimeUnit.MILLISECONDS));
	}

	/** Fails in every call. */
	private static final class Failing implements ClusterTool {

		private final CompletableFuture<Boolean> failures = new CompletableFuture<>();

		private RuntimeException failure() {
			this.failures.complete(true);
			return new IllegalStateException("Unexpected");
		}

		@Override
		public void message(String kind, String text) {
			throw failure();
		}

		@Override
		public void catchUp(MemberId member, ViewStore.Reply reply) {
			throw failure();
		}

		@Override
		public void sessionChanged() {
			throw failure();
		}

		@Override
		public void writesMayBeLost() {
			throw failure();
		}

	}

	private static final class Recorder implements ClusterTool {

		private final CountDownLatch told = new CountDownLatch(1);

		private final CountDownLatch caughtUp = new CountDownLatch(1);

		private final CountDownLatch sessionChanged = new CountDownLatch(1);

		@Override
		public void message(String kind, String text) {
			this.told.countDown();
		}

		@Override
		public void catchUp(MemberId member, ViewStore.Reply reply) {
			this.caughtUp.countDown();
		}

		@Override
		public void sessionChanged() {
			this.sessionChanged.countDown();
		}

	}

}
