package io.github.shardkeeper.benchmarks.moves;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.moves.Window.Shard;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What tables make of what was seen.
 */
class TablesTests {

	private final Findings ours = new Findings(contender("Shardkeeper"));

	private final Findings kafka = new Findings(contender("Kafka range, session 6 s"));

	private final List<Findings> all = List.of(this.ours, this.kafka);

	@Test
	void shardsOfAFrozenProcessAreToldApartAlsoWhereTheyMove() {
		add(this.ours, Event.FREEZE, shard(0, 10_000), shard(0, 20));
		add(this.kafka, Event.FREEZE, shard(1, 6000), shard(0, 30));

		assertThat(new HandoverTable(this.all).lines()).contains(
				"| Shardkeeper | 1.00 | 10,000 / 10,000 / 10,000 | 1 | 0 |",
				"| Kafka range, session 6 s | 0.60 | 6,000 / 6,000 / 6,000 | 1 | 1 |");
		assertThat(this.ours.standstills(Event.FREEZE).values()).containsExactly(20.0);
	}

	@Test
	void whatNobodyWasFrozenInHasNoTableOfThat() {
		add(this.ours, Event.JOIN, shard(1, 30));
		assertThat(new HandoverTable(this.all).lines()).noneMatch((line) -> line.contains("frozen"));
	}

	@Test
	void eachRoundHasAMedian() {
		add(this.ours, Event.JOIN, shard(1, 20), shard(1, 24), shard(0, 90));
		add(this.ours, Event.JOIN, shard(1, 44), shard(1, 40), shard(0, 20));

		assertThat(new HandoverTable(List.of(this.ours)).lines()).contains("| Shardkeeper | 32 / 44 / 44 (4; 22-42) |");
	}

	@Test
	void whoMovesNothingAndStandsStillIsNotBetter() {
		add(this.ours, Event.ROLLING, new Shard(1, 50, 50, 50, 0));
		add(this.kafka, Event.ROLLING, new Shard(0, 0, 1500, 0, 1500));

		assertThat(new RollingTable(this.all).lines()).anyMatch(
				(line) -> line.startsWith("| Kafka range, session 6 s | 30.0 | 0.00 / 0 | 1,500 / 1,500 / 1,500 |"));
	}

	@Test
	void whatIsMissedByLittleDoesNotLookKept() {
		add(this.ours, Event.JOIN, shard(1, 25.2));

		assertThat(new Goals(this.all, 1).lines()).contains("| Shardkeeper, join: p50 | 25.2 | 25 | **missed** |",
				"| Shardkeeper, join: p99 | 25.2 | 60 | kept |");
	}

	private static void add(Findings findings, Event event, Shard... shards) {
		findings.add(event, new Window(0, 0, List.of(shards)));
	}

	private static Shard shard(int moves, double millis) {
		return new Shard(moves, (moves > 0) ? millis : 0, millis, (moves > 0) ? millis : 0, 0);
	}

	private static Contender contender(String name) {
		return Contender.of("6s").stream().filter((each) -> each.name().equals(name)).findFirst().orElseThrow();
	}

}
