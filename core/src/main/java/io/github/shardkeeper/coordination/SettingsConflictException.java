package io.github.shardkeeper.coordination;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Thrown to an instance whose settings would divide the data of its group: an instance
 * that runs has others. A retry succeeds once all instances with the other settings have
 * stopped.
 */
final class SettingsConflictException extends ShardkeeperConfigurationException {

	SettingsConflictException(String description, String action) {
		super(description, action);
	}

}
