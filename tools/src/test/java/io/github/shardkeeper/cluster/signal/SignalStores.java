package io.github.shardkeeper.cluster.signal;

import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;

/**
 * The stores of one instance, all of the same group.
 *
 * @param coordination the store of the group
 * @param messages the messages to cluster tools
 * @param views the store of the view
 * @param signals the store under test
 * @param onClose closes what the stores share
 */
public record SignalStores(CoordinationStore coordination, ClusterMessages messages, ViewStore views,
		SignalStore signals, Runnable onClose) implements AutoCloseable {

	@Override
	public void close() {
		this.coordination.close();
		this.onClose.run();
	}

}
