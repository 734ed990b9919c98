package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.member.TestConsumption;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every member knows the problem that keeps a group from assigning shards.
 */
@Tag("proof")
@Promise("Automatic recovery")
class GroupProblemsStoriesTests {

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final TestConsumption.Ledger ledger = new TestConsumption.Ledger();

	private final List<TestInstance> instances = new ArrayList<>();

	@AfterEach
	void closeAll() {
		this.instances.forEach(TestInstance::kill);
		assertThat(this.ledger.breaches()).isEmpty();
	}

	/** Every leader fails and resigns after a lease. */
	@Test
	void failingPlansAreReportedByAllMembersUntilTheyWork() {
		List<TestInstance> all = List.of(start("a"), start("b"), start("c"));
		awaitProblems(all, 0);

		all.forEach((instance) -> instance.store.readingBroken = true);
		TestInstance d = start("d");
		d.store.readingBroken = true;

		awaitProblem(all, "planning", "broken, caused by the test");
		// While leaders follow one another.
		await().during(TestInstance.LEASE.multipliedBy(3))
			.untilAsserted(() -> assertProblem(all, "planning", "broken, caused by the test"));
		this.instances.forEach((instance) -> instance.store.readingBroken = false);
		awaitProblems(this.instances, 0);
	}

	@Test
	void refusedPlansAreReportedByAllMembers() {
		TestInstance a = start("a");
		await().until(() -> a.consumption.consumed().size() == 4);
		a.store.planRefused = true;
		TestInstance b = start("b");
		b.store.planRefused = true;

		awaitProblem(List.of(a, b), "store", "no plan");
		a.store.planRefused = false;
		b.store.planRefused = false;
		awaitProblems(List.of(a, b), 0);
	}

	@Test
	void nothingIsPublishedWhileNothingChanges() {
		TestInstance a = start("a");
		TestInstance b = start("b");
		await().until(() -> b.consumption.consumed().size() == 2);
		int beats = a.store.heartbeats.get();

		await().until(() -> a.store.heartbeats.get() > beats + 5);
		assertThat(a.store.published.size() + b.store.published.size()).isPositive();
		assertNothingIsRepeated(a.store.published);
		assertNothingIsRepeated(b.store.published);
	}

	/** Another leader publishes again, on a machine that stops for a lease. */
	private static void assertNothingIsRepeated(List<GroupStatus> published) {
		for (int i = 1; i < published.size(); i++) {
			assertThat(published.get(i)).isNotEqualTo(published.get(i - 1));
		}
	}

	private TestInstance start(String name) {
		TestInstance instance = new TestInstance(name, this.store, this.ledger, HandoverRules.DEFAULT);
		this.instances.add(instance);
		return instance.start();
	}

	private static void awaitProblem(List<TestInstance> all, String kind, String text) {
		await().untilAsserted(() -> assertProblem(all, kind, text));
	}

	private static void assertProblem(List<TestInstance> all, String kind, String text) {
		assertThat(all).allSatisfy(
				(instance) -> assertThat(instance.coordinator.groupProblems()).singleElement().satisfies((problem) -> {
					assertThat(problem.serious()).isTrue();
					assertThat(problem.kind()).isEqualTo(kind);
					assertThat(problem.problem()).contains(text);
				}));
	}

	private static void awaitProblems(List<TestInstance> all, int count) {
		await().untilAsserted(() -> assertThat(all).allSatisfy((instance) -> {
			assertThat(instance.coordinator.isConnected()).isTrue();
			assertThat(instance.coordinator.groupProblems()).extracting(ProblemReport::problem).hasSize(count);
		}));
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
	}

}
