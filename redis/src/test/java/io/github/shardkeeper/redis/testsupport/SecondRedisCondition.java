package io.github.shardkeeper.redis.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Checks whether a Redis 7 exists where the build's second run expects it. That run names
 * it by a system property; a Redis that the environment names is required, and fails
 * without it.
 */
final class SecondRedisCondition implements ExecutionCondition {

	private static final Pattern VERSION = Pattern.compile("v=(\\d+)\\.");

	@Override
	public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
		String binary = System.getProperty(EmbeddedRedis.BINARY);
		if (binary == null) {
			return ConditionEvaluationResult.enabled("no second Redis is asked for");
		}
		if (!Files.isExecutable(Path.of(binary))) {
			return ConditionEvaluationResult
				.disabled("There is no " + binary + "; install redis-server 7 to run this on it too");
		}
		String version = version(binary);
		Matcher major = VERSION.matcher(version);
		return (major.find() && Integer.parseInt(major.group(1)) >= 7) ? ConditionEvaluationResult.enabled(version)
				: ConditionEvaluationResult.disabled(binary + " is no Redis 7, but " + version);
	}

	private static String version(String binary) {
		try {
			Process process = new ProcessBuilder(binary, "--version").redirectErrorStream(true).start();
			return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
