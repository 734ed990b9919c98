package io.github.shardkeeper.dashboard;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.util.MimeType;

/**
 * Endpoint {@code /actuator/sharddashboard}: a page that shows the group, its files, and
 * a stream of server-sent events that tells it when to read again. Thread-safe.
 */
@WebEndpoint(id = "sharddashboard", defaultAccess = Access.READ_ONLY)
public final class ShardDashboardEndpoint {

	/** Last segment of the path of the stream of events. */
	static final String EVENTS = "events";

	private static final MimeType HTML = MimeType.valueOf("text/html;charset=UTF-8");

	private static final Map<String, MimeType> FILES = Map.of( //
			"dashboard.css", MimeType.valueOf("text/css;charset=UTF-8"), //
			"dashboard.js", MimeType.valueOf("text/javascript;charset=UTF-8"), //
			"cells.js", MimeType.valueOf("text/javascript;charset=UTF-8"), //
			"issues.js", MimeType.valueOf("text/javascript;charset=UTF-8"), //
			"shard.js", MimeType.valueOf("text/javascript;charset=UTF-8"), //
			"model.js", MimeType.valueOf("text/javascript;charset=UTF-8"), //
			"elements.js", MimeType.valueOf("text/javascript;charset=UTF-8"), //
			"acts.js", MimeType.valueOf("text/javascript;charset=UTF-8"), //
			"icon.svg", MimeType.valueOf("image/svg+xml"));

	private final DashboardPage page;

	private final EventStreams streams;

	/** Creates the endpoint. */
	public ShardDashboardEndpoint(DashboardPage page, EventStreams streams) {
		this.page = page;
		this.streams = streams;
	}

	/** Returns the page. */
	@ReadOperation(produces = "text/html")
	public WebEndpointResponse<Resource> page() {
		return new WebEndpointResponse<>(new ByteArrayResource(this.page.html()), WebEndpointResponse.STATUS_OK, HTML);
	}

	/**
	 * Returns a file of the page, or opens the stream of events.
	 * @return {@code null} if there is no such file
	 */
	@ReadOperation(produces = { "text/css", "text/javascript", "image/svg+xml", "text/event-stream" })
	public @Nullable Object file(@Selector String name) {
		if (name.equals(EVENTS)) {
			return this.streams.open();
		}
		MimeType type = FILES.get(name);
		return (type != null) ? new WebEndpointResponse<>(new ClassPathResource(name, ShardDashboardEndpoint.class),
				WebEndpointResponse.STATUS_OK, type) : null;
	}

}
