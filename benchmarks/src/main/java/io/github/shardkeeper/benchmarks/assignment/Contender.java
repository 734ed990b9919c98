package io.github.shardkeeper.benchmarks.assignment;

/**
 * Something that plans a group. It has its picture of the group in the form in which it
 * always has it; {@link #plan} is what it does then. Confined to its thread.
 */
interface Contender {

	/** The names by which {@link #of} knows them, but for our own strategies. */
	String UNIFORM = "Kafka group coordinator: uniform";

	/**
	 * Plans, changing nothing.
	 * @return the plan, in a form of its own
	 */
	Object plan();

	/**
	 * Reads a plan.
	 * @param plan what {@link #plan} returned
	 * @return by shard the number of its owner
	 */
	int[] owners(Object plan);

	static Contender of(String name, Scenario scenario) {
		return switch (name) {
			case UNIFORM -> new KafkaCoordinator(scenario);
			case "Kafka client: cooperative-sticky", "Kafka client: range", "Kafka client: round-robin" ->
				new KafkaClient(scenario, name.substring(name.indexOf(' ', name.indexOf(':')) + 1));
			default -> new Ours(scenario, name.substring(name.indexOf(' ') + 1));
		};
	}

}
