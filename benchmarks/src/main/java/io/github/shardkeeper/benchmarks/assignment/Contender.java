package io.github.shardkeeper.benchmarks.assignment;

/**
 * A planner of a group. It holds the group in its own form; {@link #plan} computes the
 * plan. Confined to its thread.
 */
interface Contender {

	/** Name of Kafka's default assignor for {@link #of}. */
	String UNIFORM = "Kafka group coordinator: uniform";

	/**
	 * Plans, changing nothing.
	 * @return the plan, in a form of its own
	 */
	Object plan();

	/**
	 * Reads a plan.
	 * @param plan the result of {@link #plan}
	 * @return the number of the owner by shard
	 */
	int[] owners(Object plan);

	static Contender of(String name, Scenario scenario) {
		return switch (name) {
			case UNIFORM -> new KafkaCoordinator(scenario);
			case "Kafka client: cooperative-sticky", "Kafka client: range", "Kafka client: round-robin" ->
				new KafkaClient(scenario, name.substring(name.indexOf(' ', name.indexOf(':')) + 1));
			default -> new ShardkeeperLeader(scenario, name.substring(name.indexOf(' ') + 1));
		};
	}

}
