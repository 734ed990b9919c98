package io.github.shardkeeper.protocol.member;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

@Promise("Automatic recovery")
class GroupWatchTests {

	private static final long LEASE = 3_000;

	private static final MemberId LEADER = MemberId.of("leader", "1");

	private static final GroupProblem PROBLEM = new GroupProblem(true, "unattended", "Nobody owns it", "orders/0");

	private final GroupWatch watch = new GroupWatch(Duration.ofMillis(LEASE));

	@Test
	void problemsOfTheLeaderAreKnownImmediately() {
		assertThat(answered(0, LEADER, 1, 1, PROBLEM)).containsExactly(PROBLEM);
		assertThat(answered(1, LEADER, 1, 1)).isEmpty();
	}

	@Test
	void problemsOfTheLastLeaderStayUntilTheNextOnePublishes() {
		answered(0, LEADER, 1, 1, PROBLEM);

		assertThat(answered(1, null, 1, 1, PROBLEM)).containsExactly(PROBLEM);
	}

	@Test
	void groupWithoutLeaderForTwoLeasesIsAProblem() {
		assertThat(answered(0, null, 1, 1)).isEmpty();
		assertThat(answered(2 * LEASE, null, 1, 1)).isEmpty();
		List<GroupProblem> problems = answered(2 * LEASE + 1, null, 1, 1);
		assertThat(problems).singleElement().satisfies((problem) -> {
			assertThat(problem.serious()).isTrue();
			assertThat(problem.sentence()).contains("No leader has completed a pass since 1970-01-01T00:00:00Z");
		});
		assertThat(answered(60_000, null, 1, 1)).as("the text stays").isEqualTo(problems);
		assertThat(answered(60_001, LEADER, 2, 2)).isEmpty();
	}

	/** Each fails before it has decided anything, and another one tries. */
	@Test
	void successiveLeadersThatPublishNothingAreAProblem() {
		for (int epoch = 2; epoch <= 5; epoch++) {
			assertThat(answered(epoch * LEASE / 2, LEADER, epoch, 1)).isEmpty();
		}
		assertThat(answered(3 * LEASE + 1, LEADER, 6, 1)).hasSize(1);
	}

	@Test
	void newSessionRestartsTheWatch() {
		answered(0, null, 1, 1);
		this.watch.sessionLost();

		assertThat(answered(3 * LEASE, null, 1, 1)).isEmpty();
	}

	private List<GroupProblem> answered(long millis, @Nullable MemberId leader, long epoch, long told,
			GroupProblem... problems) {
		return this.watch.heartbeatAnswered(
				new HeartbeatReply.Alive(millis, leader, epoch, 0, 0, 1, 1, 1, List.of(), 1, false, true, 0, 0, 0, 0,
						new GroupStatus(told, GroupProblems.of(List.of(problems)))),
				new MonotonicTime(millis * 1_000_000));
	}

}
