package io.github.shardkeeper.testsupport;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.source.memory.MemoryStreamSource;

/**
 * Reads what a shard in memory contains.
 */
public final class StreamPayloads {

	private StreamPayloads() {
	}

	/** Returns the payloads of the records of a shard, as texts. */
	public static List<String> of(MemoryStreamSource source, ShardId shard) {
		List<String> payloads = new ArrayList<>();
		if (source.lag(shard, new Offset("0")).records() == 0) {
			return payloads;
		}
		try (ShardReader reader = source.openReader()) {
			reader.start(shard, null, new ShardReader.RecordSink() {

				@Override
				public boolean offer(List<SourceRecord> records) {
					records.forEach((record) -> payloads.add(new String(record.payload(), StandardCharsets.UTF_8)));
					return true;
				}

				@Override
				public void ended() {
					// Is never closed.
				}

			});
			reader.poll();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		return payloads;
	}

}
