package io.github.shardkeeper.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.coordination.CoordinationSettings;
import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;

/** Stores inside this process. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "shardkeeper.store", havingValue = "memory")
class MemoryStoreConfiguration {

	@Bean
	@ConditionalOnMissingBean
	CoordinationStore shardkeeperCoordinationStore() {
		return new MemoryCoordinationStore();
	}

	@Bean
	@ConditionalOnMissingBean(CheckpointStore.class)
	MemoryCheckpointStore shardkeeperCheckpointStore() {
		return new MemoryCheckpointStore();
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
		return new BroadcastStores(settings.broadcastTopics(), coordination, (name) -> {
			MemoryCheckpointStore store = new MemoryCheckpointStore();
			return new BroadcastStores.Stores(store, new MemoryDeadLetterStore(store));
		});
	}

}
