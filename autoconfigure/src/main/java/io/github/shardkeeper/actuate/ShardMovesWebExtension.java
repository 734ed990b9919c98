package io.github.shardkeeper.actuate;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * Replies over HTTP with a status and a {@link ShardsWebExtension.Refusal} where
 * {@link ShardMovesEndpoint} has no reply: {@code 400} for a malformed request,
 * {@code 503} if the store does not reply. Thread-safe.
 */
@EndpointWebExtension(endpoint = ShardMovesEndpoint.class)
@RegisterReflectionForBinding(ShardsWebExtension.Refusal.class)
public final class ShardMovesWebExtension {

	private final ShardMovesEndpoint endpoint;

	/** Creates the extension of an endpoint. */
	public ShardMovesWebExtension(ShardMovesEndpoint endpoint) {
		this.endpoint = endpoint;
	}

	/** Returns {@link ShardMovesEndpoint#moves}. */
	@ReadOperation
	public WebEndpointResponse<Object> moves(@Nullable String topic, @Nullable String shard, @Nullable String member,
			@Nullable String cause, @Nullable String before, @Nullable String after, @Nullable String limit,
			@Nullable String group) {
		return ShardsWebExtension.reply("Nothing",
				() -> this.endpoint.moves(topic, shard, member, cause, before, after, limit, group));
	}

}
