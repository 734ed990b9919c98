package io.github.shardkeeper.dashboard;

import java.net.URI;
import java.util.Locale;
import java.util.Set;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * Guard of acts against requests that a page of another site makes a browser send.
 * Requests without the marks of a browser are no concern of it. Thread-safe.
 */
final class ActRequests {

	/** Header that only scripts of the same origin can set. */
	public static final String HEADER = "X-Shardkeeper-Act";

	/** Bytes of a body: several times the longest value of a parameter. */
	static final int MOST_BYTES = 1_000_000;

	static final String TOO_LARGE = "The body of the request has more than " + MOST_BYTES + " bytes";

	private static final Set<String> READS = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

	private ActRequests() {
	}

	/**
	 * Returns why a request is refused; {@code null} if it is not.
	 * @param method the HTTP method
	 * @param header returns the value of a header by its name; {@code null} if the
	 * request does not have it
	 */
	public static @Nullable String refusal(String method, UnaryOperator<@Nullable String> header) {
		String origin = header.apply("Origin");
		String site = header.apply("Sec-Fetch-Site");
		if (READS.contains(method) || (origin == null && site == null)) {
			return null;
		}
		if (site != null && !site.equals("same-origin")) {
			return "The request comes from a page of another origin";
		}
		if (site == null && !isHere(String.valueOf(origin), header)) {
			return "The request comes from a page of another origin. Behind a proxy, let it pass on the header 'Host', "
					+ "or send 'X-Forwarded-Host'";
		}
		String type = header.apply("Content-Type");
		if (type != null && !type.toLowerCase(Locale.ROOT).matches("application/([a-z0-9.+-]*\\+)?json *(;.*)?")) {
			return "The request of a browser has to have a JSON body";
		}
		return (header.apply(HEADER) != null) ? null
				: "The request of a browser has to have the header '%s'".formatted(HEADER);
	}

	/**
	 * Returns the body of the reply. The texts are those above, without quotation marks.
	 */
	static String json(String refusal) {
		return "{\"reason\":\"" + refusal + "\"}";
	}

	/** Older browsers, and those on plain HTTP, send only the origin. */
	private static boolean isHere(String origin, UnaryOperator<@Nullable String> header) {
		String authority = authority(origin);
		return authority != null && (authority.equals(normalized(header.apply("Host")))
				|| authority.equals(normalized(header.apply("X-Forwarded-Host"))));
	}

	private static @Nullable String authority(String origin) {
		try {
			return normalized(URI.create(origin).getRawAuthority());
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/** Browsers leave out the default port, proxies may not. */
	private static @Nullable String normalized(@Nullable String authority) {
		return (authority != null) ? authority.toLowerCase(Locale.ROOT).replaceFirst(":(80|443)$", "") : null;
	}

}
