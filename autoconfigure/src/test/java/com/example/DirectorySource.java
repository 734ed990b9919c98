package com.example;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.NumericOffsets;
import io.github.shardkeeper.source.PollingShardReader;
import io.github.shardkeeper.source.ShardListPoller;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRecord;

/** Reads files {@code <root>/<topic>/<shard>}, each line as a record. */
public final class DirectorySource implements ShardSource {

	private static final int MAX_BYTES = 1 << 20;

	private final Path root;

	private final ShardListPoller shards;

	public DirectorySource(Path root, Set<String> topics) {
		this.root = root;
		this.shards = new ShardListPoller(topics, this::list, Duration.ofSeconds(1));
	}

	private TopicShards list(String topic) throws IOException {
		try (Stream<Path> files = Files.list(this.root.resolve(topic)).filter(Files::isRegularFile)) {
			return TopicShards.ids(files.map((file) -> file.getFileName().toString()).toList());
		}
	}

	@Override
	public Map<String, TopicShards> topics() {
		return this.shards.topics();
	}

	@Override
	public Map<String, String> problems() {
		return this.shards.problems();
	}

	@Override
	public Watch watch(Runnable onChange) {
		return this.shards.watch(onChange);
	}

	@Override
	public ShardReader openReader() {
		return new PollingShardReader(this::read, Duration.ofMillis(200));
	}

	private List<SourceRecord> read(ShardId shard, @Nullable Offset after) throws IOException {
		long skipped = (after != null) ? NumericOffsets.number(after) : -1;
		try (RandomAccessFile file = new RandomAccessFile(file(shard), "r")) {
			if (skipped >= file.length()) {
				throw new IllegalStateException("%s has %d bytes, but byte %d was read: restore the file, or seek"
					.formatted(shard, file.length(), skipped));
			}
			long begin = Math.max(0, skipped);
			byte[] bytes = new byte[(int) Math.min(MAX_BYTES, file.length() - begin)];
			file.seek(begin);
			file.readFully(bytes);
			String text = new String(bytes, StandardCharsets.ISO_8859_1);
			Instant time = Instant.ofEpochMilli(file(shard).lastModified());
			List<SourceRecord> records = new ArrayList<>();
			int line = (skipped < 0) ? 0 : text.indexOf('\n') + 1;
			for (int end = text.indexOf('\n', line); end >= 0; end = text.indexOf('\n', line)) {
				byte[] payload = Arrays.copyOfRange(bytes, line, end);
				records.add(new SourceRecord(NumericOffsets.of(begin + line), null, payload, time));
				line = end + 1;
			}
			if (records.isEmpty() && bytes.length == MAX_BYTES) {
				throw new IllegalStateException("%s has too long a line after byte %d".formatted(shard, begin));
			}
			return records;
		}
	}

	@Override
	public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
		return NumericOffsets.before(position, shards, this::lastByte,
				(shard, time) -> (file(shard).lastModified() < time.toEpochMilli()) ? lastByte(shard) : -1);
	}

	private long lastByte(ShardId shard) {
		return file(shard).length() - 1;
	}

	private File file(ShardId shard) {
		return this.root.resolve(shard.toString()).toFile();
	}

	@Override
	public void close() {
		this.shards.close();
	}

}
