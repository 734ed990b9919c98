package io.github.shardkeeper.coordination.local;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.memory.MemoryCheckpointStore;
import io.github.shardkeeper.coordination.memory.ShardContents;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * The files of one instance: for each shard one with all that is known of it, which is
 * replaced as a whole, and for each topic one that says since when it is consumed:
 *
 * <pre>
 * &lt;directory&gt;/&lt;group&gt;/&lt;instance&gt;/&lt;topic&gt;~&lt;shard&gt;.json
 * &lt;directory&gt;/&lt;group&gt;/&lt;instance&gt;/&lt;topic&gt;.since
 * </pre>
 *
 * A capital letter is written with a plus sign in front of it, because some file systems
 * do not tell it from a small one. What is done with a shard is done under a lock on the
 * directory, so that also two processes under the same instance id see whole steps only.
 * Thread-safe.
 */
final class ShardFiles {

	private static final Logger logger = LoggerFactory.getLogger(ShardFiles.class);

	/** The lock on a file does not hold between two users in one JVM. */
	private static final Object IN_THIS_JVM = new Object();

	private final Path directory;

	private final InstantSource clock;

	/** Told already. */
	private final Set<Path> damaged = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the directory if it is not there.
	 * @throws ShardkeeperConfigurationException when that cannot be done
	 */
	ShardFiles(Path parent, String group, String instance, InstantSource clock) {
		this.directory = parent.resolve(fileName(group)).resolve(fileName(instance)).toAbsolutePath();
		this.clock = clock;
		try {
			Files.createDirectories(this.directory);
			locked(() -> "writable");
		}
		catch (IOException | SecurityException ex) {
			throw new ShardkeeperConfigurationException(
					"The directory '%s' below 'shardkeeper.broadcast.directory' cannot be written: %s."
						.formatted(this.directory, ex),
					"Set 'shardkeeper.broadcast.directory' to a directory of this instance that outlives a restart, "
							+ "or 'shardkeeper.broadcast.offsets' to 'redis'.",
					ex);
		}
	}

	private static String fileName(String name) {
		return name.replaceAll("[A-Z]", "+$0");
	}

	InstantSource clock() {
		return this.clock;
	}

	Path of(ShardId shard) {
		return this.directory.resolve(fileName(shard.topic()) + "~" + fileName(shard.id()) + ".json");
	}

	/**
	 * Does one step with a shard: on a store that has nothing but this shard, as the file
	 * has it. What the step changes is in the file when this returns.
	 * @throws StoreUnavailableException when the file is damaged, or cannot be read or
	 * written; nothing has changed then
	 */
	<T> T with(ShardId shard, Function<MemoryCheckpointStore, T> step) {
		Path file = of(shard);
		return exclusively(() -> {
			MemoryCheckpointStore store = new MemoryCheckpointStore(this.clock);
			ShardContents before = read(file, shard);
			if (before != null) {
				store.put(shard, before);
			}
			T result = step.apply(store);
			ShardContents after = store.contents(shard);
			if (after != null && !after.equals(before)) {
				replace(file, ShardFileFormat.write(after));
			}
			return result;
		});
	}

	private @Nullable ShardContents read(Path file, ShardId shard) throws IOException {
		byte[] bytes = bytes(file);
		if (bytes == null) {
			return null;
		}
		try {
			ShardContents contents = ShardFileFormat.read(bytes);
			this.damaged.remove(file);
			return contents;
		}
		catch (ShardFileFormat.DamagedFileException ex) {
			String begin = "where 'shardkeeper.topics.%s.start' says".formatted(shard.topic());
			throw damaged(file, "put back a copy of it, or delete it: %s then begins anew %s, with an empty state"
				.formatted(shard, begin), ex);
		}
	}

	private StoreUnavailableException damaged(Path file, String instead, Exception cause) {
		String problem = "The file '%s' is damaged (%s). Look for the reason, then %s".formatted(file,
				cause.getMessage(), instead);
		if (this.damaged.add(file)) {
			logger.error("{}", problem);
		}
		return new StoreUnavailableException(problem, cause);
	}

	/**
	 * Since when a topic is consumed.
	 * @param known what was answered before, in milliseconds, should the file be gone
	 * @return milliseconds, the same ever after
	 */
	long since(String topic, long known) {
		Path file = this.directory.resolve(fileName(topic) + ".since");
		return exclusively(() -> {
			byte[] bytes = bytes(file);
			if (bytes == null) {
				return keep(file, Math.min(known, this.clock.millis()));
			}
			try {
				long kept = Long.parseLong(new String(bytes, StandardCharsets.US_ASCII).strip());
				return (known < kept) ? keep(file, known) : kept;
			}
			catch (NumberFormatException ex) {
				throw damaged(file, "write into it the milliseconds since 1970 from which on records are wanted, "
						+ "or delete it for from now on", ex);
			}
		});
	}

	private static long keep(Path file, long millis) throws IOException {
		replace(file, Long.toString(millis).getBytes(StandardCharsets.US_ASCII));
		return millis;
	}

	private static byte @Nullable [] bytes(Path file) throws IOException {
		try {
			return Files.readAllBytes(file);
		}
		catch (NoSuchFileException ex) {
			return null;
		}
	}

	/** A reader finds the old bytes or the new ones, also after a loss of power. */
	private static void replace(Path file, byte[] bytes) throws IOException {
		Path written = file.resolveSibling(file.getFileName() + ".new");
		try (FileChannel channel = FileChannel.open(written, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
				StandardOpenOption.TRUNCATE_EXISTING)) {
			ByteBuffer buffer = ByteBuffer.wrap(bytes);
			while (buffer.hasRemaining()) {
				channel.write(buffer);
			}
			channel.force(true);
		}
		Files.move(written, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
	}

	private <T> T exclusively(Work<T> work) {
		try {
			return locked(work);
		}
		catch (IOException ex) {
			throw new StoreUnavailableException(
					"The files in '%s' cannot be read or written: %s".formatted(this.directory, ex), ex);
		}
	}

	private <T> T locked(Work<T> work) throws IOException {
		synchronized (IN_THIS_JVM) {
			try (FileChannel channel = FileChannel.open(this.directory.resolve("lock"), StandardOpenOption.CREATE,
					StandardOpenOption.WRITE); FileLock lock = channel.lock()) {
				Objects.requireNonNull(lock);
				return work.run();
			}
		}
	}

	/** Something that is done under the lock. */
	@FunctionalInterface
	private interface Work<T> {

		T run() throws IOException;

	}

}
