package io.github.shardkeeper.benchmarks.moves;

import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.util.FileSystemUtils;

import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.Samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * A failed run reports its cause.
 */
class FailedRunTests {

	@Test
	void logOfAnEndedInstanceIsKept() throws Exception {
		Contender ending = new Contender("Ending", 0, 500, false, (shards) -> new Ending());

		IllegalStateException failure = catchThrowableOfType(IllegalStateException.class,
				() -> new Rotation(1, 1).run(List.of(ending), (turn, group, results) -> {
					group.start(1);
					group.awaitBalance();
				}, (seen) -> {
				}));

		assertThat(failure).hasMessageStartingWith("instance-1 has ended with 1, its log is instance-1.log: see /");
		Path kept = Path.of(failure.getMessage().substring(failure.getMessage().indexOf("see ") + "see ".length()));
		assertThat(kept.resolve("instance-1.log")).content().contains("no.such.Main");
		FileSystemUtils.deleteRecursively(kept);
	}

	@Test
	void figuresAreInTheFileAsSoonAsTheyAreKnown(@TempDir Path directory) throws Exception {
		Path file = directory.resolve("figures.csv");

		try (RawFigures raw = new RawFigures(file, List.of("figure", "number", "value"))) {
			Samples samples = new Samples();
			samples.add(1.5);
			samples.add(2);
			RawFigures.add("a time", samples, raw);

			assertThat(file).content()
				.isEqualToNormalizingNewlines("figure,number,value\n\"a time\",1,1.500\n\"a time\",2,2.000\n");
		}
	}

	/** Its instances end before they have done anything. */
	private static final class Ending implements Cluster {

		@Override
		public void send(byte[] payload) {
		}

		@Override
		public List<String> instance(String group, String name, Path trace, int release) {
			return List.of("no.such.Main");
		}

		@Override
		public String version() {
			return "none";
		}

		@Override
		public void close() {
		}

	}

}
