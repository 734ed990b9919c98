package io.github.shardkeeper.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Contenders take turns, and are compared round by round.
 */
class RoundsTests {

	private static final Contender OURS = () -> "ours";

	private static final Contender PEER = () -> "peer";

	private final List<String> turns = new ArrayList<>();

	@Test
	void everySecondRoundHasTheReverseOrderAndTheFirstOnesDoNotCount(@TempDir Path directory) throws Exception {
		Path file = directory.resolve("raw.csv");
		Rounds<Contender> rounds;
		try (RawFigures raw = new RawFigures(file)) {
			rounds = Rounds.run("a part", List.of(OURS, PEER), 1, 2, raw, (contender, round) -> {
				this.turns.add(contender.text() + round);
				return Map.of("figure", (contender == OURS) ? 10.0 * round : 5.0);
			});
			assertThat(file).content().hasLineCount(1 + 4).contains("\n\"a part\",\"ours\",2,\"figure\",20.000,");
		}

		assertThat(this.turns).containsExactly("ours0", "peer0", "peer1", "ours1", "ours2", "peer2");
		assertThat(rounds.of(OURS, "figure").values()).containsExactly(10.0, 20.0);
		assertThat(rounds.table()).endsWith("| ours | 15 (10-20) |", "| peer | 5 (5-5) |");
		assertThat(rounds.ratios("figure", List.of(PEER))).endsWith("| ours | 3 (2-4) |", "| peer | 1 (1-1) |");
	}

	@Test
	void withoutTheBaseThereAreNoRatios(@TempDir Path directory) throws Exception {
		try (RawFigures raw = new RawFigures(directory.resolve("raw.csv"))) {
			Rounds<Contender> rounds = Rounds.run("a part", List.of(OURS), 0, 1, raw,
					(contender, round) -> Map.of("figure", 1.0));

			assertThat(rounds.ratios("figure", List.of(PEER))).isEmpty();
			assertThat(rounds.of(PEER, "figure").values()).isEmpty();
		}
	}

}
