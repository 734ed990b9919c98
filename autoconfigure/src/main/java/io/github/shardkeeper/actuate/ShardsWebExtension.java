package io.github.shardkeeper.actuate;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Answers over HTTP with a status and a {@link Refusal} where {@link ShardsEndpoint} has
 * no answer: {@code 400} for a malformed request, {@code 404} for an unknown topic or
 * shard, {@code 503} if the store does not answer. Thread-safe.
 */
@EndpointWebExtension(endpoint = ShardsEndpoint.class)
public final class ShardsWebExtension {

	private final ShardsEndpoint endpoint;

	/** Creates the extension of an endpoint. */
	public ShardsWebExtension(ShardsEndpoint endpoint) {
		this.endpoint = endpoint;
	}

	/** Returns {@link ShardsEndpoint#groups}. */
	@ReadOperation
	public WebEndpointResponse<Object> groups(@Nullable String topic, @Nullable String member, @Nullable String state,
			@Nullable String problem, @Nullable String after, @Nullable String limit) {
		return answer("Nothing", () -> this.endpoint.groups(topic, member, state, problem, after, limit));
	}

	/** Returns {@link ShardsEndpoint#topic}. */
	@ReadOperation
	public WebEndpointResponse<Object> topic(@Selector String topic, @Nullable String member, @Nullable String state,
			@Nullable String problem, @Nullable String after, @Nullable String limit) {
		return answer("The group has no topic '%s'; broadcast topics belong to no group".formatted(topic),
				() -> this.endpoint.topic(topic, member, state, problem, after, limit));
	}

	/** Returns {@link ShardsEndpoint#shard}. */
	@ReadOperation
	public WebEndpointResponse<Object> shard(@Selector String topic, @Selector String shard) {
		return answer("The group has no shard %s/%s, or it has never had an owner".formatted(topic, shard),
				() -> this.endpoint.shard(topic, shard));
	}

	private static WebEndpointResponse<Object> answer(String unknown, Supplier<@Nullable Object> read) {
		try {
			Object found = read.get();
			return (found != null) ? new WebEndpointResponse<>(found)
					: refusal(WebEndpointResponse.STATUS_NOT_FOUND, unknown);
		}
		catch (InvalidEndpointRequestException ex) {
			return refusal(WebEndpointResponse.STATUS_BAD_REQUEST, ex.getReason());
		}
		catch (StoreUnavailableException ex) {
			return refusal(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE, ex.getMessage());
		}
	}

	private static WebEndpointResponse<Object> refusal(int status, @Nullable String reason) {
		return new WebEndpointResponse<>(new Refusal(String.valueOf(reason)), status);
	}

	/** Reason for which a request has no answer. */
	public record Refusal(String reason) {

	}

}
