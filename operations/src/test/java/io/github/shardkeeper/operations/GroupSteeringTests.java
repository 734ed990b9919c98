package io.github.shardkeeper.operations;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.coordination.AssignmentSettings;
import io.github.shardkeeper.coordination.CoordinationSettings;
import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.coordination.HeartbeatScheduler;
import io.github.shardkeeper.coordination.MemberRuntime;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.operations.GroupSteering.Ask;
import io.github.shardkeeper.operations.GroupSteering.Result;
import io.github.shardkeeper.operations.GroupSteering.Status;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

class GroupSteeringTests {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private static final Ask ASK = new Ask("anna", "test", false);

	private static final Ask DRY = new Ask("anna", "test", true);

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final ShardCoordinator coordinator = coordinator(this.store);

	private final GroupSteering steering = new GroupSteering(this.coordinator, this.store, Set.of("prices"));

	/** The coordinator is not started: an instance need not lead, or be a member. */
	private static ShardCoordinator coordinator(CoordinationStore store) {
		CoordinationSettings settings = new CoordinationSettings("group", "me", Duration.ofSeconds(1), LEASE, LEASE,
				Duration.ZERO, ApplicationVersion.UNKNOWN, HandoverRules.DEFAULT, 1, null);
		MemberRuntime runtime = mock(MemberRuntime.class);
		given(runtime.clock()).willReturn(MonotonicClock.SYSTEM);
		Lease lease = new Lease(LEASE, MonotonicClock.SYSTEM.now());
		return new ShardCoordinator(settings, store, mock(HeartbeatScheduler.class), lease,
				AssignmentSettings.builtIn("sticky", new StickyAssignment()), runtime);
	}

	/** {@code a} owns 0 and 1, {@code b} owns 2 and 3. */
	@BeforeEach
	void formGroup() {
		for (MemberId member : List.of(A, B)) {
			this.store.joinGroup(member, new MemberDescription(new TreeMap<>(Map.of("visits", TopicShards.count(4))),
					ApplicationVersion.UNKNOWN), LEASE, LEASE);
		}
		HeartbeatReply.Alive leader = (HeartbeatReply.Alive) this.store.heartbeat(A, Seen.NOTHING, true,
				LoadReport.NONE);
		this.store.applyPlan(A, leader.epoch(),
				List.of(new Transition.Assign(shard(0), 0, A), new Transition.Assign(shard(1), 0, A),
						new Transition.Assign(shard(2), 0, B), new Transition.Assign(shard(3), 0, B)));
	}

	private static ShardId shard(int id) {
		return ShardId.of("visits", id);
	}

	@Test
	void drainSaysHowManyShardsMove() {
		Result dry = this.steering.drain("b", DRY);
		assertThat(dry.status()).isEqualTo(Status.DRY_RUN);
		assertThat(this.store.directives().read().isEmpty()).as("a dry run changes nothing").isTrue();
		Result done = this.steering.drain("b~1", ASK);

		assertThat(done.status()).isEqualTo(Status.DONE);
		assertThat(done.effects()).isEqualTo(dry.effects())
			.containsExactly("b stays a member and gets no shards until it is undrained",
					"2 of its 2 shards move to other instances");
		assertThat(this.store.directives().read().drained()).containsExactly("b");
		assertThat(this.steering.drain("b", ASK).effects()).containsExactly("b is already drained by anna: test");
		assertThat(this.steering.drain("a", DRY).effects())
			.contains("2 shards stay, because no other instance can take them");
		assertThat(this.steering.undrain("b", ASK).effects()).first().asString().contains("gets shards again");
		assertThat(this.steering.undrain("b", ASK).effects()).first().asString().contains("already");
	}

	@Test
	void moveSaysThatOthersRestoreTheBalance() {
		Result moved = this.steering.move(shard(0), "b", ASK);

		assertThat(moved.status()).isEqualTo(Status.DONE);
		assertThat(moved.effects()).containsExactly("visits/0 moves from a~1 to b",
				"1 other shard is expected to move, to restore the balance",
				"from then on the usual rules apply: pin it if it has to stay");
		assertThat(this.store.directives().read().find(Kind.MOVE, "visits/0")).isNotNull();
		assertThat(this.steering.move(shard(1), "a", ASK).effects()).singleElement().asString().contains("already");
	}

