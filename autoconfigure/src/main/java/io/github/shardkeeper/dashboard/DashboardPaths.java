package io.github.shardkeeper.dashboard;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Paths of the endpoints, and what their responses and requests need: headers for the
 * dashboard, the guard for acts. Paths are matched as the frameworks match them.
 * Thread-safe.
 */
public final class DashboardPaths {

	/** Headers of all responses of the dashboard. */
	public static final Map<String, String> HEADERS = headers();

	private final Supplier<PathMappedEndpoints> endpoints;

	private volatile @Nullable Patterns patterns;

	/**
	 * Creates the paths.
	 * @param endpoints the exposed endpoints, which are known when all beans are
	 */
	public DashboardPaths(Supplier<PathMappedEndpoints> endpoints) {
		this.endpoints = endpoints;
	}

	private static Map<String, String> headers() {
		Map<String, String> headers = new LinkedHashMap<>();
		headers.put("Content-Security-Policy",
				"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
						+ "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
		headers.put("X-Content-Type-Options", "nosniff");
		headers.put("X-Frame-Options", "DENY");
		headers.put("Referrer-Policy", "no-referrer");
		headers.put("Cross-Origin-Resource-Policy", "same-origin");
		return Map.copyOf(headers);
	}

	/**
	 * Sets the headers of a response, if it is the dashboard's.
	 * @param path the path of the request within the application
	 * @return whether it is the page itself
	 */
	boolean decorate(PathContainer path, BiConsumer<String, String> header) {
		Patterns known = patterns();
		if (!known.dashboard.stream().anyMatch((pattern) -> pattern.matches(path))) {
			return false;
		}
		HEADERS.forEach(header);
		boolean page = known.page.stream().anyMatch((pattern) -> pattern.matches(path));
		boolean events = known.events.stream().anyMatch((pattern) -> pattern.matches(path));
		// A new version is seen soon after a deploy, whichever instance replies.
		header.accept("Cache-Control", (page || events) ? "no-store" : "private, max-age=60");
		if (events) {
			header.accept("X-Accel-Buffering", "no");
		}
		return page;
	}

	/**
	 * Returns whether a request asks only for the headers of the stream of events, which
	 * must not become a viewer whom nobody ever sees leave.
	 */
	boolean isHeadOfEvents(String method, PathContainer path) {
		return method.equals("HEAD") && patterns().events.stream().anyMatch((pattern) -> pattern.matches(path));
	}

	/** Returns whether acts are requested below the path. */
	boolean isOfActs(PathContainer path) {
		return patterns().acts.stream().anyMatch((pattern) -> pattern.matches(path));
	}

	/** Returns whether requests below the path may have a body, which has a bound. */
	boolean hasBodies(PathContainer path) {
		return patterns().bodies.stream().anyMatch((pattern) -> pattern.matches(path));
	}

	private Patterns patterns() {
		Patterns known = this.patterns;
		if (known == null) {
			PathMappedEndpoints all = this.endpoints.get();
			List<PathPattern> acts = patterns(all, "shards", "/{*rest}");
			List<PathPattern> bodies = new ArrayList<>(acts);
			bodies.addAll(patterns(all, "clusterparameters", "/{*rest}"));
			known = new Patterns(patterns(all, "sharddashboard", ""), patterns(all, "sharddashboard", "/{*rest}"),
					patterns(all, "sharddashboard", "/" + ShardDashboardEndpoint.EVENTS), acts, bodies);
			this.patterns = known;
		}
		return known;
	}

	private static List<PathPattern> patterns(PathMappedEndpoints endpoints, String id, String rest) {
		List<PathPattern> patterns = new ArrayList<>();
		String path = endpoints.getPath(EndpointId.of(id));
		if (path != null) {
			patterns.add(PathPatternParser.defaultInstance.parse(path + rest));
		}
		return patterns;
	}

	private record Patterns(List<PathPattern> page, List<PathPattern> dashboard, List<PathPattern> events,
			List<PathPattern> acts, List<PathPattern> bodies) {

	}

}
