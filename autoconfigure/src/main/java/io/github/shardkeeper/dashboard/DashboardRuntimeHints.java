package io.github.shardkeeper.dashboard;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Hints for a native image to contain the files of the page. Immutable. */
public final class DashboardRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		List.of("html", "css", "js", "svg")
			.forEach((type) -> hints.resources()
				.registerPattern("io/github/shardkeeper/dashboard/*.%s".formatted(type)));
	}

}