	@Test
	void laterPinReplacesTheEarlierOneAndSaysSo() {
		this.steering.pin(shard(0), "b", ASK);
		Result replaced = this.steering.pin(shard(0), "a", new Ask("otto", "", false));

		assertThat(replaced.effects()).contains("this replaces what was asked for by anna: test");
		assertThat(this.store.directives().read().pinOf(shard(0)).to()).isEqualTo("a");
		assertThat(this.steering.pin(shard(0), "a", ASK).effects())
			.containsExactly("visits/0 is already pinned to a by otto");
		assertThat(this.steering.move(shard(0), "b", ASK).status()).isEqualTo(Status.REFUSED);
		assertThat(this.steering.unpin(shard(0), ASK).status()).isEqualTo(Status.DONE);
		assertThat(this.steering.unpin(shard(0), ASK).effects()).singleElement().asString().contains("already");
	}

	@Test
	void drainedInstanceIsNoTarget() {
		this.steering.drain("b", ASK);

		assertThat(this.steering.pin(shard(0), "b", ASK).refused())
			.isEqualTo("b is drained by anna: test; undrain it first");
	}

	@Test
	void pauseOfTopicAndShardAreSeparate() {
		assertThat(this.steering.pause("visits", ASK).effects()).first()
			.asString()
			.startsWith("all 4 shards of visits");
		assertThat(this.steering.pause(shard(1), ASK).status()).isEqualTo(Status.DONE);
		assertThat(this.steering.resume(shard(0), ASK).refused()).contains("its topic is paused by anna");
		assertThat(this.steering.resume("visits", ASK).effects())
			.contains("1 of them stay paused, because they are paused themselves");
		assertThat(this.store.directives().read().pauseOf(shard(1))).isNotNull();
		assertThat(this.steering.resume(shard(1), ASK).effects())
			.containsExactly("visits/1 continues where it stopped");
		assertThat(this.steering.resume(shard(1), ASK).effects()).containsExactly("visits/1 is already running");
	}

	@Test
	void rebalanceSaysWhatIsExpected() {
		assertThat(this.steering.rebalance(DRY).effects())
			.contains("no shard is expected to move: the group is balanced");
		this.store.joinGroup(MemberId.of("c", "1"), new MemberDescription(
				new TreeMap<>(Map.of("visits", TopicShards.count(4))), ApplicationVersion.UNKNOWN), LEASE, LEASE);
		assertThat(this.steering.rebalance(ASK).effects()).contains("1 shards are expected to move");
		assertThat(this.steering.rebalance(ASK).effects()).containsExactly("this was already asked for by anna: test");
	}

	@Test
	void unknownNamesAreUnknown() {
		assertThat(this.steering.drain("x", ASK).refused())
			.isEqualTo("The group has no instance 'x'; its instances are [a, b]");
		assertThat(this.steering.pin(shard(0), "x", ASK).status()).isEqualTo(Status.UNKNOWN);
		assertThat(this.steering.pin(shard(9), "a", ASK).status()).isEqualTo(Status.UNKNOWN);
		assertThat(this.steering.unpin(shard(9), ASK).status()).isEqualTo(Status.UNKNOWN);
		assertThat(this.steering.pause(shard(9), ASK).status()).isEqualTo(Status.UNKNOWN);
		assertThat(this.steering.resume(shard(9), ASK).status()).isEqualTo(Status.UNKNOWN);
		assertThat(this.steering.pause("orders", ASK).status()).isEqualTo(Status.UNKNOWN);
		assertThat(this.steering.resume("orders", ASK).status()).isEqualTo(Status.UNKNOWN);
		assertThat(this.store.directives().read().isEmpty()).isTrue();
	}

	@Test
	void broadcastTopicsAreNotPaused() {
		assertThat(this.steering.pause("prices", ASK).refused()).contains("by every instance alone");
		assertThat(this.steering.pause(ShardId.of("prices", 0), ASK).status()).isEqualTo(Status.REFUSED);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a b", "<script>", "a\nb", "a~", "~", "a|b", "{a}" })
	void namesThatAreNotValidAreRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.steering.drain(name, ASK));
		assertThatIllegalArgumentException().isThrownBy(() -> this.steering.pin(shard(0), name, ASK));
		assertThatIllegalArgumentException().isThrownBy(() -> this.steering.pause(name, ASK));
	}

	@Test
	void storeThatDoesNotAnswerIsPassedOn() {
		CoordinationStore away = mock(CoordinationStore.class);
		given(away.readChanges(0, -1)).willThrow(new StoreUnavailableException("away", null));

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> new GroupSteering(this.coordinator, away, Set.of()).rebalance(ASK));
	}

	@Test
	void tooManyDirectivesAreRefused() {
		for (int i = 0; i < 1000; i++) {
			this.store.directives().put(Directive.of(Kind.PAUSE, "old/" + i, null, "", ""));
		}

		assertThat(this.steering.pause("visits", ASK).refused()).contains("1000 directives already");
	}

}
