package io.github.shardkeeper.autoconfigure;

import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Mode;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Offsets;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Topic;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Checks topics of which every instance consumes every shard. Has no state.
 */
final class BroadcastCheck {

	private BroadcastCheck() {
	}

	static void check(ShardkeeperProperties properties) {
		properties.topics().forEach((name, topic) -> {
			if (topic.mode() == Mode.BROADCAST) {
				requireNoAssignment(name, topic);
				requireDirectory(name, properties.broadcast());
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

	private static void requireDirectory(String name, ShardkeeperProperties.Broadcast broadcast) {
		if (broadcast.offsets() == Offsets.LOCAL
				&& (broadcast.directory() == null || broadcast.directory().toString().isBlank())) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.broadcast.offsets' is 'local' (for topic '%s'), but 'shardkeeper.broadcast.directory' is not set."
						.formatted(name),
					"Set 'shardkeeper.broadcast.directory' to a directory of this instance that outlives a restart, "
							+ "or 'shardkeeper.broadcast.offsets' to 'redis'.");
		}
	}

}
