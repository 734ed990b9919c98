package io.github.shardkeeper.actuate;

import java.util.List;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

import io.github.shardkeeper.coordination.GroupReporter;
import io.github.shardkeeper.report.GroupReport;

/**
 * Endpoint {@code /actuator/shards}: leader and members of the group, and state and owner
 * of every shard. Every instance shows the whole group. Thread-safe.
 */
@Endpoint(id = "shards", defaultAccess = Access.READ_ONLY)
public final class ShardsEndpoint {

	private final GroupReporter reporter;

	/** Creates the endpoint. */
	public ShardsEndpoint(GroupReporter reporter) {
		this.reporter = reporter;
	}

	/**
	 * {@return one report for each group of this instance}
	 */
	@ReadOperation
	public Groups groups() {
		return new Groups(List.of(this.reporter.report()));
	}

	/** Reports of the groups of an instance. */
	public record Groups(List<GroupReport> groups) {

	}

}
