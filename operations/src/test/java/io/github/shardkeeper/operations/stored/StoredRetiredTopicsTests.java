package io.github.shardkeeper.operations.stored;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.TopicGroups;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.ForgetReply;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;

/**
 * Order of the steps in which a topic is removed: data in use is never lost.
 */
class StoredRetiredTopicsTests {

	private static final ShardId SHARD = ShardId.of("old", 0);

	private final MemoryCoordinationStore coordination = new MemoryCoordinationStore();

	private final MemoryCheckpointStore checkpoints = new MemoryCheckpointStore();

	private final TopicGroups groups = mock(TopicGroups.class);

	@Test
	void forgetKeepsData() {
		consumeAndLeave();

		assertThat(retired(this.groups).forget("old")).isOne();

		assertThat(this.checkpoints.contains(SHARD)).isTrue();
		then(this.groups).should(never()).unregister("old");

		assertThat(retired(this.groups).forget("old")).as("the group does not know it").isZero();
		assertThat(retired(this.groups).forgetWithData("old")).isOne();
		assertThat(this.checkpoints.contains(SHARD)).isFalse();
		then(this.groups).should().unregister("old");
	}

	@Test
	void pausesAndPinsGoWithTheData() {
		consumeAndLeave();
		DirectiveStore directives = this.coordination.directives();
		directives.put(Directive.of(Kind.PAUSE, "old", null, "anna", ""));
		directives.put(Directive.of(Kind.PAUSE, "old/0", null, "anna", ""));
		directives.put(Directive.of(Kind.PIN, "old/0", "a", "anna", ""));
		directives.put(Directive.of(Kind.PAUSE, "older", null, "anna", ""));
		directives.put(Directive.of(Kind.PIN, "older/0", "a", "anna", ""));
		directives.put(Directive.of(Kind.DRAIN, "old", null, "anna", ""));

		retired(null).forget("old");
		assertThat(directives.read().all()).hasSize(6);
		retired(null).forgetWithData("old");

		assertThat(directives.read().all()).extracting(Directive::name)
			.containsExactly("drain|old", "pause|older", "pin|older/0");
	}

	@Test
	void withoutTrimmingNoGroupIsUnregistered() {
		consumeAndLeave();

		assertThat(retired(null).forgetWithData("old")).isOne();
		assertThat(retired(null).forgetWithData("old")).isZero();
	}

	@Test
	void consumedTopicIsNotRemoved() {
		consumeAndLeave();
		IntStream.range(0, 12)
			.forEach((i) -> this.coordination.joinGroup(MemberId.of("m" + i, "1"), description(), Duration.ofSeconds(3),
					Duration.ofSeconds(15)));

		assertThatIllegalStateException().isThrownBy(() -> retired(this.groups).forgetWithData("old"))
			.withMessageContaining("'old' is not retired")
			.withMessageContaining("group 'app'")
			.withMessageContaining("m0~1, m10~1, m11~1, m1~1")
			.withMessageContaining("and 2 more");

		assertThat(this.checkpoints.contains(SHARD)).isTrue();
		assertThat(this.coordination.readChanges(0, -1).ownerships()).hasSize(1);
		then(this.groups).shouldHaveNoInteractions();
	}

	/** Between the control plane and the data plane. */
	@Test
	void shardsAcquiredInTheMeantimeAreKeptAndNamed() {
		consumeAndLeave();
		ShardId other = ShardId.of("old", 1);
		this.checkpoints.acquireNow(other, new Token(1));
		CoordinationStore overtaken = mock(CoordinationStore.class);
		given(overtaken.forgetShards("old")).willAnswer((call) -> {
			ForgetReply reply = this.coordination.forgetShards("old");
			this.checkpoints.acquireNow(SHARD, new Token(reply.newest().value() + 1));
			return reply;
		});

		assertThatIllegalStateException()
			.isThrownBy(() -> new StoredRetiredTopics("app", overtaken, this.checkpoints, this.groups)
				.forgetWithData("old"))
			.withMessageContaining("consumed again")
			.withMessageContaining("old/0")
			.withMessageContaining("1 other");

		assertThat(this.checkpoints.contains(SHARD)).isTrue();
		assertThat(this.checkpoints.contains(other)).isFalse();
		then(this.groups).shouldHaveNoInteractions();
	}

	@Test
	void failedRemovalCanBeRepeated() {
		consumeAndLeave();
		willThrow(new StoreUnavailableException("away", null)).willDoNothing().given(this.groups).unregister("old");

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> retired(this.groups).forgetWithData("old"));

		assertThat(retired(this.groups).forgetWithData("old")).isZero();
		then(this.groups).should(times(2)).unregister("old");
	}

	@Test
	void storeThatCannotRemoveThrows() {
		consumeAndLeave();
		CheckpointStore own = mock(CheckpointStore.class, CALLS_REAL_METHODS);

		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> new StoredRetiredTopics("app", this.coordination, own, null).forgetWithData("old"))
			.withMessageContaining("implement remove(…)");
	}

	@Test
	void patternIsNotATopic() {
		for (String name : List.of("*", "", "old/0", "o{l}d")) {
			assertThatIllegalArgumentException().isThrownBy(() -> retired(this.groups).forgetWithData(name))
				.withMessageContaining("Not a valid topic");
			assertThatIllegalArgumentException().isThrownBy(() -> retired(this.groups).forget(name));
		}
	}

	private StoredRetiredTopics retired(@Nullable TopicGroups topicGroups) {
		return new StoredRetiredTopics("app", this.coordination, this.checkpoints, topicGroups);
	}

	/** A member consumes a shard of the topic, and leaves. */
	private void consumeAndLeave() {
		MemberId member = MemberId.of("past", "1");
		this.coordination.joinGroup(member, description(), Duration.ofSeconds(3), Duration.ofSeconds(15));
		long epoch = ((HeartbeatReply.Alive) this.coordination.heartbeat(member, Seen.NOTHING, true, LoadReport.NONE))
			.epoch();
		this.coordination.applyPlan(member, epoch, List.of(new Transition.Assign(SHARD, 0, member)));
		Token token = this.coordination.readChanges(0, -1).ownerships().get(0).token();
		this.checkpoints.acquireNow(SHARD, token);
		this.coordination.leaveGroup(member, Duration.ZERO);
	}

	private static MemberDescription description() {
		return new MemberDescription(new TreeMap<>(Map.of("old", TopicShards.count(1))), ApplicationVersion.UNKNOWN);
	}

}
