package io.github.shardkeeper.simulation;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.testsupport.SilentLogs;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A schedule depends on its seed alone: not on identity hash codes, and not on the order
 * in which a JVM of its own choice iterates over immutable sets and maps. Otherwise a
 * failure that one JVM has found could not be replayed by another.
 */
@Tag("proof")
class ReplayTests {

	private static final int SCHEDULES = 100;

	private SilentLogs logs;

	@BeforeEach
	void silence() {
		this.logs = SilentLogs.begin();
	}

	@AfterEach
	void close() {
		this.logs.close();
	}

	@Test
	void resultsAreTheSameInAnotherJvm() throws Exception {
		// All objects have the same identity hash code there. The order of immutable
		// sets changes with every JVM by itself.
		Process other = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2", "-XX:TieredStopAtLevel=1", "-cp",
				System.getProperty("java.class.path"), OutcomePrinter.class.getName(), "1", Integer.toString(SCHEDULES))
			.redirectError(ProcessBuilder.Redirect.INHERIT)
			.start();
		try (SimulatedGroup.Host host = new SimulatedGroup.Host()) {
			List<String> theirs = lines(other);
			assertThat(theirs).hasSize(SCHEDULES);
			for (int i = 0; i < SCHEDULES; i++) {
				assertThat(theirs.get(i)).isEqualTo(OutcomePrinter.line(i + 1, host));
			}
		}
		finally {
			other.destroyForcibly().onExit().join();
		}
	}

	private static List<String> lines(Process process) throws IOException {
		try (BufferedReader output = process.inputReader()) {
			return output.lines().toList();
		}
	}

}
