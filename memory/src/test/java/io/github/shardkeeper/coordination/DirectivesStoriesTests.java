package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.member.TestConsumption;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.MoveReason;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

/** What a group does with directives, with real coordinators on a store in memory. */
@Tag("proof")
class DirectivesStoriesTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final TestConsumption.Ledger ledger = new TestConsumption.Ledger();

	private final List<TestInstance> instances = new ArrayList<>();

	@AfterEach
	void closeAll() {
		this.instances.forEach(TestInstance::kill);
		assertThat(this.ledger.breaches()).isEmpty();
	}

	@Test
	void drainedInstanceOwnsNothingUntilItIsUndrained() {
		TestInstance a = start("a");
		TestInstance b = start("b");
		awaitConsumed(a, 2);
		awaitConsumed(b, 2);

		put(Kind.DRAIN, "b", null);

		awaitConsumed(a, 4);
		awaitConsumed(b, 0);
		assertThat(b.coordinator.isConnected()).as("it stays a member").isTrue();
		assertThat(a.coordinator.directives().drained()).containsExactly("b");
		await().untilAsserted(() -> assertThat(whys())
			.filteredOn((why) -> why.contains(" goes to a~") && why.endsWith(": b is drained by anna: test"))
			.hasSize(2));
		this.store.directives().clear(Kind.DRAIN, "b");
		awaitConsumed(b, 2);
		awaitConsumed(a, 2);
	}

	@Test
	void shardsAreConsumedIfAllInstancesAreDrained() {
		TestInstance a = start("a");
		TestInstance b = start("b");
		awaitConsumed(a, 2);
		awaitConsumed(b, 2);
		put(Kind.DRAIN, "a", null);
		awaitConsumed(b, 4);

		put(Kind.DRAIN, "b", null);
		put(Kind.REBALANCE, "", null);
		await().until(() -> this.store.directives().read().requests().isEmpty());

		// Among themselves, they share the shards evenly again.
		awaitConsumed(a, 2);
		awaitConsumed(b, 2);
		TestInstance c = start("c");
		awaitConsumed(c, 4);
	}

	@Test
	void pinnedShardGoesToItsInstanceAndStays() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		TestInstance b = start("b");
		awaitConsumed(b, 2);
		ShardId shard = a.consumption.consumed().keySet().iterator().next();

		put(Kind.PIN, shard.toString(), "b");

		await().until(() -> b.consumption.consumed().containsKey(shard));
		awaitConsumed(a, 2);
		await().untilAsserted(() -> assertThat(whys()).anyMatch((why) -> why.startsWith(shard + " moves from a~")
				&& why.endsWith(": pinned to this instance by anna: test")));
		b.kill();
		awaitConsumed(a, 4);
		TestInstance again = start("b");
		await().until(() -> again.consumption.consumed().containsKey(shard));
	}

	@Test
	void movedShardIsFollowedOnceAndNotMovedStraightBack() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		TestInstance b = start("b");
		awaitConsumed(b, 2);
		ShardId shard = a.consumption.consumed().keySet().iterator().next();

		put(Kind.MOVE, shard.toString(), "b");

		await().until(() -> b.consumption.consumed().containsKey(shard));
		await().until(() -> this.store.directives().read().isEmpty());
		awaitConsumed(a, 2);
		put(Kind.REBALANCE, "", null);
		await().until(() -> this.store.directives().read().isEmpty());
		assertThat(b.consumption.consumed()).as("another shard restores the balance").hasSize(2).containsKey(shard);
	}

	@Test
	void requestSurvivesTheLeader() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		TestInstance b = start("b");
		awaitConsumed(b, 2);
		TestInstance c = start("c");
		awaitConsumed(c, 1);
		ShardId shard = b.consumption.consumed().keySet().iterator().next();
		await().until(a.coordinator::isLeader);
		a.kill();

		put(Kind.MOVE, shard.toString(), "c");

		await().until(() -> c.consumption.consumed().containsKey(shard));
		await().until(() -> this.store.directives().read().isEmpty());
		await().until(() -> b.consumption.consumed().size() == 2 && c.consumption.consumed().size() == 2);
	}

	@Test
	void requestThatNobodyCanFollowIsDropped() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		put(Kind.MOVE, "orders/1", "gone");
		put(Kind.MOVE, "other/1", "a");

		await().until(() -> this.store.directives().read().isEmpty());

		assertThat(a.consumption.consumed()).hasSize(4);
	}

	@Test
	void consumptionLearnsPausesAlsoWhenItStartsLater() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		put(Kind.PAUSE, "orders", null);
		await().until(() -> pauses(a));

		TestInstance b = start("b");
		awaitConsumed(b, 2);

		await().until(() -> pauses(b));
		this.store.directives().clear(Kind.PAUSE, "orders");
		await().until(() -> a.consumption.directives().isEmpty() && b.consumption.directives().isEmpty());
	}

	/** The version is the one that all members know, so nothing else shows it. */
	@Test
	void requestWhoseCompletionIsLostIsFollowedAgain() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		a.store.completionsToLose.set(1);

		put(Kind.REBALANCE, "", null);

		await().until(() -> a.store.completionsToLose.get() == 0 && this.store.directives().read().isEmpty());
	}

	/** Without them it might plan against what operators want. */
	@Test
	void memberThatCannotReadDirectivesDoesNotLead() {
		TestInstance a = create("a");
		a.store.directivesFailure = new StoreUnavailableException("no reply, caused by the test", null);
		a.start();
		await().until(a.coordinator::isConnected);

		TestInstance b = start("b");

		awaitConsumed(b, 2);
		awaitConsumed(a, 2);
		assertThat(b.coordinator.isLeader()).isTrue();
		assertThat(a.consumption.directives()).as("so that its shards stay paused").isNull();
		a.store.directivesFailure = null;
		await().until(() -> a.consumption.directives() != null);
	}

	/** A missing right must not stop a group that uses no directives. */
	@Test
	void refusedDirectivesAreTakenAsNone() {
		TestInstance a = create("a");
		a.store.directivesFailure = new StoreUnavailableException("no right, caused by the test", null, true);
		a.start();

		awaitConsumed(a, 4);
		await().until(() -> a.consumption.directives() != null);
		assertThat(a.consumption.directives().isEmpty()).isTrue();
		assertThat(a.coordinator.directiveProblem())
			.hasValueSatisfying((text) -> assertThat(text).contains("no right"));
	}

	private void put(Kind kind, String subject, String to) {
		this.store.directives().put(Directive.of(kind, subject, to, "anna", "test"));
	}

	private static boolean pauses(TestInstance instance) {
		Directives known = instance.consumption.directives();
		return known != null && known.pauseOf(ShardId.of("orders", 1)) != null;
	}

	/** Returns the reasons that every instance can read. */
	private List<String> whys() {
		List<String> names = this.store.readChanges(0, -1)
			.ownerships()
			.stream()
			.map((ownership) -> ownership.shard().toString())
			.toList();
		return this.store.diagnostics()
			.read(GroupDiagnostics.Kind.REASONS, names)
			.entrySet()
			.stream()
			.map((reason) -> MoveReason.parse(reason.getValue()).orElseThrow().sentence(ShardId.parse(reason.getKey())))
			.toList();
	}

	private static void awaitConsumed(TestInstance instance, int shards) {
		await().until(() -> instance.consumption.consumed().size() == shards);
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(PATIENCE);
	}

	private TestInstance start(String name) {
		return create(name).start();
	}

	private TestInstance create(String name) {
		TestInstance instance = new TestInstance(name, this.store, this.ledger, HandoverRules.DEFAULT);
		this.instances.add(instance);
		return instance;
	}

}
