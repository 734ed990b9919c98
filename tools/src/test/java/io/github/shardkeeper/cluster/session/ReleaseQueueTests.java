package io.github.shardkeeper.cluster.session;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.ClusterInstance;
import io.github.shardkeeper.cluster.memory.MemoryCluster;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ReleaseQueueTests {

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final MemoryCluster cluster = MemoryCluster.of(this.store);

	@Test
	void refusedReleaseDoesNotKeepTheOthersFromTheStore() {
		try (ClusterInstance instance = new ClusterInstance("a", this.store, this.cluster)) {
			instance.view();
			Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> instance.session().member() != null);
			MemberId session = instance.member();
			List<String> asked = new ArrayList<>();
			ReleaseQueue<String> queue = new ReleaseQueue<>(instance.session(), (released) -> session, (released) -> {
				asked.add(released);
				if (released.equals("refused")) {
					throw new StoreUnavailableException("refused", null, true);
				}
			});
			queue.releaseLater("refused");
			queue.releaseLater("accepted");

			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(queue::repeat).withMessage("refused");
			assertThat(asked).containsExactly("refused", "accepted");
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(queue::repeat);
			assertThat(asked).as("what is confirmed is not repeated").containsExactly("refused", "accepted", "refused");
		}
	}

}
