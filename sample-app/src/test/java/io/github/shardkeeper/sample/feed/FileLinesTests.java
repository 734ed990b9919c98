package io.github.shardkeeper.sample.feed;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.sample.AccessLine;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class FileLinesTests {

	@TempDir
	private Path directory;

	@Test
	void readsInChunksToTheEnd() throws IOException {
		FileLines lines = lines("a\nb\nc\n");
		assertThat(lines.read(0, 2)).containsExactly(new AccessLine(0, "a"), new AccessLine(1, "b"));
		assertThat(lines.read(2, 2)).containsExactly(new AccessLine(2, "c"));
		assertThat(lines.read(3, 2)).isEmpty();
	}

	@Test
	void beginsAnywhere() throws IOException {
		FileLines lines = lines("a\nb\nc");
		assertThat(lines.read(2, 2)).containsExactly(new AccessLine(2, "c"));
		assertThat(lines.read(1, 1)).containsExactly(new AccessLine(1, "b"));
		assertThat(lines.read(7, 1)).isEmpty();
	}

	@Test
	void linesAreThoseOfTheShell() throws IOException {
		assertThat(lines("a\rb\n\nlast").read(0, 9)).extracting(AccessLine::text).containsExactly("a\rb", "", "last");
	}

	@Test
	void everyByteCanBeRead() throws IOException {
		Path file = this.directory.resolve("access.log");
		Files.write(file, new byte[] { (byte) 0xff, ' ', (byte) 0x80, '\n' });
		assertThat(new FileLines(file.toString()).read(0, 1)).hasSize(1);
	}

	@Test
	void sameFileHasSameName() throws IOException {
		String name = lines("a\n").name();
		assertThat(new FileLines(this.directory.resolve("./access.log").toString()).name()).isEqualTo(name);
	}

	@Test
	void missingFileIsNamedInFull() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> new FileLines("no.log"))
			.withMessageContaining("'sample.file' is 'no.log'")
			.withMessageContaining(Path.of("no.log").toAbsolutePath().toString());
	}

	private FileLines lines(String text) throws IOException {
		Path file = Files.writeString(this.directory.resolve("access.log"), text, StandardCharsets.UTF_8);
		return new FileLines(file.toString());
	}

}
