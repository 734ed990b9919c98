package io.github.shardkeeper.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;

@Tag("proof")
class ClusterTopologyTests {

	/** More than may be under way at a time. */
	private static final int MANY = 6;

	private final RefusingClient client = new RefusingClient();

	@AfterEach
	void close() {
		this.client.shutdown();
	}

	@Test
	void refreshContinuesAfterAttemptsThatCouldNotStart() {
		ClusterTopology topology = new ClusterTopology(this.client, RedisConnector.threads("shardkeeper-background"));
		assertThatNoException().isThrownBy(topology::refresh);

		await().until(() -> this.client.looks.get() >= MANY);
		topology.stop();
	}

	/** Cannot query any node. */
	private static final class RefusingClient extends RedisClusterClient {

		private final AtomicInteger looks = new AtomicInteger();

		RefusingClient() {
			super(null, List.of(RedisURI.create("localhost", 1)));
		}

		@Override
		public CompletionStage<Void> refreshPartitionsAsync() {
			if (this.looks.incrementAndGet() < MANY) {
				throw new IllegalStateException("stopped, caused by the test");
			}
			return CompletableFuture.completedFuture(null);
		}

	}

}
