package io.github.shardkeeper.redis;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Checks the version of Redis and the credentials at startup. Separates configurations
 * that can never work from a Redis that does not reply. Has no state.
 */
public final class RedisVerification {

	/** Startup continues without it. */
	private static final String OPERATION = "check the version of Redis and its free memory at 'maxmemory'";

	private static final Pattern VERSION = Pattern.compile("redis_version:(\\d+)\\.(\\d+)");

	private static final int ATTEMPTS = 5;

	/** Message of Lettuce. */
	private static final String CLOSED_IN_HANDSHAKE = "Connection closed prematurely";

	private static final String CREDENTIALS_ACTION = "Set 'spring.data.redis.password' (and "
			+ "'spring.data.redis.username' where an ACL user is used) to what Redis expects.";

	private RedisVerification() {
	}

	/**
	 * Checks credentials and version.
	 * @throws ShardkeeperConfigurationException when the credentials are refused or the
	 * version is below 6.2
	 * @throws StoreUnavailableException when Redis does not reply
	 */
	public static void verify(RedisLink<String> link) {
		try {
			verifyVersion(info(link));
			link.refusedOperations().succeeded(OPERATION);
		}
		catch (StoreUnavailableException ex) {
			if (MissingRight.isReason(ex.getCause()) || UnknownCommand.isReason(ex.getCause())) {
				link.refusedOperations().failed(OPERATION, ex);
				return;
			}
			String error = serverError(ex);
			if (error == null) {
				throw ex;
			}
			String problem = error.startsWith("NOAUTH") ? "asks for a password that it was not given"
					: "refuses the configured credentials";
			throw new ShardkeeperConfigurationException("Redis " + problem + " (" + error + ").", CREDENTIALS_ACTION,
					ex);
		}
	}

	/**
	 * Retries, because Lettuce sometimes loses the reason of a refused handshake when it
	 * closes the connection itself.
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

	private static @Nullable String serverError(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			String message = (cause.getMessage() != null) ? cause.getMessage() : "";
			String upper = message.toUpperCase(Locale.ROOT);
			if (upper.startsWith("NOAUTH") || upper.startsWith("WRONGPASS") || upper.startsWith("ERR AUTH")
					|| upper.startsWith("ERR CLIENT SENT AUTH")) {
				return message;
			}
		}
		return null;
	}

}
