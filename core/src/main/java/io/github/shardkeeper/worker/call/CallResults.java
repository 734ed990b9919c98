package io.github.shardkeeper.worker.call;

import org.jspecify.annotations.Nullable;

/** Processes the results of calls. Confined to the shard's worker. */
public interface CallResults {

	/**
	 * Processes a result.
	 * @throws io.github.shardkeeper.StoreUnavailableException if it has to wait for the
	 * store
	 */
	void process(DeliveryCalls.Result result);

	/** Returns a result that has to be processed again, {@code null} for none. */
	default DeliveryCalls.@Nullable Result unsettled() {
		return null;
	}

}
