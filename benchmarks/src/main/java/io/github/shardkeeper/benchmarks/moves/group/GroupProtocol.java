package io.github.shardkeeper.benchmarks.moves.group;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.shardkeeper.benchmarks.Contender;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.moves.group.KafkaSettings.Protocol;

/**
 * A way to divide shards among instances that come and go, with its settings. Immutable.
 *
 * @param text its name in the table
 * @param leaseMillis the lease of its members, 0 for Kafka, which has none
 * @param heartbeatMillis the time between two heartbeats of a member
 * @param keepsShards whether an instance that is replaced has its shards kept for the one
 * that comes under its name
 * @param opener starts the servers that its instances need
 */
public record GroupProtocol(String text, long leaseMillis, long heartbeatMillis, boolean keepsShards,
		Opener opener) implements Contender {

	static final String SHARDKEEPER = "Shardkeeper";

	/** Shardkeeper that consumes the same topic as Kafka's own consumers. */
	public static final String SHARDKEEPER_ON_KAFKA = "Shardkeeper on Kafka";

	/** An application as users have it. */
	static final String USERS_APPLICATION = "Users' application";

	/** The option with parts of the protocols' names. */
	public static final String OPTION = "contenders";

	/** Kafka's sessions without any settings. */
	public static final String DEFAULT = "default";

	/** Kafka's shortest sessions. */
	public static final String TIGHTEST = "tightest";

	/** Shardkeeper alone, in an application as users have it. */
	public static final String USERS = "users";

	/** Shardkeeper alone, with each profile of sessions. */
	public static final String PROFILES = "profiles";

	/** Names of the settings. */
	public static final List<String> SETTINGS = List.of(DEFAULT, TIGHTEST, PROFILES, USERS);

	/**
	 * As long as shards are kept for an instance that does not come back: longer than any
	 * restart, also on a machine with other work.
	 */
	private static final String AWAY_TIMEOUT = "5m";

	/** Returns the protocols of the settings. */
	public static List<GroupProtocol> of(String settings) {
		return switch (settings) {
			case DEFAULT -> with(List.of(), "", KafkaSettings::defaults);
			case TIGHTEST ->
				with(List.of(quick()), ", session 3 s", (protocol) -> KafkaSettings.sessions(protocol, 3000, 100));
			case PROFILES -> List.of(shardkeeper("standard", 3000, 500, "shardkeeper.session.profile=standard"),
					shardkeeper("fast-failover", 1500, 300, "shardkeeper.session.profile=fast-failover"));
			case USERS -> List.of(users(USERS_APPLICATION, List::of),
					users(USERS_APPLICATION + ", no warm-up", () -> List.of("-Dio.github.shardkeeper.warm-up=off")));
			default -> throw new IllegalArgumentException("There are no settings '" + settings + "'");
		};
	}

	/**
	 * Returns those that keep the shards of an instance for its return. Kafka's static
	 * members are its own means for restarts: nothing is reassigned if a member is back
	 * within its session, which therefore has its default.
	 */
	public static List<GroupProtocol> withKeptShards() {
		return List.of(
				new GroupProtocol("Shardkeeper, keep", 3000, 500, true,
						(shards) -> new ShardkeeperCluster(shards, ShardkeeperInstance.launcher(), false,
								List.of("shardkeeper.session.on-leave=keep",
										"shardkeeper.session.away-timeout=" + AWAY_TIMEOUT))),
				kafka("range, static members", KafkaSettings.defaults(Protocol.RANGE), true));
	}

	/**
	 * Returns those that an option names; without it, all but Shardkeeper on Kafka, with
	 * which a run would take longer than ten minutes.
	 */
	public static List<GroupProtocol> chosen(Options options, List<GroupProtocol> all) {
		return options.values().containsKey(OPTION) ? options.matching(OPTION, all)
				: all.stream().filter((protocol) -> !protocol.text.equals(SHARDKEEPER_ON_KAFKA)).toList();
	}

	private static GroupProtocol quick() {
		return shardkeeper(SHARDKEEPER + ", lease 1 s", 1000, 250, "shardkeeper.session.lease=1s",
				"shardkeeper.session.heartbeat-interval=250ms");
	}

	private static GroupProtocol shardkeeper(String text, long leaseMillis, long heartbeatMillis,
			String... properties) {
		return new GroupProtocol(text, leaseMillis, heartbeatMillis, false,
				(shards) -> new ShardkeeperCluster(shards, ShardkeeperInstance.launcher(), false, List.of(properties)));
	}

	private static GroupProtocol users(String text, Supplier<List<String>> options) {
		return new GroupProtocol(text, 3000, 500, false, (shards) -> {
			List<String> launcher = new ArrayList<>(options.get());
			launcher.addAll(List.of("-jar", BootJar.users().toString()));
			return new ShardkeeperCluster(shards, launcher, false,
					List.of("server.port=0", "management.endpoints.web.exposure.include=*"));
		});
	}

	private static List<GroupProtocol> with(List<GroupProtocol> more, String suffix,
			Function<Protocol, KafkaSettings> settings) {
		List<GroupProtocol> all = new ArrayList<>(List.of(shardkeeper(SHARDKEEPER, 3000, 500)));
		all.addAll(more);
		all.add(new GroupProtocol(SHARDKEEPER_ON_KAFKA, 3000, 500, false,
				(shards) -> new ShardkeeperCluster(shards, ShardkeeperInstance.launcher(), true, List.of())));
		Stream.of(Protocol.values())
			.forEach((protocol) -> all.add(kafka(protocol.title() + suffix, settings.apply(protocol), false)));
		return all;
	}

	private static GroupProtocol kafka(String title, KafkaSettings settings, boolean keepsShards) {
		return new GroupProtocol("Kafka " + title, 0, settings.heartbeatMillis(), keepsShards,
				(shards) -> new KafkaCluster(shards, settings, keepsShards));
	}

	/** Returns whether it is Shardkeeper. */
	public boolean isShardkeeper() {
		return this.leaseMillis > 0;
	}

	/** Starts the servers that instances need. */
	public interface Opener {

		Cluster open(int shards) throws Exception;

	}

}
