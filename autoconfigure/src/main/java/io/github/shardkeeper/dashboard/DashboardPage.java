package io.github.shardkeeper.dashboard;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.ExposableWebEndpoint;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoint;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.actuate.endpoint.web.WebEndpointHttpMethod;
import org.springframework.core.io.ClassPathResource;
import org.springframework.web.util.HtmlUtils;

/**
 * HTML of the page, with the paths of the endpoints that it reads, relative to the
 * page's, and whether there are acts. Thread-safe.
 */
public final class DashboardPage {

	private final Supplier<PathMappedEndpoints> endpoints;

	private final List<String> groups;

	private volatile byte @Nullable [] html;

	/**
	 * Creates a page.
	 * @param endpoints the exposed endpoints, which are known when all beans are
	 * @param groups names of the application's groups; that of the page if its address
	 * names none comes first
	 */
	public DashboardPage(Supplier<PathMappedEndpoints> endpoints, List<String> groups) {
		this.endpoints = endpoints;
		this.groups = List.copyOf(groups);
	}

	byte[] html() {
		byte[] known = this.html;
		if (known == null) {
			known = create(this.endpoints.get(), this.groups);
			this.html = known;
		}
		return known;
	}

	private static byte[] create(PathMappedEndpoints endpoints, List<String> groups) {
		String template;
		try (InputStream in = new ClassPathResource("dashboard.html", DashboardPage.class).getInputStream()) {
			template = new String(in.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		String self = path(endpoints, "sharddashboard");
		// A mapped path may have several segments.
		String up = "../".repeat((int) self.chars().filter((character) -> character == '/').count());
		String file = self.substring(self.lastIndexOf('/') + 1);
		return template.replace("{{self}}", escaped(file))
			.replace("{{shards}}", escaped(relative(up, path(endpoints, "shards"))))
			.replace("{{moves}}", escaped(relative(up, path(endpoints, "shardmoves"))))
			.replace("{{groups}}", escaped(String.join(" ", groups)))
			.replace("{{acts}}", String.valueOf(acts(endpoints.getEndpoint(EndpointId.of("shards")))))
			.getBytes(StandardCharsets.UTF_8);
	}

	private static String path(PathMappedEndpoints endpoints, String id) {
		String path = endpoints.getRootPath(EndpointId.of(id));
		return (path != null) ? path : "";
	}

	private static String relative(String up, String path) {
		return path.isEmpty() ? "" : up + path;
	}

	private static String escaped(String path) {
		return HtmlUtils.htmlEscape(path);
	}

	/** Returns whether access to the endpoint lets its write operations through. */
	private static boolean acts(@Nullable PathMappedEndpoint endpoint) {
		return endpoint instanceof ExposableWebEndpoint web && web.getOperations()
			.stream()
			.anyMatch((operation) -> operation.getRequestPredicate().getHttpMethod() == WebEndpointHttpMethod.POST);
	}

}
