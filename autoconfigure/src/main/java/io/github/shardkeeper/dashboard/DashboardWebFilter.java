package io.github.shardkeeper.dashboard;

import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;

/** Filter of {@link DashboardPaths} for WebFlux. Thread-safe. */
public final class DashboardWebFilter implements WebFilter {

	/** Name of the attribute in which Spring Security keeps a publisher of the token. */
	private static final String CSRF = "org.springframework.security.web.server.csrf.CsrfToken";

	private final DashboardPaths paths;

	/** Creates a filter. */
	public DashboardWebFilter(DashboardPaths paths) {
		this.paths = paths;
	}

	@Override
	public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
		ServerHttpRequest request = exchange.getRequest();
		PathContainer path = request.getPath().pathWithinApplication();
		if (this.paths.isOfActs(path)) {
			String refusal = ActRequests.refusal(request.getMethod().name(), request.getHeaders()::getFirst);
			if (refusal != null) {
				return refuse(exchange.getResponse(), HttpStatus.FORBIDDEN, refusal);
			}
		}
		// One of unknown length is bounded by 'spring.http.codecs.max-in-memory-size'.
		if (this.paths.hasBodies(path) && request.getHeaders().getContentLength() > ActRequests.MOST_BYTES) {
			return refuse(exchange.getResponse(), HttpStatus.CONTENT_TOO_LARGE, ActRequests.TOO_LARGE);
		}
		HttpHeaders headers = exchange.getResponse().getHeaders();
		Object token = this.paths.decorate(path, headers::set) ? exchange.getAttribute(CSRF) : null;
		if (this.paths.isHeadOfEvents(request.getMethod().name(), path)) {
			headers.setContentType(MediaType.TEXT_EVENT_STREAM);
			return exchange.getResponse().setComplete();
		}
		return csrf(token, headers).then(Mono.defer(() -> chain.filter(exchange)));
	}

	private static Mono<?> csrf(@Nullable Object token, HttpHeaders headers) {
		return (token instanceof Mono<?> published)
				? published.doOnNext((value) -> CsrfHeaders.add(value, headers::set)) : Mono.empty();
	}

	private static Mono<Void> refuse(ServerHttpResponse response, HttpStatus status, String refusal) {
		response.setStatusCode(status);
		response.getHeaders().setContentType(MediaType.APPLICATION_JSON);
		byte[] body = ActRequests.json(refusal).getBytes(StandardCharsets.UTF_8);
		return response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
	}

}
