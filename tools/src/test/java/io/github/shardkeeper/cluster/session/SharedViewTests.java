package io.github.shardkeeper.cluster.session;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.cluster.ClusterInstance;
import io.github.shardkeeper.cluster.ClusterView;
import io.github.shardkeeper.cluster.ClusterView.View;
import io.github.shardkeeper.cluster.memory.MemoryCluster;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("proof")
class SharedViewTests {

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final MemoryCluster cluster = MemoryCluster.of(this.store);

	@Test
	void listenerThatWasCalledWithoutTheLeaseIsCalledAgainWithTheIndex() {
		try (ClusterInstance a = new ClusterInstance("a", this.store, this.cluster)) {
			ClusterView view = a.view();
			await().until(() -> view.index().isPresent());
			a.cutOff(true);
			await().until(() -> view.index().isEmpty());
			List<View> told = new CopyOnWriteArrayList<>();
			view.onChange(told::add);
			await().until(() -> !told.isEmpty());
			assertThat(told.get(0).index()).isEmpty();

			a.cutOff(false);

			await().until(() -> told.get(told.size() - 1).index().isPresent());
		}
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5));
	}

}
