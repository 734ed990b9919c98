package io.github.shardkeeper.actuate;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

import io.github.shardkeeper.actuate.ClusterParametersEndpoint.Version;
import io.github.shardkeeper.cluster.ParameterConflictException;

/**
 * Replies over HTTP with a status and a reason where {@link ClusterParametersEndpoint}
 * has no reply: {@code 400} for a malformed request or a value that is not valid,
 * {@code 404} for the history of an unknown parameter, {@code 409} if a parameter does
 * not have the expected version, {@code 503} if the store does not reply or refuses the
 * change. Thread-safe.
 */
@EndpointWebExtension(endpoint = ClusterParametersEndpoint.class)
@RegisterReflectionForBinding({ ClusterParametersWebExtension.Conflict.class, ShardsWebExtension.Refusal.class })
public final class ClusterParametersWebExtension {

	private static final int CONFLICT = 409;

	private final ClusterParametersEndpoint endpoint;

	/** Creates the extension of an endpoint. */
	public ClusterParametersWebExtension(ClusterParametersEndpoint endpoint) {
		this.endpoint = endpoint;
	}

	/** Returns {@link ClusterParametersEndpoint#parameter}. */
	@ReadOperation
	public WebEndpointResponse<Object> parameter(@Selector String name) {
		return ShardsWebExtension.reply(this.endpoint.unknown(name), () -> this.endpoint.parameter(name));
	}

	/**
	 * Sets a parameter, as {@link ClusterParametersEndpoint#set}.
	 * @return a {@link Version}, a {@link Conflict} or a reason
	 */
	@WriteOperation
	public WebEndpointResponse<Object> set(SecurityContext security, @Selector String name, @Nullable String value,
			@Nullable String revertTo, @Nullable String expectedVersion) {
		return reply(() -> this.endpoint.set(security, name, value, revertTo, expectedVersion));
	}

	/**
	 * Resets a parameter, as {@link ClusterParametersEndpoint#reset}.
	 * @return a {@link Version}, a {@link Conflict} or a reason
	 */
	@DeleteOperation
	public WebEndpointResponse<Object> reset(SecurityContext security, @Selector String name,
			@Nullable String expectedVersion) {
		return reply(() -> this.endpoint.reset(security, name, expectedVersion));
	}

	private static WebEndpointResponse<Object> reply(Supplier<Version> change) {
		try {
			return ShardsWebExtension.reply("", change::get);
		}
		catch (ParameterConflictException ex) {
			return new WebEndpointResponse<>(new Conflict(String.valueOf(ex.getMessage()), ex.version()), CONFLICT);
		}
	}

	/** The reason of a conflict, and the version that the parameter has. */
	public record Conflict(String reason, long version) {

	}

}
