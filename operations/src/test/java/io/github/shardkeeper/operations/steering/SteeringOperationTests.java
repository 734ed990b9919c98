package io.github.shardkeeper.operations.steering;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.operations.request.Operation;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.operations.request.OperationRefusedException.Kind;
import io.github.shardkeeper.operations.request.OperationRequest;
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
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

class SteeringOperationTests {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final ShardCoordinator coordinator = coordinator(this.store);

	private final OperatorCommands group = new OperatorCommands(this.coordinator, this.store, Set.of("prices"));

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

	private List<String> drain(String instance, boolean dryRun) {
		return new DrainOperation(this.group).perform(request(null, null, dryRun, Map.of("instance", instance)));
	}

	private List<String> undrain(String instance) {
		return new UndrainOperation(this.group).perform(request(null, null, false, Map.of("instance", instance)));
	}

	private List<String> rebalance(boolean dryRun) {
		return new RebalanceOperation(this.group).perform(request(null, null, dryRun, Map.of()));
	}

	private List<String> move(ShardId shard, String instance) {
		return PlaceOperation.move(this.group).perform(request(shard.topic(), shard, false, Map.of("to", instance)));
	}

	private List<String> pin(ShardId shard, String instance) {
		return PlaceOperation.pin(this.group).perform(request(shard.topic(), shard, false, Map.of("to", instance)));
	}

	private List<String> perform(Function<OperatorCommands, Operation> operation, ShardId shard) {
		return operation.apply(this.group).perform(request(shard.topic(), shard, false, Map.of()));
	}

	private List<String> perform(Function<OperatorCommands, Operation> operation, String topic) {
		return operation.apply(this.group).perform(request(topic, null, false, Map.of()));
	}

	private static OperationRequest request(@Nullable String topic, @Nullable ShardId shard, boolean dryRun,
			Map<String, String> fields) {
		return new OperationRequest("test", topic, shard, "anna", "test", dryRun, fields);
	}

	private static String refused(Kind kind, ThrowingCallable call) {
		OperationRefusedException refusal = catchThrowableOfType(OperationRefusedException.class, call);
		assertThat(refusal.kind()).isEqualTo(kind);
		return refusal.getMessage();
	}

	private static String unknown(ThrowingCallable call) {
		return refused(Kind.UNKNOWN, call);
	}

	private static String conflict(ThrowingCallable call) {
		return refused(Kind.CONFLICT, call);
	}

	@Test
	void drainSaysHowManyShardsMove() {
		List<String> dry = drain("b", true);
		assertThat(this.store.directives().read().isEmpty()).as("a dry run changes nothing").isTrue();

		assertThat(drain("b~1", false)).isEqualTo(dry)
			.containsExactly("b stays a member and gets no shards until it is undrained",
					"2 of its 2 shards move to other instances");
		assertThat(this.store.directives().read().drained()).containsExactly("b");
		assertThat(drain("b", false)).containsExactly("b is already drained by anna: test");
		assertThat(drain("a", true)).contains("2 shards stay, because no other instance can take them");
		assertThat(undrain("b")).first().asString().contains("gets shards again");
		assertThat(undrain("b")).first().asString().contains("already");
	}

	@Test
	void moveSaysThatOthersRestoreTheBalance() {
		assertThat(move(shard(0), "b")).containsExactly("visits/0 moves from a~1 to b",
				"1 other shard is expected to move, to restore the balance",
				"from then on the usual rules apply: pin it if it has to stay");
		assertThat(this.store.directives().read().find(Directive.Kind.MOVE, "visits/0")).isNotNull();
		assertThat(move(shard(1), "a")).singleElement().asString().contains("already");
	}

	@Test
	void laterPinReplacesTheEarlierOneAndSaysSo() {
		pin(shard(0), "b");
		List<String> replaced = PlaceOperation.pin(this.group)
			.perform(new OperationRequest("pin", "visits", shard(0), "otto", null, false, Map.of("to", "a")));

		assertThat(replaced).contains("this replaces what was asked for by anna: test");
		assertThat(this.store.directives().read().pinOf(shard(0)).to()).isEqualTo("a");
		assertThat(pin(shard(0), "a")).containsExactly("visits/0 is already pinned to a by otto");
		assertThat(conflict(() -> move(shard(0), "b")))
			.isEqualTo("visits/0 is pinned to a by otto; unpin it, or pin it to b");
		assertThat(perform(UnpinOperation::new, shard(0))).singleElement().asString().contains("usual rules");
		assertThat(perform(UnpinOperation::new, shard(0))).singleElement().asString().contains("already");
	}

