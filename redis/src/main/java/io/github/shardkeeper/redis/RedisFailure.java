package io.github.shardkeeper.redis;

import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

import javax.net.ssl.SSLException;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.StoreUnavailableException.StoreFullException;
import io.github.shardkeeper.text.PrintableText;

/**
 * Creates the {@link StoreUnavailableException} for a failure of Redis. Its message has
 * the messages of all causes and what to do: the client's own message often says only
 * that there is no connection, and log, health and endpoint show nothing but messages.
 */
public final class RedisFailure {

	private static final String NO_MEMORY = "OOM command not allowed";

	private static final int MAX_LENGTH = 600;

	private static final int MAX_CAUSES = 10;

	/** The first one that fits is used. */
	private static final List<Remedy> REMEDIES = List.of(new Remedy(
			saying("WRONGPASS", "NOAUTH", "ERR AUTH", "ERR Client sent AUTH"),
			"set 'spring.data.redis.password', and 'spring.data.redis.username' for an ACL user, to what Redis expects"),
			new Remedy(saying(RedisLink.NO_REPLICAS),
					"the master reaches fewer replicas than its 'min-replicas-to-write' requires, and accepts no writes "
							+ "until they are back or another node becomes the master: check the replicas and the "
							+ "network between them"),
			new Remedy(saying(NO_MEMORY),
					"raise 'maxmemory' of this Redis, or free memory, for example by trimming topics"),
			// Redis 6.2 does not name the subcommand, and the client sends it only for
			// this.
			new Remedy(saying("permissions to run the 'cluster"),
					"grant +cluster|nodes to the user of 'spring.data.redis.username', or else to 'default', with ACL "
							+ "SETUSER on each node"),
			new Remedy(saying("DB index is out of range"), "set 'spring.data.redis.database' to one that Redis has"),
			new Remedy((cause) -> cause instanceof UnknownHostException,
					"check 'spring.data.redis.host' or 'url', and DNS"),
			new Remedy(
					(cause) -> cause instanceof CertificateExpiredException
							|| cause instanceof CertificateNotYetValidException,
					"the server's certificate has expired or is not valid yet: renew it, or check the clocks"),
			new Remedy(RedisFailure::isUntrusted,
					"have the client trust the server's CA: 'spring.data.redis.ssl.bundle'"),
			new Remedy(saying("No subject alternative", "No name matching"),
					"the server's certificate is for another host: check 'spring.data.redis.host' or 'url', or the certificate"),
			new Remedy(saying("certificate_required", "certificate required", "bad_certificate"),
					"the server asks for a certificate of the client: the key store of 'spring.data.redis.ssl.bundle'"),
			// First bytes of a TLS alert and of a TLS handshake.
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
	 * {@return the exception for a failure of Redis}
	 */
	public static StoreUnavailableException unavailable(Throwable failure) {
		Throwable cause = answered(failure);
		return new StoreUnavailableException("Redis: " + message(cause), cause, RedisLink.isRefusal(cause));
	}

	/**
	 * Returns the exception for an operation that has failed.
	 * @param problem the problem in words, "cannot subscribe"
	 */
	public static StoreUnavailableException unavailable(String problem, Throwable failure) {
		Throwable cause = answered(unwrapped(failure));
		return new StoreUnavailableException("Redis: %s: %s".formatted(problem, message(cause)), cause,
				RedisLink.isRefusal(cause));
	}

	/**
	 * {@return the exception for a command; names the key or right that it is about}
	 */
	public static StoreUnavailableException unavailable(String problem, Throwable failure, @Nullable Object command) {
		Throwable cause = unwrapped(failure);
		return unavailable(problem, (cause instanceof RedisException redis) ? RedisLink.named(redis, command) : cause);
	}

	/** Returns the exception for a subscription that was refused or has no reply. */
	static StoreUnavailableException notSubscribed(String problem, Throwable failure, @Nullable Object command) {
		StoreUnavailableException found = unavailable(problem, failure, command);
		return (found.isRefusal() && saying(NO_MEMORY).test(found))
				? new StoreFullException(String.valueOf(found.getMessage()), found.getCause()) : found;
	}

	/**
	 * Returns what a Sentinel has answered instead of the address of a master, otherwise
	 * the failure itself. The client always reports that the time was over, and hides the
	 * reply.
	 */
	private static Throwable answered(Throwable failure) {
		Throwable cause = failure;
		for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
			for (Throwable hidden : cause.getSuppressed()) {
				if (cause instanceof RedisCommandTimeoutException && hidden instanceof RedisCommandExecutionException) {
					return new RedisCommandExecutionException("a Sentinel does not tell the master: "
							+ hidden.getMessage() + (MissingRight.isReason(hidden) ? MissingRight.OF_SENTINELS : ""),
							hidden);
				}
			}
			cause = cause.getCause();
		}
		return failure;
	}

	/** Removes exceptions that only carry a cause from another thread. */
	private static Throwable unwrapped(Throwable failure) {
		Throwable cause = failure.getCause();
		return (cause != null && isWrapper(failure, cause)) ? unwrapped(cause) : failure;
	}

	private static boolean isWrapper(Throwable failure, Throwable cause) {
		return failure.getMessage() == null || failure.getMessage().equals(cause.toString());
	}

	/** Returns the messages of a failure and its causes, each once, and what to do. */
	static String message(Throwable failure) {
		StringBuilder words = new StringBuilder();
		String remedy = null;
		Throwable cause = failure;
		for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
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
	 * {@return a failure's own message; {@code null} if its cause says as much}
	 */
	private static @Nullable String text(Throwable failure, boolean alone) {
		Throwable cause = failure.getCause();
		if (failure instanceof UnknownHostException) {
			// The rest lists DNS queries, and differs each time.
			return "unknown host: " + cut(String.valueOf(failure.getMessage()).replaceFirst(" \\[.*", ""));
		}
		if (cause != null && isWrapper(failure, cause)) {
			return null;
		}
		if (String.valueOf(failure.getMessage()).contains(RedisLink.NO_REPLICAS)) {
			// The rest names the script, which differs.
			return RedisLink.NO_REPLICAS;
		}
		if (failure.getMessage() != null) {
			return cut(failure.getMessage().replace("/<unresolved>", ""));
		}
		if (failure instanceof CancellationException || failure instanceof ClosedChannelException) {
			return "the connection was closed";
		}
		if (failure instanceof TimeoutException) {
			// The failure that wraps it has the time limit.
			return alone ? "no reply in time" : null;
		}
		return failure.getClass().getSimpleName();
	}

	private static String cut(String text) {
		return PrintableText.of(text.strip(), MAX_LENGTH);
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

	/** The path to a trusted CA is also wrong if a certificate in it has expired. */
	private static boolean isUntrusted(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof CertificateExpiredException || cause instanceof CertificateNotYetValidException) {
				return false;
			}
		}
		return saying("certification path", "PKIX").test(failure);
	}

	private record Remedy(Predicate<Throwable> fits, String text) {

	}

}
