package io.github.shardkeeper.benchmarks.moves;

import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.moves.group.GroupProtocol;
import io.github.shardkeeper.benchmarks.moves.group.Window;
import io.github.shardkeeper.benchmarks.moves.group.Window.Shard;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tables of results.
 */
class SchemaInitializerTests {

	private final GroupResults shardkeeper = new GroupResults(protocol("Shardkeeper"));

	private final GroupResults kafka = new GroupResults(protocol("Kafka range, session 3 s"));

	private final List<GroupResults> all = List.of(this.shardkeeper, this.kafka);

	@Test
	void shardsOfAFrozenProcessAreToldApartAlsoWhereTheyMove() {
		this.shardkeeper.add(Event.FREEZE, window(shard(0, 10_000), shard(0, 20)).frozen(Set.of(0)));
		this.kafka.add(Event.FREEZE, window(shard(1, 6000), shard(1, 5000), shard(0, 30)).frozen(Set.of(0)));

		assertThat(new HandoverTable(this.all).lines()).contains("| Shardkeeper | 10,000 / 10,000 / 10,000 | 0 |",
				"| Kafka range, session 3 s | 6,000 / 6,000 / 6,000 | 2 |");
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

		assertThat(new HandoverTable(List.of(this.kafka)).lines()).contains("| Kafka range, session 3 s | – | – |",
				"| Kafka range, session 3 s | 30 / 30 / 30 (1; 30-30) | 30 / 30 / 30 (1; 30-30) |");
		assertThat(new RollingTable(List.of(this.kafka)).lines())
			.anyMatch((line) -> line.startsWith("| Kafka range, session 3 s | 1.00 / 1 | 30 / 30 / 30 |"));
	}

	@Test
	void restartInPlaceHasItsMovesAndItsLength() {
		GroupResults keep = new GroupResults(kept("Shardkeeper, keep"));
		add(keep, Event.ROLLING, new Shard(0, 0, 1500, 0, 1500, false));
		keep.add(Event.RESTART, window(new Shard(0, 0, 1500, 0, 1500, false), shard(1, 30)).only(Set.of(0)));
		keep.addRestart(1400);
		keep.add(Event.RESTART, window(shard(1, 1600), shard(2, 1700)));
		keep.addRestart(1400);

		assertThat(new RollingTable(List.of(keep)).lines())
			.contains("| Shardkeeper, keep | 1.50 | 1,600 / 1,698 / 1,700 | 1,400 / 1,400 / 1,400 |");
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

		assertThat(new RollingTable(this.all).lines())
			.anyMatch((line) -> line.startsWith("| Kafka range, session 3 s | 0.00 / 0 | 1,500 / 1,500 / 1,500 |"));
	}

	private static void add(GroupResults results, Event event, Shard... shards) {
		results.add(event, window(shards));
	}

	private static Window window(Shard... shards) {
		return new Window(0, 0, List.of(shards));
	}

	private static Shard shard(int moves, double millis) {
		return new Shard(moves, (moves > 0) ? millis : 0, millis, (moves > 0) ? millis : 0, 0, false);
	}

	private static GroupProtocol kept(String name) {
		return GroupProtocol.withKeptShards()
			.stream()
			.filter((each) -> each.text().equals(name))
			.findFirst()
			.orElseThrow();
	}

	private static GroupProtocol protocol(String name) {
		return GroupProtocol.of(GroupProtocol.TIGHTEST)
			.stream()
			.filter((each) -> each.text().equals(name))
			.findFirst()
			.orElseThrow();
	}

}
