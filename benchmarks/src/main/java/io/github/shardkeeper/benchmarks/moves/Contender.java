package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.List;

import io.github.shardkeeper.benchmarks.moves.KafkaSettings.Protocol;

/**
 * Something whose instances come and go. Immutable.
 *
 * @param name its name in the table
 * @param leaseMillis the lease of its members, 0 for Kafka, which has none
 * @param heartbeatMillis the time between two heartbeats of a member
 * @param staticMembers whether an instance that is replaced has its shards kept for the
 * one that comes under its name
 * @param opener starts what its instances need
 */
record Contender(String name, long leaseMillis, long heartbeatMillis, boolean staticMembers, Opener opener) {

	static final String OURS = "Shardkeeper";

	/** Kafka's sessions as they are without any settings. */
	static final String DEFAULT = "default";

	/** Those that there are contenders of. */
	static final List<String> SETTINGS = List.of(DEFAULT, "6s", "tightest");

	/** What is compared with what. */
	static List<Contender> of(String settings) {
		Contender ours = ours(OURS, 3000, 500, List.of());
		Contender quick = ours(OURS + ", lease 1 s", 1000, 250,
				List.of("shardkeeper.session.lease=1s", "shardkeeper.session.heartbeat-interval=250ms"));
		return switch (settings) {
			case DEFAULT -> with(List.of(ours), "", KafkaSettings::defaults);
			case "6s" ->
				with(List.of(ours, quick), ", session 6 s", (protocol) -> KafkaSettings.sessions(protocol, 6000, 2000));
			case "tightest" ->
				with(List.of(ours, quick), ", session 3 s", (protocol) -> KafkaSettings.sessions(protocol, 3000, 100));
			default -> throw new IllegalArgumentException("There are no settings '" + settings + "'");
		};
	}

	private static Contender ours(String name, long leaseMillis, long heartbeatMillis, List<String> properties) {
		return new Contender(name, leaseMillis, heartbeatMillis, false,
				(shards) -> new RedisCluster(shards, properties));
	}

	private static List<Contender> with(List<Contender> ours, String suffix, Choice choice) {
		List<Contender> all = new ArrayList<>(ours);
		for (Protocol protocol : Protocol.values()) {
			all.add(kafka(protocol.title() + suffix, choice.of(protocol), false));
		}
		return all;
	}

	private static Contender kafka(String title, KafkaSettings settings, boolean staticMembers) {
		return new Contender("Kafka " + title, 0, settings.heartbeatMillis(), staticMembers,
				(shards) -> new KafkaCluster(shards, settings, staticMembers));
	}

	/**
	 * Kafka's own means for restarts: nothing is shared out anew, if whoever leaves is
	 * back within its session, which is therefore at its default.
	 */
	static Contender withStaticMembers() {
		return kafka("range, static members", KafkaSettings.defaults(Protocol.RANGE), true);
	}

	/** Whether it is Shardkeeper. */
	boolean isOurs() {
		return this.leaseMillis > 0;
	}

	/** Starts what instances need. */
	interface Opener {

		Cluster open(int shards) throws Exception;

	}

	private interface Choice {

		KafkaSettings of(Protocol protocol);

	}

}
