package io.github.shardkeeper.benchmarks.moves;

import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.moves.Window.Shard;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tables of results.
 */
class TablesTests {

	private final ContenderResults shardkeeper = new ContenderResults(contender("Shardkeeper"));

	private final ContenderResults kafka = new ContenderResults(contender("Kafka range, session 6 s"));

	private final List<ContenderResults> all = List.of(this.shardkeeper, this.kafka);

	@Test
	void shardsOfAFrozenProcessAreToldApartAlsoWhereTheyMove() {
		this.shardkeeper.add(Event.FREEZE, window(shard(0, 10_000), shard(0, 20)).frozen(Set.of(0)));
		this.kafka.add(Event.FREEZE, window(shard(1, 6000), shard(1, 5000), shard(0, 30)).frozen(Set.of(0)));

		assertThat(new HandoverTable(this.all).lines()).contains(
				"| Shardkeeper | 1.00 | 10,000 / 10,000 / 10,000 | 1 | 0 |",
				"| Kafka range, session 6 s | 0.60 | 6,000 / 6,000 / 6,000 | 1 | 2 |");
		assertThat(this.shardkeeper.standstills(Event.FREEZE).values()).containsExactly(20.0);
	}

	@Test
	void standstillWithoutAFreezeIsNotExcused() {
		this.shardkeeper.add(Event.FREEZE, window(shard(0, 10_000), shard(0, 9000)).frozen(Set.of(0)));

		assertThat(this.shardkeeper.standstills(Event.FREEZE).values()).containsExactly(9000.0);
	}

	@Test
	void withoutOursThereIsNothingToCompareWith() {
		add(this.kafka, Event.JOIN, shard(1, 30));
		add(this.kafka, Event.ROLLING, shard(1, 30));

		assertThat(new HandoverTable(List.of(this.kafka)).lines()).contains("| Kafka range, session 6 s | – | – |",
				"| Kafka range, session 6 s | 30 / 30 / 30 (1; 30-30) | 30 / 30 / 30 (1; 30-30) |");
		assertThat(new RollingTable(List.of(this.kafka)).lines())
			.anyMatch((line) -> line.startsWith("| Kafka range, session 6 s | – | 1.00 / 1 |"));
	}

	@Test
	void movesOfARestartAreJudged() {
		add(this.shardkeeper, Event.ROLLING, shard(3, 30), shard(0, 20));
		add(this.kafka, Event.ROLLING, shard(1, 40));

		assertThat(new RollingTable(this.all).lines()).contains(
				"| Shardkeeper: most moves of a shard | 3 | 2 | **missed** |",
				"| Shardkeeper: moves per shard | 1.50 | 1.30 | **missed** |",
				"| Shardkeeper: ms unconsumed, beside Kafka's shortest p50 | 15 | 40 | kept |");
	}

	@Test
	void restartInPlaceIsJudgedByItsMovesAndItsLength() {
		ContenderResults keep = new ContenderResults(kept("Shardkeeper, keep"));
		ContenderResults staticMembers = new ContenderResults(kept("Kafka range, static members"));
		keep.add(Event.ROLLING, window(new Shard(0, 0, 1500, 0, 1500, false)));
		keep.add(Event.RESTART, window(new Shard(0, 0, 1500, 0, 1500, false), shard(1, 30)).only(Set.of(0)));
		keep.addRestart(1400);
		keep.add(Event.RESTART, window(shard(1, 1600), shard(2, 1700)));
		keep.addRestart(1400);
		add(staticMembers, Event.ROLLING, shard(0, 1000));

		assertThat(new RollingTable(List.of(keep, staticMembers)).lines()).contains(
				"| Shardkeeper, keep | 1.50 / 3 | 1,600 / 1,698 / 1,700 | 1,400 / 1,400 / 1,400 |",
				"| Shardkeeper, keep: moves per restarted instance | 3 | 0 | **missed** |",
				"| Shardkeeper, keep: ms unconsumed p50, beside 1.1 of the restart | 1,600 | 1,540 | **missed** |");
	}

	@Test
	void rollingRestartWithoutKeptShardsHasNoTableOfThem() {
		add(this.shardkeeper, Event.ROLLING, shard(1, 30));
		assertThat(new RollingTable(this.all).lines()).noneMatch((line) -> line.contains("restart in place"));
	}

	@Test
	void runWithoutFreezeHasNoTableOfFrozenShards() {
		add(this.shardkeeper, Event.JOIN, shard(1, 30));
		assertThat(new HandoverTable(this.all).lines()).noneMatch((line) -> line.contains("frozen"));
	}

	@Test
	void eachRoundHasAMedian() {
		add(this.shardkeeper, Event.JOIN, shard(1, 20), shard(1, 24), shard(0, 90));
		add(this.shardkeeper, Event.JOIN, shard(1, 44), shard(1, 40), shard(0, 20));

		assertThat(new HandoverTable(List.of(this.shardkeeper)).lines())
			.contains("| Shardkeeper | 32 / 44 / 44 (4; 22-42) |");
	}

	@Test
	void standstillWithoutAMoveIsNotBetter() {
		add(this.shardkeeper, Event.ROLLING, new Shard(1, 50, 50, 50, 0, false));
		add(this.kafka, Event.ROLLING, new Shard(0, 0, 1500, 0, 1500, false));

		assertThat(new RollingTable(this.all).lines()).anyMatch((line) -> line
			.startsWith("| Kafka range, session 6 s | 30.0 | 0.00 / 0 | 1,500 / 1,500 / 1,500 (1,500-1,500) |"));
	}

	@Test
	void smallMissIsVisible() {
		add(this.shardkeeper, Event.JOIN, shard(1, 25.2));

		assertThat(new Goals(this.all, 1).lines()).contains("| Shardkeeper, join: p50 | 25.2 | 25 | **missed** |",
				"| Shardkeeper, join: p99 | 25.2 | 60 | kept |");
	}

	private static void add(ContenderResults results, Event event, Shard... shards) {
		results.add(event, window(shards));
	}

	private static Window window(Shard... shards) {
		return new Window(0, 0, List.of(shards));
	}

	private static Shard shard(int moves, double millis) {
		return new Shard(moves, (moves > 0) ? millis : 0, millis, (moves > 0) ? millis : 0, 0, false);
	}

	private static Contender kept(String name) {
		return Contender.withKeptShards().stream().filter((each) -> each.name().equals(name)).findFirst().orElseThrow();
	}

	private static Contender contender(String name) {
		return Contender.of("6s").stream().filter((each) -> each.name().equals(name)).findFirst().orElseThrow();
	}

}
