package io.github.shardkeeper.coordination.leader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.TestInstance;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.ForwardingStore;
import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The order of publishing and of heartbeats, which run at the same time.
 */
class GroupProblemPublisherTests {

	private static final Duration STEP = Duration.ofMillis(1);

	private static final MemberDescription DESCRIPTION = new MemberDescription(
			new TreeMap<>(Map.of("orders", TopicShards.count(1))), ApplicationVersion.UNKNOWN);

	private static final GroupProblem PROBLEM = new GroupProblem(true, "unattended", "Nobody owns it", "orders/0");

	private final SettableClock clock = new SettableClock();

	private final MemoryCoordinationStore group = new MemoryCoordinationStore();

	private final List<GroupProblems> published = new ArrayList<>();

	private final CoordinationStore store = new ForwardingStore(this.group) {

		@Override
		public boolean publishProblems(MemberId leader, long epoch, GroupProblems problems) {
			GroupProblemPublisherTests.this.clock.advance(STEP);
			beat();
			GroupProblemPublisherTests.this.clock.advance(STEP);
			GroupProblemPublisherTests.this.published.add(problems);
			return super.publishProblems(leader, epoch, problems);
		}

	};

	private final MemberId self = MemberId.of("a", "1");

	private final GroupProblemPublisher publisher = new GroupProblemPublisher(
			TestInstance.settings("a", HandoverRules.DEFAULT), this.store, this.clock);

	private MonotonicTime sentAt = this.clock.now();

	private HeartbeatReply.Alive reply = join();

	@Test
	void answerToAHeartbeatFromBeforePublishingDoesNotPublishAgain() {
		long epoch = this.reply.epoch();
		this.publisher.heartbeatAnswered(new HeartbeatAnswered(this.reply, this.self, this.sentAt), this.clock.now());

		this.publisher.publish(this.self, epoch, List.of(PROBLEM));
		assertThat(this.published).hasSize(1);
		this.publisher.heartbeatAnswered(new HeartbeatAnswered(this.reply, this.self, this.sentAt), this.clock.now());
		this.clock.advance(TestInstance.INTERVAL);
		this.publisher.publish(this.self, epoch, List.of(PROBLEM));

		assertThat(this.published).hasSize(1);
	}

	@Test
	void answerToAHeartbeatAfterPublishingSaysWhatTheStoreHasLost() {
		long epoch = this.reply.epoch();
		this.publisher.heartbeatAnswered(new HeartbeatAnswered(this.reply, this.self, this.sentAt), this.clock.now());
		this.publisher.publish(this.self, epoch, List.of(PROBLEM));
		assertThat(this.group.publishProblems(this.self, epoch, GroupProblems.NONE)).isTrue();

		this.clock.advance(TestInstance.INTERVAL);
		beat();
		this.publisher.heartbeatAnswered(new HeartbeatAnswered(this.reply, this.self, this.sentAt), this.clock.now());
		this.publisher.publish(this.self, epoch, List.of(PROBLEM));

		GroupProblems found = GroupProblems.of(List.of(PROBLEM));
		assertThat(this.published).containsExactly(found, found);
	}

	private HeartbeatReply.Alive join() {
		this.group.joinGroup(this.self, DESCRIPTION, Duration.ofSeconds(10), Duration.ofSeconds(20));
		beat();
		return this.reply;
	}

	private void beat() {
		this.sentAt = this.clock.now();
		HeartbeatReply reply = this.group.heartbeat(this.self, Seen.NOTHING, true, LoadReport.NONE);
		this.reply = (HeartbeatReply.Alive) reply;
	}

}
