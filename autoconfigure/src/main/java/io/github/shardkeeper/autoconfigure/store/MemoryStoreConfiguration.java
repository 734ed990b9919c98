package io.github.shardkeeper.autoconfigure.store;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

import io.github.shardkeeper.autoconfigure.properties.OnApplication;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.cluster.barrier.BarrierStore;
import io.github.shardkeeper.cluster.lock.LockStore;
import io.github.shardkeeper.cluster.memory.MemoryBarrierStore;
import io.github.shardkeeper.cluster.memory.MemoryCluster;
import io.github.shardkeeper.cluster.memory.MemoryLockStore;
import io.github.shardkeeper.cluster.memory.MemoryParameterStore;
import io.github.shardkeeper.cluster.memory.MemorySignalStore;
import io.github.shardkeeper.cluster.memory.MemoryViewStore;
import io.github.shardkeeper.cluster.parameter.ParameterStore;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.cluster.signal.SignalStore;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.history.MemoryMoveHistory;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.time.WallClock;

/** Stores inside this process. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "shardkeeper.store", havingValue = "memory")
public class MemoryStoreConfiguration {

	/** The group. Defined before what depends on it. */
	@Configuration(proxyBeanMethods = false)
	@Order(1)
	static class Group {

		@Bean
		@ConditionalOnMissingBean(CoordinationStore.class)
		MemoryCoordinationStore shardkeeperCoordinationStore(ObjectProvider<WallClock> clock) {
			return MemoryCoordinationStore.ofNewGroup(clock.getIfAvailable(() -> WallClock.SYSTEM));
		}

	}

	/** What belongs to the group; missing with an application's coordination store. */
	@Configuration(proxyBeanMethods = false)
	@Order(2)
	@ConditionalOnBean(MemoryCoordinationStore.class)
	static class GroupStores {

		@Bean
		MoveHistory shardkeeperMoveHistory(MemoryCoordinationStore group, ShardkeeperSettings settings) {
			return group.companion(MemoryMoveHistory.class, (store) -> new MemoryMoveHistory(settings.history()));
		}

	}

	/** Stores of the cluster tools, which are a module of their own. */
	@Configuration(proxyBeanMethods = false)
	@Order(2)
	@ConditionalOnClass(ViewStore.class)
	@ConditionalOnBean(MemoryCoordinationStore.class)
	@Conditional(OnApplication.class)
	static class ClusterStores {

		@Bean
		MemoryCluster shardkeeperMemoryCluster(MemoryCoordinationStore group) {
			return MemoryCluster.of(group);
		}

		@Bean
		ViewStore shardkeeperViewStore(MemoryCluster cluster) {
			return new MemoryViewStore(cluster);
		}

		@Bean
		LockStore shardkeeperLockStore(MemoryCluster cluster) {
			return new MemoryLockStore(cluster);
		}

		@Bean
		BarrierStore shardkeeperBarrierStore(MemoryCluster cluster) {
			return new MemoryBarrierStore(cluster);
		}

		@Bean
		SignalStore shardkeeperSignalStore(MemoryCluster cluster) {
			return new MemorySignalStore(cluster);
		}

		@Bean
		ParameterStore shardkeeperParameterStore(MemoryCluster cluster) {
			return new MemoryParameterStore(cluster);
		}

	}

	@Bean
	@ConditionalOnMissingBean(CheckpointStore.class)
	MemoryCheckpointStore shardkeeperCheckpointStore(ObjectProvider<WallClock> clock) {
		return new MemoryCheckpointStore(clock.getIfAvailable(() -> WallClock.SYSTEM));
	}

	/** Missing with an application's checkpoint store, which has the dead letters. */
	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBean(MemoryCheckpointStore.class)
	DeadLetterStore shardkeeperDeadLetterStore(MemoryCheckpointStore checkpoints) {
		return new MemoryDeadLetterStore(checkpoints);
	}

	@Bean
	BroadcastStores shardkeeperBroadcastStores(ShardkeeperSettings settings, CoordinationSettings coordination) {
		return new BroadcastStores(settings, coordination,
				(name) -> BroadcastStores.inMemory(new MemoryCheckpointStore()), MemoryCheckpointStore::new);
	}

}
