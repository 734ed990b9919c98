package io.github.shardkeeper.simulation;

import java.util.List;
import java.util.random.RandomGenerator;

import io.github.shardkeeper.shard.ShardId;

/** Changes of a topic's shards while a group consumes them. */
final class Resharding {

	private static final int MOST_SHARDS = 12;

	private final SimulatedGroup group;

	private final SimulatedTopic topic;

	private final RandomGenerator random;

	Resharding(SimulatedGroup group, RandomGenerator random) {
		this.group = group;
		this.topic = group.topic();
		this.random = random;
	}

	/**
	 * One of them; tells which.
	 * @param feedingMillis how long records come to shards that are new
	 */
	String next(long feedingMillis) {
		List<ShardId> open = this.topic.open();
		if (open.isEmpty() || this.topic.shards().size() >= MOST_SHARDS) {
			return "nothing";
		}
		ShardId one = open.get(this.random.nextInt(open.size()));
		switch (this.random.nextInt(4)) {
			case 0 -> {
				feed(this.topic.add(), feedingMillis);
				return "new shard";
			}
			case 1 -> {
				feed(this.topic.add(one), feedingMillis);
				feed(this.topic.add(one), feedingMillis);
				return "split";
			}
			case 2 -> {
				ShardId other = open.get(this.random.nextInt(open.size()));
				if (other.equals(one)) {
					return "nothing";
				}
				feed(this.topic.add(one, other), feedingMillis);
				return "merge";
			}
			default -> {
				this.topic.close(one);
				return "closed shard";
			}
		}
	}

	private void feed(ShardId shard, long feedingMillis) {
		for (int i = this.random.nextInt(8); i > 0; i--) {
			this.group.in(this.random.nextLong(feedingMillis), () -> this.topic.append(shard));
		}
	}

}
