package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.moves.KafkaSettings.Protocol;

/**
 * A system whose instances come and go. Immutable.
 *
 * @param name its name in the table
 * @param leaseMillis the lease of its members, 0 for Kafka, which has none
 * @param heartbeatMillis the time between two heartbeats of a member
 * @param keepsShards whether an instance that is replaced has its shards kept for the one
 * that comes under its name
 * @param opener starts the servers that its instances need
 */
record Contender(String name, long leaseMillis, long heartbeatMillis, boolean keepsShards, Opener opener) {

	static final String SHARDKEEPER = "Shardkeeper";

	/** Shardkeeper that consumes the same topic as Kafka's own consumers. */
	static final String SHARDKEEPER_ON_KAFKA = "Shardkeeper on Kafka";

	/** Shardkeeper whose instances come back under their ids. */
	static final String SHARDKEEPER_KEEP = "Shardkeeper, keep";

	/**
	 * As long as shards are kept for an instance that does not come back, of which the
	 * first moves of every group have one: longer than any restart here, and shorter than
	 * the default, so that the group is soon at rest.
	 */
	private static final String AWAY_TIMEOUT = "10s";

	/**
	 * An application as users have it, whose code for a shard is loaded when it gets the
	 * first one.
	 */
	static final String USERS_WITHOUT_REHEARSAL = "Users' application, no rehearsal";

	/** An application as users have it. */
	static final String USERS_APPLICATION = "Users' application";

	/**
	 * The same, extracted from its jar, with an archive of its classes. The first of its
	 * processes that ends writes it, which takes part in the moves for warming up.
	 */
	static final String USERS_WITH_ARCHIVE = "Users' application, class data archive";

	/** The first Java version that archives classes by itself. */
	private static final int ARCHIVES_SINCE = 19;

	/** The option with parts of contenders' names. */
	static final String CONTENDERS = "contenders";

	/** Kafka's sessions without any settings. */
	static final String DEFAULT = "default";

	/** Shardkeeper alone, in an application as users have it. */
	static final String USERS = "users";

	/** Property that has the name of a contender of {@link #profiles} as its value. */
	static final String PROFILE = "shardkeeper.session.profile";

	/** Names of the settings. */
	static final List<String> SETTINGS = List.of(DEFAULT, "6s", "tightest", USERS);

	/** Returns the contenders of the settings. */
	static List<Contender> of(String settings) {
		Contender shardkeeper = shardkeeper(SHARDKEEPER, 3000, 500, List.of());
		Contender quick = shardkeeper(SHARDKEEPER + ", lease 1 s", 1000, 250,
				List.of("shardkeeper.session.lease=1s", "shardkeeper.session.heartbeat-interval=250ms"));
		Contender onKafka = new Contender(SHARDKEEPER_ON_KAFKA, 3000, 500, false, KafkaSourceCluster::new);
		return switch (settings) {
			case DEFAULT -> with(List.of(shardkeeper, onKafka), "", KafkaSettings::defaults);
			case USERS -> users(Runtime.version().feature());
			case "6s" -> with(List.of(shardkeeper, quick, onKafka), ", session 6 s",
					(protocol) -> KafkaSettings.sessions(protocol, 6000, 2000));
			case "tightest" -> with(List.of(shardkeeper, quick, onKafka), ", session 3 s",
					(protocol) -> KafkaSettings.sessions(protocol, 3000, 100));
			default -> throw new IllegalArgumentException("There are no settings '" + settings + "'");
		};
	}

	/** Returns Shardkeeper with each profile of sessions, whose handler takes a time. */
	static List<Contender> profiles(long workMillis) {
		String work = ShardkeeperInstance.WORK + "=" + workMillis;
		return List.of(shardkeeper("standard", 3000, 500, List.of(work, PROFILE + "=standard")),
				shardkeeper("fast-failover", 1500, 300, List.of(work, PROFILE + "=fast-failover")));
	}

	private static Contender shardkeeper(String name, long leaseMillis, long heartbeatMillis, List<String> properties) {
		return new Contender(name, leaseMillis, heartbeatMillis, false,
				(shards) -> new RedisCluster(shards, ShardkeeperInstance.launcher(), properties));
	}

	/** Returns applications as users have them, of which one needs a newer Java. */
	static List<Contender> users(int java) {
		List<Contender> users = new ArrayList<>(
				List.of(users(USERS_APPLICATION, () -> List.of("-jar", BootJar.users().file().toString())),
						users(USERS_WITHOUT_REHEARSAL, () -> List.of("-Dio.github.shardkeeper.rehearsal=off", "-jar",
								BootJar.users().file().toString()))));
		if (java >= ARCHIVES_SINCE) {
			users.add(users(USERS_WITH_ARCHIVE, () -> List.of("-XX:+AutoCreateSharedArchive",
					"-XX:SharedArchiveFile=" + BootJar.archive(), "-jar", BootJar.extracted().toString())));
		}
		return users;
	}

	private static Contender users(String name, Supplier<List<String>> launcher) {
		return new Contender(name, 3000, 500, false, (shards) -> new RedisCluster(shards, launcher.get(),
				List.of("server.port=0", "management.endpoints.web.exposure.include=*")));
	}

	private static List<Contender> with(List<Contender> shardkeeper, String suffix, Choice choice) {
		List<Contender> all = new ArrayList<>(shardkeeper);
		for (Protocol protocol : Protocol.values()) {
			all.add(kafka(protocol.title() + suffix, choice.of(protocol), false));
		}
		return all;
	}

	private static Contender kafka(String title, KafkaSettings settings, boolean keepsShards) {
		return new Contender("Kafka " + title, 0, settings.heartbeatMillis(), keepsShards,
				(shards) -> new KafkaCluster(shards, settings, keepsShards));
	}

	/**
	 * Returns those that keep the shards of an instance for its return. Kafka's static
	 * members are its own means for restarts: nothing is reassigned if a member is back
	 * within its session, which therefore has its default.
	 */
	static List<Contender> withKeptShards() {
		List<String> keep = List.of("shardkeeper.session.on-leave=keep",
				"shardkeeper.session.away-timeout=" + AWAY_TIMEOUT);
		return List.of(
				new Contender(SHARDKEEPER_KEEP, 3000, 500, true,
						(shards) -> new RedisCluster(shards, ShardkeeperInstance.launcher(), keep)),
				kafka("range, static members", KafkaSettings.defaults(Protocol.RANGE), true));
	}

	/**
	 * Returns those that an option names; without it, all but Shardkeeper on Kafka, with
	 * which a run would take longer than ten minutes.
	 */
	static List<Contender> chosen(Options options, List<Contender> all) {
		return options.values().containsKey(CONTENDERS) ? options.matching(CONTENDERS, all, Contender::name)
				: all.stream().filter((contender) -> !contender.isOnKafka()).toList();
	}

	/** Returns whether it is Shardkeeper. */
	boolean isShardkeeper() {
		return this.leaseMillis > 0;
	}

	/** Returns whether it is Shardkeeper with a topic of Kafka. */
	boolean isOnKafka() {
		return this.name.equals(SHARDKEEPER_ON_KAFKA);
	}

	/** Starts the servers that instances need. */
	interface Opener {

		Cluster open(int shards) throws Exception;

	}

	private interface Choice {

		KafkaSettings of(Protocol protocol);

	}

}
