package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Goals are compared with results.
 */
class GoalsTests {

	private static final long LEASE_MILLIS = 3000;

	private final ContenderResults shardkeeper = results("Ours", LEASE_MILLIS);

	private final ContenderResults slowKafka = results("Kafka slow", 0);

	private final ContenderResults quickKafka = results("Kafka quick", 0);

	@Test
	void missingFigureHasNoGoal() {
		this.quickKafka.add(Event.JOIN, moved(10));

		assertThat(lines(1)).isEmpty();
	}

	@Test
	void shortGapsAreKept() {
		this.shardkeeper.add(Event.JOIN, moved(10, 20, 30));

		assertThat(lines(1)).containsExactly("| Ours, join: p50 | 20 | 25 | kept |",
				"| Ours, join: p99 | 29.8 | 60 | kept |");
	}

	@Test
	void longGapsAreMissed() {
		this.shardkeeper.add(Event.LEAVE, moved(30, 20, 100));

		assertThat(lines(1)).containsExactly("| Ours, leave: p50 | 30 | 25 | **missed** |",
				"| Ours, leave: p99 | 98.6 | 60 | **missed** |");
	}

	@Test
	void movesOnKafkaAreComparedWithRedisStreams() {
		ContenderResults onKafka = results(Contender.SHARDKEEPER_ON_KAFKA, LEASE_MILLIS);
		onKafka.add(Event.JOIN, moved(50));
		assertThat(new Goals(List.of(onKafka), 1).lines()).noneMatch((line) -> line.contains("join"));

		this.shardkeeper.add(Event.JOIN, moved(25));
		assertThat(new Goals(List.of(this.shardkeeper, onKafka), 1).lines())
			.contains("| Shardkeeper on Kafka, join: p50, beside Redis Streams + 20 ms | 50 | 45 | **missed** |");
	}

	@Test
	void limitIsKept() {
		this.shardkeeper.add(Event.JOIN, moved(25));

		assertThat(lines(1)).contains("| Ours, join: p50 | 25 | 25 | kept |");
	}

	@Test
	void shortestMedianOfKafkaIsTheLimit() {
		this.shardkeeper.add(Event.JOIN, moved(20));
		this.slowKafka.add(Event.JOIN, moved(40));
		this.quickKafka.add(Event.JOIN, moved(15, 15, 90));
		this.shardkeeper.add(Event.LEAVE, moved(14));
		this.slowKafka.add(Event.LEAVE, moved(15));

		assertThat(lines(1)).contains("| Ours, join: p50, beside Kafka's shortest p50 | 20 | 15 | **missed** |",
				"| Ours, join: p99, beside Kafka's shortest p99 | 20 | 40 | kept |",
				"| Ours, leave: p50, beside Kafka's shortest p50 | 14 | 15 | kept |");
	}

	@Test
	void longestGapOfACrashIsLimitedByTheLease() {
		this.shardkeeper.add(Event.KILL, moved(LEASE_MILLIS, LEASE_MILLIS + 300));
		assertThat(lines(1))
			.containsExactly("| Ours, kill -9: longest, beside the lease + 300 ms | 3,300 | 3,300 | kept |");

		this.shardkeeper.add(Event.KILL, moved(LEASE_MILLIS + 302));
		assertThat(lines(1))
			.containsExactly("| Ours, kill -9: longest, beside the lease + 300 ms | 3,302 | 3,300 | **missed** |");
	}

	@Test
	void crashIsShorterThanKafkasByTheFactor() {
		this.shardkeeper.add(Event.KILL, moved(3000));
		this.slowKafka.add(Event.KILL, moved(45_000));
		this.quickKafka.add(Event.KILL, moved(28_000));

		assertThat(lines(10))
			.contains("| Ours, kill -9: p50, beside 1/10 of Kafka's shortest p50 | 3,000 | 2,800 | **missed** |");
		assertThat(lines(1)).contains("| Ours, kill -9: p50, beside Kafka's shortest p50 | 3,000 | 28,000 | kept |");
	}

	@Test
	void noShardMovesWhileAnInstanceIsFrozen() {
		this.shardkeeper.add(Event.FREEZE, stood(2000, 2000).frozen(Set.of(0, 1)));
		assertThat(lines(1)).containsExactly("| Ours, freeze: shards that moved | 0 | 0 | kept |");

		this.shardkeeper.add(Event.FREEZE, moved(2000));
		assertThat(lines(1)).containsExactly("| Ours, freeze: shards that moved | 1 | 0 | **missed** |");
	}

	@Test
	void shardsThatStayAreComparedWithTimesWithoutAMove() {
		this.shardkeeper.add(Event.QUIET, stood(22));
		this.shardkeeper.add(Event.BYSTANDER, stood(40));
		this.shardkeeper.add(Event.JOIN, stood(30));

		assertThat(lines(1)).containsExactly("| Ours, join: other shards' p99, beside 'quiet' | 30 | 22 | **missed** |",
				"| Ours, join: other shards' p99, beside 'a process starts' | 30 | 40 | kept |");
	}

	@ParameterizedTest
	@EnumSource(names = { "KILL", "FREEZE", "STALLED_JOIN" })
	void noEventIsExcusedFromThat(Event event) {
		this.shardkeeper.add(Event.QUIET, stood(22));
		this.shardkeeper.add(event, stood(500));

		assertThat(lines(1))
			.contains("| Ours, " + event.title() + ": other shards' p99, beside 'quiet' | 500 | 22 | **missed** |");
	}

	@Test
	void joinAfterAStallIsShorterThanKafkas() {
		this.shardkeeper.add(Event.STALLED_JOIN, moved(70));
		this.slowKafka.add(Event.STALLED_JOIN, moved(60, 60, 100));

		assertThat(lines(1)).containsExactly(
				"| Ours, join after a stall: p50, beside Kafka's shortest p50 | 70 | 60 | **missed** |",
				"| Ours, join after a stall: p99, beside Kafka's shortest p99 | 70 | 99.2 | kept |");
	}

	/** Without the table's head. */
	private List<String> lines(int crashFactor) {
		List<String> lines = new Goals(List.of(this.slowKafka, this.shardkeeper, this.quickKafka), crashFactor).lines();
		assertThat(lines.subList(0, 3)).containsExactly("", "| goal for Shardkeeper | ms seen | ms at most | |",
				"|---|---:|---:|---|");
		return lines.subList(3, lines.size());
	}

	private static ContenderResults results(String name, long leaseMillis) {
		return new ContenderResults(new Contender(name, leaseMillis, 500, false, (shards) -> {
			throw new UnsupportedOperationException();
		}));
	}

	/** A shard for each gap at the change of its owner. */
	private static Window moved(long... gapsMillis) {
		return window("b", gapsMillis);
	}

	/** A shard for each time without a record, of one that keeps its owner. */
	private static Window stood(long... millis) {
		return window("a", millis);
	}

	private static Window window(String then, long... millis) {
		List<List<Handled>> byShard = new ArrayList<>();
		long end = 10 + Arrays.stream(millis).max().orElseThrow();
		Arrays.stream(millis)
			.forEach((gap) -> byShard.add(List.of(handled("a", 1, 1, end - gap), handled(then, 2, 2, end))));
		return Window.of(byShard, 0, end * 1_000_000);
	}

	private static Handled handled(String instance, long number, long epoch, long millis) {
		return new Handled(instance, 0, number, epoch, 0, millis * 1_000_000);
	}

}
