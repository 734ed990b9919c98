package io.github.shardkeeper.dashboard;

import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Opens streams of server-sent events, in the way of a web framework. Thread-safe.
 */
public interface EventStreams {

	/** Pause after which a browser connects again. */
	long RECONNECT_MILLIS = 2_000;

	/**
	 * Returns what the framework writes to the client until the viewer leaves; a
	 * {@code 503} if there are too many viewers, or the application stops.
	 */
	Object open();

	/** Returns the reply to a viewer for whom there is no room. */
	static WebEndpointResponse<Object> noRoom() {
		return new WebEndpointResponse<>(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
	}

}
