package io.github.shardkeeper.handler;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimers;

/**
 * Hints for a native image to have the proxies of {@link SharedArguments}, and to find
 * Reactor as {@link LateResult} does.
 */
final class SharedArgumentsHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.proxies()
			.registerJdkProxy(ShardState.class)
			.registerJdkProxy(ShardOutput.class)
			.registerJdkProxy(ShardTimers.class);
		hints.reflection().registerTypeIfPresent(classLoader, LateResult.MONO);
	}

}
