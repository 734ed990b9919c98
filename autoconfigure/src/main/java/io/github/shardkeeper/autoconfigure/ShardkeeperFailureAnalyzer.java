package io.github.shardkeeper.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Reports what is wrong with the configuration and how to fix it.
 */
class ShardkeeperFailureAnalyzer extends AbstractFailureAnalyzer<ShardkeeperConfigurationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, ShardkeeperConfigurationException cause) {
		return new FailureAnalysis(cause.getDescription(), cause.getAction(), cause);
	}

}
