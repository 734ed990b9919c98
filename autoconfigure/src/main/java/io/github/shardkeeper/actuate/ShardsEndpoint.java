package io.github.shardkeeper.actuate;

import java.util.List;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

import io.github.shardkeeper.coordination.GroupReporter;
import io.github.shardkeeper.report.GroupReport;

/**
 * {@code /actuator/shards}: who leads, who is there, and where every shard is. Any
 * instance shows the whole group. Thread-safe.
 */
@Endpoint(id = "shards", defaultAccess = Access.READ_ONLY)
public final class ShardsEndpoint {

	private final GroupReporter reporter;

	/**
	 * Creates the endpoint.
	 * @param reporter reads the group
	 */
	public ShardsEndpoint(GroupReporter reporter) {
		this.reporter = reporter;
	}

	/**
	 * Reads the groups of this instance.
	 * @return a report on each
	 */
	@ReadOperation
	public Groups groups() {
		return new Groups(List.of(this.reporter.report()));
	}

	/**
	 * The groups of an instance.
	 *
	 * @param groups a report on each
	 */
	public record Groups(List<GroupReport> groups) {

	}

}
