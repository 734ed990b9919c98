package io.github.shardkeeper.redis;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Looks at start whether Redis can be used at all, and tells what can never work from
 * what is merely away; and whether its settings keep a master that was cut off from
 * accepting writes that are lost. Has no state.
 */
public final class RedisVerification {

	private static final Logger logger = LoggerFactory.getLogger(RedisVerification.class);

	/** Without it a start is none the worse. */
	private static final String STEP = "check the version of Redis, and see how much memory it has left at 'maxmemory'";

	private static final Pattern VERSION = Pattern.compile("redis_version:(\\d+)\\.(\\d+)");

	/** Each takes as long as the server needs to refuse it. */
	private static final int ATTEMPTS = 5;

	/** As the client says it. */
	private static final String CLOSED_IN_HANDSHAKE = "Connection closed prematurely";

	private static final Pattern REPLICAS = Pattern.compile("connected_slaves:(\\d+)");

	private static final String MIN_REPLICAS = "min-replicas-to-write";

	private static final String MAX_LAG = "min-replicas-max-lag";

	private static final String CREDENTIALS_ACTION = "Set 'spring.data.redis.password' (and "
			+ "'spring.data.redis.username' where an ACL user is used) to what Redis expects.";

	private RedisVerification() {
	}

	/**
	 * Checks credentials and version.
	 * @param link where to ask
	 * @throws ShardkeeperConfigurationException when the credentials are refused or the
	 * version is below 6.2
	 * @throws StoreUnavailableException when Redis does not answer
	 */
	public static void verify(RedisLink<String> link) {
		try {
			verifyVersion(info(link));
			link.refusedSteps().done(STEP);
		}
		catch (StoreUnavailableException ex) {
			String error = serverError(ex);
			if (error == null) {
				throw ex;
			}
			if (error.startsWith("NOPERM")) {
				link.refusedSteps().failed(STEP, ex);
				return;
			}
			String problem = error.startsWith("NOAUTH") ? "asks for a password that it was not given"
					: "refuses the configured credentials";
			throw new ShardkeeperConfigurationException("Redis " + problem + " (" + error + ").", CREDENTIALS_ACTION,
					ex);
		}
	}

	/**
	 * When a handshake is refused, the client sometimes trips over its own closing of the
	 * connection, and the reason is lost; another attempt has it.
	 */
	private static String info(RedisLink<String> link) {
		for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
			try {
				return link.call((commands) -> commands.info("server"));
			}
			catch (StoreUnavailableException ex) {
				if (!reasonMayBeLost(ex)) {
					throw ex;
				}
			}
		}
		return link.call((commands) -> commands.info("server"));
	}

	private static boolean reasonMayBeLost(Throwable failure) {
		Throwable root = failure;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return root instanceof IllegalStateException || CLOSED_IN_HANDSHAKE.equals(root.getMessage());
	}

	private static void verifyVersion(String info) {
		Matcher version = VERSION.matcher(info);
		if (version.find()) {
			int major = Integer.parseInt(version.group(1));
			int minor = Integer.parseInt(version.group(2));
			if (major < 6 || major == 6 && minor < 2) {
				throw new ShardkeeperConfigurationException(
						"Redis %d.%d is too old for Shardkeeper.".formatted(major, minor),
						"Use Redis 6.2 or newer, or Valkey.");
			}
		}
	}

	/**
	 * Looks whether a master goes on accepting writes when it is cut off from its
	 * replicas, one of which may take its place. Not for a Redis Cluster, whose masters
	 * refuse everything by themselves once they do not reach most of the others.
	 * @param link where to ask
	 * @param replicated whether there are to be replicas, however many there are now
	 * @return what is wrong and what to do; {@code null} for nothing
	 * @throws StoreUnavailableException when it cannot be read
	 */
	static @Nullable String findUnguardedMaster(RedisLink<String> link, boolean replicated) {
		if (!replicated && !hasReplicas(link)) {
			return null;
		}
		Map<String, String> settings = link.call((commands) -> commands.configGet("min-replicas-*"));
		if (!settings.containsKey(MIN_REPLICAS) || !settings.containsKey(MAX_LAG)) {
			throw new StoreUnavailableException("Redis: CONFIG GET does not tell them", null, true);
		}
		if (!"0".equals(settings.get(MIN_REPLICAS)) && !"0".equals(settings.get(MAX_LAG))) {
			return null;
		}
		return ("Redis is replicated, but '%s' is %s and '%s' is %s: a master that a partition cuts off from them goes on "
				+ "accepting writes after another one was made the master, shards have an owner on either side, and what "
				+ "one side has written is lost. Set '%1$s' to 1 or more, and '%3$s' to a few seconds, on every node")
			.formatted(MIN_REPLICAS, settings.get(MIN_REPLICAS), MAX_LAG, settings.get(MAX_LAG));
	}

	private static boolean hasReplicas(RedisLink<String> link) {
		try {
			Matcher replicas = REPLICAS.matcher(link.call((commands) -> commands.info("replication")));
			return replicas.find() && !replicas.group(1).equals("0");
		}
		catch (StoreUnavailableException ex) {
			if (!ex.isRefusal()) {
				throw ex;
			}
			logger.debug("Whether Redis has replicas cannot be seen: {}", ex.getMessage());
			return false;
		}
	}

	/** The answer of a Redis that is there but will not have us, or null. */
	private static @Nullable String serverError(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			String message = (cause.getMessage() != null) ? cause.getMessage() : "";
			String upper = message.toUpperCase(Locale.ROOT);
			if (upper.startsWith("NOAUTH") || upper.startsWith("WRONGPASS") || upper.startsWith("NOPERM")
					|| upper.startsWith("ERR AUTH") || upper.startsWith("ERR CLIENT SENT AUTH")) {
				return message;
			}
		}
		return null;
	}

}
