package io.github.shardkeeper.autoconfigure.dashboard;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.operations.request.ShardQuery;
import io.github.shardkeeper.report.GroupReport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;

/** What viewers are told of a group that cannot be read. */
class DashboardSummaryTests {

	private final GroupReporter reporter = mock(GroupReporter.class);

	private final MoveHistory history = mock(MoveHistory.class);

	@Test
	void groupThatFailsDoesNotKeepOthersFromBeingTold() {
		given(this.reporter.report(any(ShardQuery.class))).willThrow(new IllegalArgumentException("not consumed here"));

		assertThat(ShardkeeperDashboardAutoConfiguration.summary("billing", this.reporter, this.history))
			.containsEntry("group", "billing")
			.containsEntry("failure", "java.lang.IllegalArgumentException");
	}

	@Test
	void storeThatDoesNotReplyIsAskedOnce() {
		GroupReport report = mock(GroupReport.class);
		given(report.error()).willReturn("Redis does not reply");
		given(this.reporter.report(any(ShardQuery.class))).willReturn(report);

		assertThat(ShardkeeperDashboardAutoConfiguration.summary("billing", this.reporter, this.history))
			.containsEntry("move", "unknown");
		verifyNoInteractions(this.history);
	}

}
