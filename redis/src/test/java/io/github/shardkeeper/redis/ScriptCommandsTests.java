package io.github.shardkeeper.redis;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.ScriptOutputType;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Redis tells of a command that it refuses inside a script nothing but the line. So each
 * line says which one it calls.
 */
class ScriptCommandsTests {

	private static final Pattern CALL = Pattern.compile("redis\\.p?call");

	static Stream<Resource> scripts() throws IOException {
		return Arrays.stream(
				new PathMatchingResourcePatternResolver().getResources("classpath*:io/github/shardkeeper/**/*.lua"));
	}

	@ParameterizedTest
	@MethodSource("scripts")
	void everyCallNamesItsCommand(Resource file) throws IOException {
		List<String> lines = file.getContentAsString(StandardCharsets.UTF_8).lines().toList();
		LuaScript script = new LuaScript("test.lua", String.join("\n", lines), ScriptOutputType.VALUE);

		assertThat(IntStream.rangeClosed(1, lines.size())
			.filter((line) -> CALL.matcher(lines.get(line - 1).replaceFirst("^\\s*--.*", "")).find())
			.filter((line) -> script.commandAt(line) == null)
			.mapToObj((line) -> line + ": " + lines.get(line - 1))).isEmpty();
	}

}
