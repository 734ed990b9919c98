package io.github.shardkeeper.benchmarks.moves;

import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.util.FileSystemUtils;

import io.github.shardkeeper.benchmarks.moves.group.Cluster;
import io.github.shardkeeper.benchmarks.moves.group.GroupProtocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * A failed run reports its cause.
 */
class FailedRunTests {

	@Test
	void logOfAnEndedInstanceIsKept() throws Exception {
		GroupProtocol ending = new GroupProtocol("Ending", 0, 500, false, (shards) -> new Ending());

		IllegalStateException failure = catchThrowableOfType(IllegalStateException.class,
				() -> Turns.run(List.of(ending), 1, 1, (turn, group, results) -> {
					group.start(1);
					group.awaitBalance();
				}, (seen) -> {
				}));

		assertThat(failure).hasMessageStartingWith("instance-1 has ended with 1, its log is instance-1.log: see /");
		Path kept = Path.of(failure.getMessage().substring(failure.getMessage().indexOf("see ") + "see ".length()));
		assertThat(kept.resolve("instance-1.log")).content().contains("no.such.Main");
		FileSystemUtils.deleteRecursively(kept);
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
		public void close() {
		}

	}

}
