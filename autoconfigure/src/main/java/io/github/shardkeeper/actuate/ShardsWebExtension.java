package io.github.shardkeeper.actuate;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.operations.ShardOperations;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.report.DeadLetterReport;
import io.github.shardkeeper.report.OperationReport;
import io.github.shardkeeper.report.WaitingKeyReport;

/**
 * Replies over HTTP with a status and a {@link Refusal} where {@link ShardsEndpoint} has
 * no reply: {@code 400} for a malformed request, {@code 404} for an unknown topic, shard
 * or instance, {@code 409} for an operation that is not possible now, {@code 503} if the
 * store does not reply. Dead letters, and operations that change something, are available
 * over HTTP only. Thread-safe.
 */
@EndpointWebExtension(endpoint = ShardsEndpoint.class)
// What is inside of a WebEndpointResponse is not found by itself.
@RegisterReflectionForBinding({ OperationReport.class, DeadLetterReport.Page.class, WaitingKeyReport.Page.class,
		ShardsWebExtension.Refusal.class })
public final class ShardsWebExtension {

	private static final int CONFLICT = 409;

	private final ShardsEndpoint endpoint;

	private final EndpointGroups<ShardOperations> operations;

	private final Show showValues;

	private final Set<String> roles;

	/**
	 * Creates the extension of an endpoint.
	 * @param showValues when to show keys, payloads and texts of exceptions
	 * @param roles the roles that may see them; empty for every authenticated user
	 */
	public ShardsWebExtension(ShardsEndpoint endpoint, EndpointGroups<ShardOperations> operations, Show showValues,
			Set<String> roles) {
		this.endpoint = endpoint;
		this.operations = operations;
		this.showValues = showValues;
		this.roles = Set.copyOf(roles);
	}

	/** Returns {@link ShardsEndpoint#groups}. */
	@ReadOperation
	public WebEndpointResponse<Object> groups(@Nullable String topic, @Nullable String member, @Nullable String state,
			@Nullable String problem, @Nullable String after, @Nullable String limit, @Nullable String deadLetters,
			@Nullable String group) {
		return reply("Nothing",
				() -> this.endpoint.groups(topic, member, state, problem, after, limit, deadLetters, group));
	}

	/** Returns {@link ShardsEndpoint#topic}. */
	@ReadOperation
	public WebEndpointResponse<Object> topic(@Selector String topic, @Nullable String member, @Nullable String state,
			@Nullable String problem, @Nullable String after, @Nullable String limit, @Nullable String deadLetters,
			@Nullable String group) {
		return reply(
				"The group has no topic '%s'; broadcast topics belong to no group: 'broadcast' of GET /actuator/shards has those of this instance"
					.formatted(topic),
				() -> this.endpoint.topic(topic, member, state, problem, after, limit, deadLetters, group));
	}

	/** Returns {@link ShardsEndpoint#shard}. */
	@ReadOperation
	public WebEndpointResponse<Object> shard(@Selector String topic, @Selector String shard, @Nullable String group) {
		return reply("The group has no shard %s/%s, or it has never had an owner".formatted(topic, shard),
				() -> this.endpoint.shard(topic, shard, group));
	}

	/**
	 * Returns a page of the dead letters of a shard, or of what waits in its retry queue.
	 * @param part {@code deadletters} or {@code waiting}
	 */
	@ReadOperation
	public WebEndpointResponse<Object> part(SecurityContext security, @Selector String topic, @Selector String shard,
			@Selector String part, @Nullable String after, @Nullable String limit, @Nullable String group) {
		boolean shown = this.showValues.isShown(security, this.roles);
		return switch (part) {
			case "deadletters" ->
				reply("", () -> this.operations.get(group).deadLetters(topic, shard, after, limit, shown));
			case "waiting" -> reply("", () -> this.operations.get(group).waiting(topic, shard, after, limit, shown));
			default -> refusal(WebEndpointResponse.STATUS_NOT_FOUND,
					"A shard has no such part; it has 'deadletters' and 'waiting'");
		};
	}

	/**
	 * Performs an operation on the group or on one of its instances.
	 * @param fields all fields of the request, from {@link EndpointFieldCheck}
	 */
	@WriteOperation
	public WebEndpointResponse<Object> actOnGroup(SecurityContext security, Map<String, @Nullable String> fields) {
		return act(fields, (operations, rest) -> operations.onGroup(security.getPrincipal(), rest));
	}

	/** Performs an operation on all shards of a topic. */
	@WriteOperation
	public WebEndpointResponse<Object> actOnTopic(SecurityContext security, @Selector String topic,
			Map<String, @Nullable String> fields) {
		return act(fields, (operations, rest) -> operations.onTopic(topic, security.getPrincipal(), rest));
	}

	/** Performs an operation on a shard. */
	@WriteOperation
	public WebEndpointResponse<Object> actOnShard(SecurityContext security, @Selector String topic,
			@Selector String shard, Map<String, @Nullable String> fields) {
		return act(fields, (operations, rest) -> operations.onShard(topic, shard, security.getPrincipal(), rest));
	}

	/** The group is named like the others fields, but operations belong to one group. */
	private WebEndpointResponse<Object> act(Map<String, @Nullable String> fields,
			BiFunction<ShardOperations, Map<String, @Nullable String>, @Nullable Object> operation) {
		Map<String, @Nullable String> rest = new TreeMap<>(fields);
		String group = rest.remove("group");
		return reply("", () -> operation.apply(this.operations.get(group), rest));
	}

	static WebEndpointResponse<Object> reply(String unknown, Supplier<@Nullable Object> read) {
		try {
			Object found = read.get();
			return (found != null) ? new WebEndpointResponse<>(found)
					: refusal(WebEndpointResponse.STATUS_NOT_FOUND, unknown);
		}
		catch (InvalidEndpointRequestException ex) {
			return refusal(WebEndpointResponse.STATUS_BAD_REQUEST, ex.getReason());
		}
		catch (OperationRefusedException ex) {
			return refusal(switch (ex.kind()) {
				case MALFORMED -> WebEndpointResponse.STATUS_BAD_REQUEST;
				case UNKNOWN -> WebEndpointResponse.STATUS_NOT_FOUND;
				case CONFLICT -> CONFLICT;
			}, ex.getMessage());
		}
		catch (StoreUnavailableException ex) {
			return refusal(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE, ex.getMessage());
		}
	}

	static WebEndpointResponse<Object> refusal(int status, @Nullable String reason) {
		return new WebEndpointResponse<>(new Refusal(String.valueOf(reason)), status);
	}

	/** Reason for which a request has no reply. */
	public record Refusal(String reason) {

	}

}
