package io.github.shardkeeper.actuate;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.operations.request.ShardQuery;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.ShardDetails;
import io.github.shardkeeper.shard.ShardId;

/**
 * Endpoint {@code /actuator/shards}: leader, members and topics of the group, and its
 * shards, page by page. Every instance shows the whole group. Thread-safe.
 * <p>
 * Parameters are text, so that a malformed one is refused with a reason.
 */
@Endpoint(id = "shards", defaultAccess = Access.READ_ONLY)
public final class ShardsEndpoint {

	private final EndpointGroups<GroupReporter> reporters;

	/** Creates the endpoint. */
	public ShardsEndpoint(EndpointGroups<GroupReporter> reporters) {
		this.reporters = reporters;
	}

	/** Returns the first page of all shards. */
	public Groups groups() {
		return groups(null, null, null, null, null, null, null, null);
	}

	/**
	 * Returns one report for each group of this instance; for one group only if it is
	 * named, or if a topic, a member or another page is.
	 * @param topic the topic of the shards
	 * @param member the id of a member or an instance that owns the shards or gets them
	 * @param state the state of the shards
	 * @param problem {@code true} for shards with a problem, {@code false} for others
	 * @param after the {@code next} of the last page
	 * @param limit maximum number of shards
	 * @param deadLetters {@code true} to count the dead letters of these shards
	 * @param group the name of the group
	 * @return the reports
	 * @throws InvalidEndpointRequestException if a parameter is malformed, or there is no
	 * such group, topic or member
	 */
	@ReadOperation
	public Groups groups(@Nullable String topic, @Nullable String member, @Nullable String state,
			@Nullable String problem, @Nullable String after, @Nullable String limit, @Nullable String deadLetters,
			@Nullable String group) {
		try {
			ShardQuery query = ShardQuery.parse(topic, member, state, problem, after, limit, deadLetters);
			boolean ofOne = group != null || topic != null || member != null || after != null;
			List<GroupReporter> asked = ofOne ? List.of(this.reporters.get(group)) : this.reporters.all();
			return new Groups(asked.stream().map((reporter) -> reporter.report(query)).toList());
		}
		catch (IllegalArgumentException ex) {
			throw invalid(ex);
		}
	}

	/**
	 * Returns the report for one topic.
	 * @param topic the topic
	 * @return the report; {@code null} if the group does not have the topic
	 * @throws InvalidEndpointRequestException if a parameter is malformed, or there is no
	 * such group or member
	 */
	@ReadOperation
	public @Nullable GroupReport topic(@Selector String topic, @Nullable String member, @Nullable String state,
			@Nullable String problem, @Nullable String after, @Nullable String limit, @Nullable String deadLetters,
			@Nullable String group) {
		try {
			return this.reporters.get(group)
				.report(topic, ShardQuery.parse(topic, member, state, problem, after, limit, deadLetters))
				.orElse(null);
		}
		catch (IllegalArgumentException ex) {
			throw invalid(ex);
		}
	}

	/**
	 * Returns everything about one shard.
	 * @param topic the topic
	 * @param shard the id of the shard in its topic
	 * @param group the name of the group
	 * @return the shard; {@code null} if it has never had an owner
	 * @throws InvalidEndpointRequestException if a name is malformed, or there is no such
	 * group
	 */
	@ReadOperation
	public @Nullable ShardDetails shard(@Selector String topic, @Selector String shard, @Nullable String group) {
		ShardId id;
		try {
			id = new ShardId(topic, shard);
		}
		catch (IllegalArgumentException ex) {
			throw invalid(ex);
		}
		return this.reporters.get(group).shard(id).orElse(null);
	}

	private static InvalidEndpointRequestException invalid(IllegalArgumentException failure) {
		String reason = String.valueOf(failure.getMessage());
		return new InvalidEndpointRequestException(reason, reason);
	}

	/** Reports of the groups of an instance. */
	public record Groups(List<GroupReport> groups) {

	}

}
