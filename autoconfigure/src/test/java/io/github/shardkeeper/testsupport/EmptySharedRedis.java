package io.github.shardkeeper.testsupport;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.util.ClassUtils;

import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Empties the Redis that all tests of a JVM share before each class: a topic of one class
 * has the same key as a topic of that name in another. JUnit finds it in this module.
 */
public final class EmptySharedRedis implements BeforeAllCallback {

	/** Without the client there are no tests on Redis. */
	private static final boolean HAS_CLIENT = ClassUtils.isPresent("io.lettuce.core.RedisClient", null);

	@Override
	public void beforeAll(ExtensionContext context) throws IOException {
		String binary = System.getProperty(EmbeddedRedis.BINARY);
		// Tests on a second Redis are skipped where there is none.
		if (!HAS_CLIENT || binary != null && !Files.isExecutable(Path.of(binary))) {
			return;
		}
		try (Socket redis = new Socket("127.0.0.1", EmbeddedRedis.shared().port())) {
			redis.getOutputStream().write("FLUSHALL\r\n".getBytes(StandardCharsets.US_ASCII));
			assertThat(new BufferedReader(new InputStreamReader(redis.getInputStream(), StandardCharsets.US_ASCII))
				.readLine()).isEqualTo("+OK");
		}
	}

}