	@Test
	void drainedInstanceIsNoTarget() {
		drain("b", false);

		assertThat(conflict(() -> pin(shard(0), "b"))).isEqualTo("b is drained by anna: test; undrain it first");
	}

	@Test
	void pauseOfTopicAndShardAreSeparate() {
		assertThat(perform(PauseOperation::new, "visits")).first().asString().startsWith("all 4 shards of visits");
		assertThat(perform(PauseOperation::new, shard(1))).first().asString().startsWith("visits/1: running calls");
		assertThat(conflict(() -> perform(ResumeOperation::new, shard(0)))).contains("its topic is paused by anna");
		assertThat(perform(ResumeOperation::new, "visits"))
			.contains("1 of them stay paused, because they are paused themselves");
		assertThat(this.store.directives().read().pauseOf(shard(1))).isNotNull();
		assertThat(perform(ResumeOperation::new, shard(1))).containsExactly("visits/1 continues where it stopped");
		assertThat(perform(ResumeOperation::new, shard(1))).containsExactly("visits/1 is already running");
	}

	@Test
	void rebalanceSaysWhatIsExpected() {
		assertThat(rebalance(true)).contains("no shard is expected to move: the group is balanced");
		this.store.joinGroup(MemberId.of("c", "1"), new MemberDescription(
				new TreeMap<>(Map.of("visits", TopicShards.count(4))), ApplicationVersion.UNKNOWN), LEASE, LEASE);
		assertThat(rebalance(false)).contains("1 shards are expected to move");
		assertThat(rebalance(false)).containsExactly("this was already asked for by anna: test");
	}

	@Test
	void unknownNamesAreUnknown() {
		assertThat(unknown(() -> drain("x", false)))
			.isEqualTo("The group has no instance 'x'; its instances are [a, b]");
		unknown(() -> pin(shard(0), "x"));
		unknown(() -> pin(shard(9), "a"));
		unknown(() -> perform(UnpinOperation::new, shard(9)));
		unknown(() -> perform(PauseOperation::new, shard(9)));
		unknown(() -> perform(ResumeOperation::new, shard(9)));
		unknown(() -> perform(PauseOperation::new, "orders"));
		unknown(() -> perform(ResumeOperation::new, "orders"));
		assertThat(this.store.directives().read().isEmpty()).isTrue();
	}

	@Test
	void shardsOfBroadcastTopicsAreNotSteered() {
		assertThat(conflict(() -> perform(PauseOperation::new, "prices"))).contains("'prices' is a broadcast topic",
				"'pause' is not possible");
		conflict(() -> perform(PauseOperation::new, ShardId.of("prices", 0)));
		conflict(() -> pin(ShardId.of("prices", 0), "a"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a b", "<script>", "a\nb", "a~", "~", "a|b", "{a}" })
	void namesThatAreNotValidAreRefused(String name) {
		refused(Kind.MALFORMED, () -> drain(name, false));
		refused(Kind.MALFORMED, () -> pin(shard(0), name));
	}

	@Test
	void storeThatDoesNotAnswerIsPassedOn() {
		CoordinationStore away = mock(CoordinationStore.class);
		given(away.readChanges(0, -1)).willThrow(new StoreUnavailableException("away", null));
		Operation rebalance = new RebalanceOperation(new OperatorCommands(this.coordinator, away, Set.of()));

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> rebalance.perform(request(null, null, false, Map.of())));
	}

	@Test
	void tooManyDirectivesAreRefused() {
		for (int i = 0; i < 1000; i++) {
			this.store.directives().put(Directive.of(Directive.Kind.PAUSE, "old/" + i, null, "", ""));
		}

		assertThat(conflict(() -> perform(PauseOperation::new, "visits"))).contains("1000 directives already");
	}

}
