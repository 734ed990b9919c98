package io.github.shardkeeper.coordination.local;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.github.shardkeeper.coordination.StoreServer;

/**
 * A directory, and a clock that stands still until it is moved.
 */
final class LocalDataServer implements StoreServer {

	private final Path directory;

	private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");

	LocalDataServer(Path directory) {
		this.directory = directory;
	}

	/** Another store on the same files. */
	LocalCheckpointStore store() {
		return store(() -> this.now);
	}

	LocalCheckpointStore store(InstantSource clock) {
		return new LocalCheckpointStore(new ShardFiles(this.directory, "shop", "one", clock));
	}

	@Override
	public void advance(Duration duration) {
		this.now = this.now.plus(duration);
	}

	@Override
	public Object snapshot() {
		Map<Path, byte[]> contents = new TreeMap<>();
		files((file) -> contents.put(file, Files.readAllBytes(file)));
		return contents;
	}

	@Override
	public void loseWritesSince(Object snapshot) {
		empty();
		((Map<?, ?>) snapshot).forEach((file, bytes) -> {
			try {
				Files.write((Path) file, (byte[]) bytes);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		});
	}

	@Override
	public void empty() {
		files(Files::delete);
	}

	private void files(Action action) {
		try (Stream<Path> found = Files.walk(this.directory)) {
			for (Path file : found.filter(Files::isRegularFile).toList()) {
				action.run(file);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@FunctionalInterface
	private interface Action {

		void run(Path file) throws IOException;

	}

}
