package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/** Whole groups whose instances restart in place. */
@Promise("Restarts in place")
class RestartInPlaceTests {

	private static final Duration AWAY = Duration.ofSeconds(20);

	private static final Duration RESTART = Duration.ofSeconds(4);

	/**
	 * Of an instance that has returned, until its shards are consumed: without a plan's
	 * settle time.
	 */
	private static final Duration RETURN = Duration.ofMillis(90);

	private static final Duration BOUND = Duration.ofSeconds(30);

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4, 5 })
	void instanceThatReturnsInTimeFindsItsShardsUnderNewTokensAndNothingElseMoves(long seed) {
		try (Story story = new Story(12, seed, AWAY)) {
			SimulatedInstance restarted = threeInstances(story)[(int) (seed % 3)];
			Map<ShardId, String> owners = owners(story);
			Map<ShardId, Token> tokens = story.group().tokens();

			story.restart(restarted, RESTART);
			story.until(BOUND, () -> !isMember(story, restarted));
			story.pass(RESTART.minusMillis(50));
			assertThat(kept(story)).hasSize(4)
				.allSatisfy((shard, instance) -> assertThat(instance).isEqualTo(restarted.toString())
					.isEqualTo(owners.get(shard)));
			story.until(BOUND, () -> isMember(story, restarted));
			Duration gap = story.until(BOUND, () -> kept(story).isEmpty() && owners(story).equals(owners));

			assertThat(gap).isLessThan(RETURN);
			story.group()
				.tokens()
				.forEach((shard, token) -> assertThat(token.compareTo(tokens.get(shard))).as("%s", shard)
					.isEqualTo(owners.get(shard).equals(restarted.toString()) ? 1 : 0));
			Map<ShardId, Token> returned = story.group().tokens();
			story.pass(Duration.ofSeconds(10));
			assertThat(story.group().tokens()).isEqualTo(returned);
		}
	}

	@Test
	void othersGetTheShardsOfAnInstanceThatStaysAwayTooLong() {
		try (Story story = new Story(12, 1, AWAY)) {
			SimulatedInstance[] instances = threeInstances(story);

			story.restart(instances[0], AWAY.plusSeconds(10));
			story.until(BOUND, () -> !isMember(story, instances[0]));
			story.pass(AWAY.minusMillis(500));
			assertThat(kept(story)).hasSize(4);
			story.pass(Duration.ofSeconds(1));
			assertThat(owners(story)).hasSize(12).doesNotContainValue(instances[0].toString());

			story.until(BOUND,
					() -> owners(story).values().stream().filter(instances[0].toString()::equals).count() == 4);
		}
	}

	@Test
	void rollingRestartOfAllMovesNothing() {
		try (Story story = new Story(12, 1, AWAY)) {
			SimulatedInstance[] instances = threeInstances(story);
			Map<ShardId, String> owners = owners(story);

			for (SimulatedInstance instance : instances) {
				story.restart(instance, RESTART);
				story.until(BOUND, () -> !isMember(story, instance));
				story.until(BOUND, () -> owners(story).equals(owners));
			}

			story.pass(Duration.ofSeconds(5));
			assertThat(owners(story)).isEqualTo(owners);
		}
	}

	@Test
	void groupThatRestartsAsAWholeFindsItsShards() {
		try (Story story = new Story(12, 1, AWAY)) {
			SimulatedInstance[] instances = threeInstances(story);
			Map<ShardId, String> owners = owners(story);

			for (int i = 0; i < instances.length; i++) {
				story.restart(instances[i], RESTART.plusSeconds(i));
			}
			story.until(BOUND, () -> story.group().stored().members().isEmpty());
			assertThat(kept(story)).isEqualTo(owners);

			story.until(BOUND, () -> owners(story).equals(owners));
			story.pass(Duration.ofSeconds(5));
			assertThat(owners(story)).isEqualTo(owners);
		}
	}

	@Test
	void memberThatJoinsMeanwhileTakesItsShareAlsoOfWhatIsKept() {
		try (Story story = new Story(12, 1, AWAY)) {
			SimulatedInstance[] instances = threeInstances(story);
			story.restart(instances[1], RESTART);
			story.until(BOUND, () -> !isMember(story, instances[1]));

			SimulatedInstance joined = story.start();

			story.until(BOUND, () -> owners(story).values().stream().filter(joined.toString()::equals).count() == 3);
			story.until(BOUND,
					() -> owners(story).values().stream().filter(instances[1].toString()::equals).count() == 3);
		}
	}

	@Test
	void shardsOfADrainedInstanceAreNotKept() {
		try (Story story = new Story(12, 1, AWAY)) {
			SimulatedInstance[] instances = threeInstances(story);
			story.restart(instances[2], RESTART.multipliedBy(2));
			story.until(BOUND, () -> !isMember(story, instances[2]));
			assertThat(kept(story)).hasSize(4);

			story.group()
				.directives()
				.put(Directive.of(Kind.DRAIN, instances[2].toString(), null, "somebody", "for good"));

			story.until(Duration.ofSeconds(2), () -> owners(story).size() == 12);
		}
	}

	@Test
	void shardPinnedToAnotherInstanceIsNotKept() {
		try (Story story = new Story(12, 1, AWAY)) {
			SimulatedInstance[] instances = threeInstances(story);
			story.restart(instances[2], RESTART);
			story.until(BOUND, () -> !isMember(story, instances[2]));
			ShardId pinned = kept(story).keySet().iterator().next();

			story.group()
				.directives()
				.put(Directive.of(Kind.PIN, pinned.toString(), instances[0].toString(), "somebody", ""));

			story.until(Duration.ofSeconds(2), () -> instances[0].toString().equals(owners(story).get(pinned)));
			assertThat(kept(story)).hasSize(3);
		}
	}

	@Test
	void secondProcessUnderTheIdWaitsForTheEndOfTheFirst() {
		try (Story story = new Story(12, 1, AWAY)) {
			SimulatedInstance[] instances = threeInstances(story);
			Map<ShardId, Token> tokens = story.group().tokens();
			story.group().startInstance(instances[1].toString());

			story.pass(Duration.ofSeconds(10));
			assertThat(story.group().stored().members()).hasSize(3);
			assertThat(story.group().tokens()).isEqualTo(tokens);

			instances[1].die();
			story.until(BOUND, () -> owners(story).size() == 12 && story.group().stored().members().size() == 3
					&& owners(story).values().stream().filter(instances[1].toString()::equals).count() == 4);
		}
	}

	private static SimulatedInstance[] threeInstances(Story story) {
		SimulatedInstance[] instances = { story.start(), story.start(), story.start() };
		story.feed();
		story.until(BOUND,
				() -> owners(story).size() == 12 && owners(story).values()
					.stream()
					.collect(Collectors.groupingBy((owner) -> owner, Collectors.counting()))
					.values()
					.stream()
					.allMatch((count) -> count == 4));
		story.pass(Duration.ofSeconds(2));
		return instances;
	}

	private static boolean isMember(Story story, SimulatedInstance instance) {
		return story.group()
			.stored()
			.members()
			.stream()
			.anyMatch((member) -> member.id().instance().equals(instance.toString()));
	}

	private static Map<ShardId, String> owners(Story story) {
		Map<ShardId, String> owners = new TreeMap<>();
		for (Ownership shard : story.group().stored().ownerships()) {
			if (shard.phase() == Phase.OWNED) {
				owners.put(shard.shard(), shard.owner().instance());
			}
		}
		return owners;
	}

	private static Map<ShardId, String> kept(Story story) {
		Map<ShardId, String> kept = new TreeMap<>();
		for (Ownership shard : story.group().stored().ownerships()) {
			String instance = RestartingInstance.keptFor(shard);
			if (instance != null) {
				kept.put(shard.shard(), instance);
			}
		}
		return kept;
	}

}
