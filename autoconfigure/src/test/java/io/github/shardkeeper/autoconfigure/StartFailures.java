package io.github.shardkeeper.autoconfigure;

import java.util.List;

import org.springframework.boot.diagnostics.FailureAnalysis;

import io.github.shardkeeper.autoconfigure.properties.ShardkeeperFailureAnalyzer;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/** Assertions on failed starts of an application. */
final class StartFailures {

	private StartFailures() {
	}

	static void assertStartupFailed(Throwable failure, String names, String fix) {
		assertThat(failure).as("the start must fail").isNotNull();
		FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(failure);
		assertThat(analysis).as("analysis of %s", failure).isNotNull();
		assertThat(analysis.getCause()).isInstanceOf(ShardkeeperConfigurationException.class);
		assertThat(List.of(analysis.getDescription() + " " + analysis.getAction())).allSatisfy((text) -> {
			assertThat(text).contains(names);
			assertThat(analysis.getAction()).contains(fix);
		});
	}

}
