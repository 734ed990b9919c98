package io.github.shardkeeper.benchmarks.moves;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.moves.Window.Shard;

import static org.assertj.core.api.Assertions.assertThat;

class UsersGoalsTests {

	private final ContenderResults with = new ContenderResults(Contender.of(Contender.USERS).get(0));

	private final ContenderResults without = new ContenderResults(Contender.of(Contender.USERS).get(1));

	@Test
	void coldJoinsAreJudgedBesideWarmOnesAndOtherShardsBesideAStart() {
		add(this.with, Event.WARM_JOIN, moved(20), moved(40));
		add(this.with, Event.JOIN, moved(41), other(31));
		add(this.with, Event.BYSTANDER, other(25));

		assertThat(new UsersGoals(List.of(this.with)).lines()).contains(
				"| Users' application, join of a warm process: p50 | 30 | 25 | **missed** |",
				"| Users' application, join of a warm process: p99 | 39.8 | 35 | **missed** |",
				"| Users' application, join: p50, beside 1.3 of a warm process' | 41 | 39 | **missed** |",
				"| Users' application, join: other shards' p99, beside 1.2 of 'a process starts' | 31 | 30 | **missed** |");
	}

	@Test
	void rehearsalIsJudgedByWhatItTakesOff() {
		add(this.with, Event.JOIN, moved(40));
		add(this.without, Event.JOIN, moved(49.5));

		assertThat(new UsersGoals(List.of(this.with, this.without)).lines())
			.contains("| join: p50 that the rehearsal takes off | 9.50 | 10 | **missed** |");
	}

	private static void add(ContenderResults results, Event event, Shard... shards) {
		results.add(event, new Window(0, 0, List.of(shards)));
	}

	private static Shard moved(double millis) {
		return new Shard(1, millis, millis, millis, 0, false);
	}

	private static Shard other(double millis) {
		return new Shard(0, 0, millis, 0, 0, false);
	}

}
