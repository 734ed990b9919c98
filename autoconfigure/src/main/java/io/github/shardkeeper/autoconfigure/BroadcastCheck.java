package io.github.shardkeeper.autoconfigure;

import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Broadcast;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Mode;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Topic;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Checks the settings of broadcast topics. Has no state.
 */
final class BroadcastCheck {

	private BroadcastCheck() {
	}

	static void check(ShardkeeperProperties properties) {
		requireOffsetsInStore(properties.broadcast());
		properties.topics().forEach((name, topic) -> {
			if (topic.mode() == Mode.BROADCAST) {
				requireNoAssignment(name, topic);
			}
		});
	}

	private static void requireNoAssignment(String name, Topic topic) {
		refuse(topic.strategy() != null && !topic.strategy().isEmpty(), name, "strategy");
		refuse(!topic.weights().isEmpty(), name, "weights");
		refuse(!topic.zones().isEmpty(), name, "zones");
		refuse(!topic.pinned().isEmpty(), name, "pinned");
	}

	private static void refuse(boolean isSet, String name, String setting) {
		if (isSet) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.topics.%s.%s' is set, but 'shardkeeper.topics.%s.mode' is 'broadcast': every instance consumes every shard, so none is assigned."
						.formatted(name, setting, name),
					"Remove '%s', or set the mode to 'coordinated'.".formatted(setting));
		}
	}

	/**
	 * Rejects the files of earlier versions; ignoring them would lose offsets silently.
	 */
	private static void requireOffsetsInStore(Broadcast broadcast) {
		if (broadcast.offsets().equalsIgnoreCase("local")) {
			throw filesNotSupported("'shardkeeper.broadcast.offsets' is 'local'");
		}
		if (!broadcast.offsets().equalsIgnoreCase("redis")) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.broadcast.offsets' is '%s'.".formatted(broadcast.offsets()),
					"Remove it, or set it to 'redis', which is the only value.");
		}
		if (broadcast.directory() != null) {
			throw filesNotSupported("'shardkeeper.broadcast.directory' is set");
		}
	}

	private static ShardkeeperConfigurationException filesNotSupported(String what) {
		return new ShardkeeperConfigurationException(what + ", but offsets in files are no longer supported.",
				"Remove 'shardkeeper.broadcast.offsets' and 'shardkeeper.broadcast.directory'. Redis keeps the offsets, "
						+ "state, retry queue and dead letters of broadcast topics, for each 'shardkeeper.instance-id' its "
						+ "own. It does not read the files: an instance begins at 'shardkeeper.topics.<name>.start' once.");
	}

}
