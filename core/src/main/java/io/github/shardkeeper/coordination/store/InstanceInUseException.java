package io.github.shardkeeper.coordination.store;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.MemberId;

/**
 * Thrown to a member that has to be alone under its instance id, while another process
 * runs under it. A retry succeeds once that has stopped.
 */
public final class InstanceInUseException extends StoreUnavailableException {

	public InstanceInUseException(MemberId other) {
		super(("The instance id '%s' is in use by another running process, the member %s. With "
				+ "'shardkeeper.session.on-leave: keep' each process needs an id of its own: set "
				+ "'shardkeeper.instance-id' to what differs between them and stays the same over restarts, for "
				+ "example the name of the pod. This process joins when the other one has left")
			.formatted(other.instance(), other), null, true);
	}

}
