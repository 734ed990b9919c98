package io.github.shardkeeper.redis;

import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

import javax.net.ssl.SSLException;

import io.lettuce.core.RedisException;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Puts failures into words. The client wraps the reason, several times perhaps, and its
 * own message says no more than that there is no connection; but messages are all that
 * log, health and endpoint show. So everything that fails because of Redis is made a
 * {@link StoreUnavailableException} here.
 */
public final class RedisFailure {

	/** Of one cause; an error of Redis may explain at length. */
	private static final int LONGEST_TEXT = 600;

	private static final int MOST_CAUSES = 10;

	/** What to do, by what the failure is about; the first one that fits. */
	private static final List<Remedy> REMEDIES = List.of(new Remedy(
			saying("WRONGPASS", "NOAUTH", "ERR AUTH", "ERR Client sent AUTH"),
			"set 'spring.data.redis.password', and 'spring.data.redis.username' for an ACL user, to what Redis expects"),
			new Remedy(saying(RedisLink.NO_REPLICAS),
					"the master reaches fewer replicas than its 'min-replicas-to-write' requires, and accepts no writes "
							+ "until they are back or another node becomes the master: check the replicas and the "
							+ "network between them"),
			new Remedy(saying("DB index is out of range"), "set 'spring.data.redis.database' to one that Redis has"),
			new Remedy((cause) -> cause instanceof UnknownHostException,
					"check 'spring.data.redis.host' or 'url', and DNS"),
			new Remedy(saying("certification path", "PKIX"),
					"have the client trust the server's CA: 'spring.data.redis.ssl.bundle'"),
			// 21 begins an alert of TLS, 22 its handshake.
			new Remedy(saying("Invalid first byte: 21", "Invalid first byte: 22"),
					"the server expects TLS: 'spring.data.redis.ssl.enabled: true'"),
			new Remedy(
					(cause) -> cause instanceof SSLException
							&& cause.getClass().getSimpleName().equals("NotSslRecordException"),
					"the server speaks no TLS: 'spring.data.redis.ssl.enabled: false'"),
			new Remedy(saying("closed prematurely"),
					"the server has closed it during the handshake: does it expect TLS ('spring.data.redis.ssl.enabled')?"));

	private RedisFailure() {
	}

	/**
	 * The exception for whatever has failed because of Redis.
	 * @param failure what the client has thrown
	 * @return with all its causes in the message, and what to do where that is known
	 */
	public static StoreUnavailableException unavailable(Throwable failure) {
		return new StoreUnavailableException("Redis: " + inWords(failure), failure, RedisLink.isRefusal(failure));
	}

	/**
	 * The exception for a step that has failed because of Redis.
	 * @param step what was tried, "cannot subscribe"
	 * @param failure what the client has thrown
	 * @return with the step and all causes in the message, and what to do where that is
	 * known
	 */
	public static StoreUnavailableException unavailable(String step, Throwable failure) {
		Throwable cause = unwrapped(failure);
		return new StoreUnavailableException("Redis: %s: %s".formatted(step, inWords(cause)), cause,
				RedisLink.isRefusal(cause));
	}

	/**
	 * The exception for a command that has failed.
	 * @param step what was tried, "cannot subscribe"
	 * @param failure what the client has thrown
	 * @param command the command, as the client has sent it
	 * @return with the step, all causes, and the key or the right that they are about
	 */
	public static StoreUnavailableException unavailable(String step, Throwable failure, @Nullable Object command) {
		Throwable cause = unwrapped(failure);
		return unavailable(step, (cause instanceof RedisException redis) ? RedisLink.named(redis, command) : cause);
	}

	/** Without what only says that it comes from another thread. */
	private static Throwable unwrapped(Throwable failure) {
		Throwable cause = failure.getCause();
		return (cause != null && isWrapper(failure, cause)) ? unwrapped(cause) : failure;
	}

	private static boolean isWrapper(Throwable failure, Throwable cause) {
		return failure.getMessage() == null || failure.getMessage().equals(cause.toString());
	}

	/** The messages of a failure and of its causes, each once, and what to do. */
	static String inWords(Throwable failure) {
		StringBuilder words = new StringBuilder();
		String remedy = null;
		Throwable cause = failure;
		for (int i = 0; cause != null && i < MOST_CAUSES; i++) {
			String text = text(cause, words.isEmpty());
			if (text != null && words.indexOf(text) < 0) {
				words.append(words.isEmpty() ? "" : ": ").append(text);
			}
			remedy = (remedy != null) ? remedy : remedy(cause);
			cause = (cause instanceof UnknownHostException) ? null : cause.getCause();
		}
		return (remedy != null) ? words.append("; ").append(remedy).toString() : words.toString();
	}

	/**
	 * Its own message in one line; {@code null} if its cause says the same or more.
	 * @param failure the failure
	 * @param alone whether nobody has wrapped it who says anything
	 */
	private static @Nullable String text(Throwable failure, boolean alone) {
		Throwable cause = failure.getCause();
		if (failure instanceof UnknownHostException) {
			// The rest tells of queries, and differs each time.
			return "unknown host: " + cut(String.valueOf(failure.getMessage()).replaceFirst(" \\[.*", ""));
		}
		if (cause != null && isWrapper(failure, cause)) {
			return null;
		}
		if (String.valueOf(failure.getMessage()).contains(RedisLink.NO_REPLICAS)) {
			// Of a script, and so with another one's name each time.
			return RedisLink.NO_REPLICAS;
		}
		if (failure.getMessage() != null) {
			return cut(failure.getMessage().replace("/<unresolved>", ""));
		}
		if (failure instanceof CancellationException || failure instanceof ClosedChannelException) {
			return "the connection was closed";
		}
		if (failure instanceof TimeoutException) {
			// Who has waited says for how long.
			return alone ? "no answer in time" : null;
		}
		return failure.getClass().getSimpleName();
	}

	private static String cut(String text) {
		String line = text.replaceAll("\\p{Cntrl}+", " ").strip();
		return (line.length() <= LONGEST_TEXT) ? line : line.substring(0, LONGEST_TEXT) + "…";
	}

	private static @Nullable String remedy(Throwable cause) {
		return REMEDIES.stream().filter((remedy) -> remedy.fits.test(cause)).map(Remedy::text).findFirst().orElse(null);
	}

	private static Predicate<Throwable> saying(String... beginnings) {
		return (cause) -> {
			String message = String.valueOf(cause.getMessage());
			return List.of(beginnings).stream().anyMatch(message::contains);
		};
	}

	/** An answer to a kind of failure. */
	private record Remedy(Predicate<Throwable> fits, String text) {

	}

}
