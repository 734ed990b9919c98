package com.example;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.RecordingSink;
import io.github.shardkeeper.test.ShardSourceContract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The source of the guide keeps the contract, and survives what happens to files.
 */
class DirectorySourceTests extends ShardSourceContract {

	private static final ShardId OTHER = ShardId.of("orders", 1);

	@TempDir
	private Path root;

	@Override
	protected ShardSource createSource(Map<String, Integer> topics) {
		topics.forEach((topic, count) -> TopicShards.count(count).forEach(topic, (shard) -> write(shard, "")));
		return new DirectorySource(this.root, topics.keySet());
	}

	@Override
	protected Set<Ability> abilities() {
		return Set.of();
	}

	@Override
	protected ShardAppender appender(ShardSource source) {
		return this::appendLines;
	}

	private List<CompletableFuture<Offset>> appendLines(List<NewRecord> records) {
		List<CompletableFuture<Offset>> offsets = new ArrayList<>();
		for (NewRecord added : records) {
			offsets.add(CompletableFuture.completedFuture(write(added.shard(), new String(added.payload()) + '\n')));
		}
		return offsets;
	}

	private Path file(ShardId shard) {
		return this.root.resolve(shard.toString());
	}

	/** Returns the position of the first byte. */
	private Offset write(ShardId shard, String text) {
		try {
			Path file = file(shard);
			Files.createDirectories(file.getParent());
			long before = Files.exists(file) ? Files.size(file) : 0;
			Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
			return new Offset(Long.toString(before));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Test
	void halfWrittenLineIsReadOnceItEnds() {
		write(SHARD, "whole\nha");
		RecordingSink sink = start(SHARD, null);
		assertThat(payloads(sink.await(1))).containsExactly("whole");
		write(SHARD, "lf\n");

		assertThat(payloads(sink.await(1))).containsExactly("half");
	}

	@Test
	void emptyLinesAreRecords() {
		write(SHARD, "\n\nr3\n");

		List<SourceRecord> records = start(SHARD, null).await(3);
		assertThat(payloads(records)).containsExactly("", "", "r3");
		assertThat(payloads(start(SHARD, records.get(1).offset()).await(1))).containsExactly("r3");
	}

	@Test
	void bytesThatAreNotTextAreDeliveredUnchanged() throws IOException {
		byte[] line = { (byte) 0xff, 0, (byte) 0xc3, 0x28, '\r' };
		ByteArrayOutputStream file = new ByteArrayOutputStream();
		file.write(line);
		file.write('\n');
		Files.write(file(SHARD), file.toByteArray());

		assertThat(start(SHARD, null).await(1).get(0).payload()).isEqualTo(line);
	}

	@Test
	void longFileIsReadInBlocks() {
		String line = "x".repeat(100_000) + '\n';
		write(SHARD, line.repeat(25));

		assertThat(start(SHARD, null).await(25)).extracting(SourceRecord::size).containsOnly(100_000L);
	}

	@Test
	void lineThatIsTooLongIsAProblem() {
		write(SHARD, "r1\n" + "x".repeat(1 << 20));
		assertThat(payloads(start(SHARD, null).await(1))).containsExactly("r1");

		awaitProblem("orders/0 has too long a line after byte 0");
	}

	@Test
	void shortenedFileIsAProblemUntilItIsRestored() throws IOException {
		List<Offset> offsets = append(SHARD, 1, 100);
		Files.write(file(SHARD), new byte[0]);
		RecordingSink sink = start(SHARD, offsets.get(98));

		awaitProblem(
				"orders/0 has 0 bytes, but byte %s was read: restore the file, or seek".formatted(offsets.get(98)));
		awaitDeliveryOf(OTHER);
		append(SHARD, 1, 100);
		assertThat(payloads(sink.await(1))).containsExactly("r100");
		assertThat(problems()).isEmpty();
	}

	@Test
	void deletedFileIsAProblemUntilItIsBack() throws IOException {
		append(SHARD, 1, 2);
		RecordingSink sink = start(SHARD, null);
		sink.await(2);
		Path moved = this.root.resolve("moved");
		Files.move(file(SHARD), moved);

		awaitProblem(file(SHARD).toString());
		awaitDeliveryOf(OTHER);
		Files.move(moved, file(SHARD));
		append(SHARD, 3, 3);
		assertThat(payloads(sink.await(1))).containsExactly("r3");
	}

	@Test
	void newFileIsANewShard() throws InterruptedException {
		CountDownLatch changed = new CountDownLatch(1);
		ShardSource.Watch watch = source().watch(changed::countDown);
		write(new ShardId("orders", "berlin"), "");

		assertThat(changed.await(10, TimeUnit.SECONDS)).isTrue();
		assertThat(source().topics().get("orders").contains("berlin")).isTrue();
		watch.close();
	}

	@Test
	void missingDirectoryIsAProblemUntilItIsThere() {
		DirectorySource source = new DirectorySource(this.root, Set.of("late"));
		assertThat(source.topics()).containsEntry("late", TopicShards.NONE);
		assertThat(source.problems().get("late")).contains("NoSuchFileException: " + this.root.resolve("late"));
		ShardSource.Watch watch = source.watch(() -> {
		});
		write(ShardId.of("late", 0), "");

		await().untilAsserted(() -> assertThat(source.topics()).containsEntry("late", TopicShards.count(1)));
		assertThat(source.problems()).isEmpty();
		watch.close();
		source.close();
	}

	@Test
	void fileWhoseNameIsNotAShardIdIsAProblemOfItsTopic() throws IOException {
		Files.createDirectories(this.root.resolve("late"));
		Files.createFile(this.root.resolve("late/.hidden"));
		DirectorySource source = new DirectorySource(this.root, Set.of("late"));

		assertThat(source.problems().get("late")).contains("Not a valid shard id: '.hidden'");
		source.close();
	}

	/** Shows that polls have continued. */
	private void awaitDeliveryOf(ShardId shard) {
		append(shard, 1, 1);
		start(shard, null).await(1);
	}

	private void awaitProblem(String text) {
		await().untilAsserted(() -> assertThat(problems().get(SHARD)).contains(text));
	}

}
