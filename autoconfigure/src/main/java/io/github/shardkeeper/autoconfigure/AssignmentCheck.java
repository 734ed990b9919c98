package io.github.shardkeeper.autoconfigure;

import java.time.Duration;

import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Assignment;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Topic;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Checks how shards are to be assigned, as far as no bean is needed for that. Has no
 * state.
 */
final class AssignmentCheck {

	private static final int MOST_CAPACITY = 1_000_000;

	private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(10);

	private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(1);

	private AssignmentCheck() {
	}

	static void check(ShardkeeperProperties properties) {
		Assignment assignment = properties.assignment();
		if (assignment.capacity() < 1 || assignment.capacity() > MOST_CAPACITY) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.assignment.capacity' is %d.".formatted(assignment.capacity()),
					"Set it to a number from 1 to %d: one of 4 takes twice as much as one of 2. ".formatted(
							MOST_CAPACITY) + "An instance that shall take nothing has no @ShardConsumer method.");
		}
		if (assignment.zone() != null && !assignment.zone().isEmpty()) {
			Names.requireValid(assignment.zone(), "shardkeeper.assignment.zone");
		}
		if (assignment.timeout().compareTo(SHORTEST_TIMEOUT) < 0
				|| assignment.timeout().compareTo(LONGEST_TIMEOUT) > 0) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.assignment.timeout' is %d ms.".formatted(assignment.timeout().toMillis()),
					"Set it to %d ms or more, and to at most %d s: shards without an owner wait for it."
						.formatted(SHORTEST_TIMEOUT.toMillis(), LONGEST_TIMEOUT.toSeconds()));
		}
		LoadSettings.settings(assignment.load());
		properties.topics().forEach(AssignmentCheck::checkTopic);
	}

	private static void checkTopic(String name, Topic topic) {
		topic.weights().forEach((shard, weight) -> {
			String property = requireShard(name, topic, "weights", shard);
			if (weight < 1 || weight > ShardTraits.MOST_WEIGHT) {
				throw new ShardkeeperConfigurationException("'%s' is %d.".formatted(property, weight),
						"Set it to a number from 1 to %d, compared with 1 for a shard that is not named."
							.formatted(ShardTraits.MOST_WEIGHT));
			}
		});
		topic.zones().forEach((shard, zone) -> Names.requireValid(zone, requireShard(name, topic, "zones", shard)));
		topic.pinned()
			.forEach((shard, instance) -> Names.requireValid(instance, requireShard(name, topic, "pinned", shard)));
	}

	private static String requireShard(String name, Topic topic, String setting, String shard) {
		String property = "shardkeeper.topics.%s.%s.%s".formatted(name, setting, shard);
		if (!isNumberBelow(shard, topic.shards())) {
			throw new ShardkeeperConfigurationException(
					"'%s' is set, but the topic has no shard '%s'.".formatted(property, shard),
					"Its shards are 0 to %d: correct the number, or 'shardkeeper.topics.%s.shards'."
						.formatted(topic.shards() - 1, name));
		}
		return property;
	}

	private static boolean isNumberBelow(String text, int end) {
		return text.matches("0|[1-9][0-9]{0,8}") && Integer.parseInt(text) < end;
	}

}
