package io.github.shardkeeper.dashboard;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.MediaType;
import org.springframework.http.server.PathContainer;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.util.ServletRequestPathUtils;

/** Filter of {@link DashboardPaths} for servlets. Thread-safe. */
public final class DashboardServletFilter extends OncePerRequestFilter {

	private final DashboardPaths paths;

	/** Creates a filter. */
	public DashboardServletFilter(DashboardPaths paths) {
		this.paths = paths;
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		PathContainer path = ServletRequestPathUtils.parse(request).pathWithinApplication();
		if (this.paths.decorate(path, response::setHeader)) {
			CsrfHeaders.add(request.getAttribute("_csrf"), response::setHeader);
		}
		if (this.paths.isHeadOfEvents(request.getMethod(), path)) {
			response.setContentType(MediaType.TEXT_EVENT_STREAM_VALUE);
			return;
		}
		if (this.paths.isOfActs(path)) {
			String refusal = ActRequests.refusal(request.getMethod(), request::getHeader);
			if (refusal != null) {
				refuse(response, HttpServletResponse.SC_FORBIDDEN, refusal);
				return;
			}
		}
		if (!this.paths.hasBodies(path)) {
			chain.doFilter(request, response);
		}
		else if (request.getContentLengthLong() > ActRequests.MOST_BYTES) {
			refuse(response, HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE, ActRequests.TOO_LARGE);
		}
		else {
			chain.doFilter(new BoundedRequest(request, ActRequests.MOST_BYTES), response);
		}
	}

	private static void refuse(HttpServletResponse response, int status, String refusal) throws IOException {
		response.setStatus(status);
		response.setContentType("application/json");
		response.getOutputStream().write(ActRequests.json(refusal).getBytes(StandardCharsets.UTF_8));
	}

}
