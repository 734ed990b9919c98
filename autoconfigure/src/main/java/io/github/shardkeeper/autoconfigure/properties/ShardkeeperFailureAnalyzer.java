package io.github.shardkeeper.autoconfigure.properties;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/** Reports an invalid configuration with the action that fixes it. */
public class ShardkeeperFailureAnalyzer extends AbstractFailureAnalyzer<ShardkeeperConfigurationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, ShardkeeperConfigurationException cause) {
		return new FailureAnalysis(cause.getDescription(), cause.getAction(), cause);
	}

}
