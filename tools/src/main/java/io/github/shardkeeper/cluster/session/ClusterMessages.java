package io.github.shardkeeper.cluster.session;

import java.util.function.Consumer;

import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;

/**
 * Messages of the store to the instances of a group that use cluster tools. A message may
 * be lost or come twice; it only says that something has changed, or repeats what the
 * store replies when it is asked. Thread-safe.
 */
public interface ClusterMessages {

	/**
	 * Opens a subscription to the messages for all, and for one address.
	 * @param address the address of this instance
	 * @param onMessage called on a thread of the store; must not block
	 * @throws io.github.shardkeeper.StoreUnavailableException when the store does not
	 * confirm it in time
	 */
	Subscription subscribe(String address, Consumer<String> onMessage);

}
