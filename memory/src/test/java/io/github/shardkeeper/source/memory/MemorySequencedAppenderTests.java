package io.github.shardkeeper.source.memory;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.SequencedAppenderContract;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;

class MemorySequencedAppenderTests extends SequencedAppenderContract {

	private final MemoryStreamSource source = new MemoryStreamSource(Map.of("invoices", 2));

	@Override
	protected SequencedAppender appender() {
		return this.source;
	}

	@Override
	protected List<String> records(ShardId shard) {
		List<String> payloads = new ArrayList<>();
		try (ShardReader reader = this.source.openReader()) {
			reader.start(shard, null, new ShardReader.RecordSink() {

				@Override
				public boolean offer(List<SourceRecord> records) {
					records.forEach((record) -> payloads.add(new String(record.payload(), StandardCharsets.UTF_8)));
					return true;
				}

				@Override
				public void ended() {
					throw new IllegalStateException("The shard is open");
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
