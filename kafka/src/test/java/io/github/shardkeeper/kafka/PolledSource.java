package io.github.shardkeeper.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import org.apache.kafka.clients.consumer.ConsumerConfig;

import io.github.shardkeeper.kafka.client.KafkaClientListener;
import io.github.shardkeeper.kafka.client.KafkaSourceSettings;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.RecordingSink;

/**
 * A source with one reader, which a thread polls as at run time.
 */
public final class PolledSource implements AutoCloseable {

	private static final int RETRY_MILLIS = 50;

	private final KafkaShardSource source;

	private final ShardReader reader;

	private final Thread poller = new Thread(this::pollOn, "poller");

	private final List<RuntimeException> failures = new CopyOnWriteArrayList<>();

	private volatile boolean polling = true;

	private volatile int replies;

	PolledSource(KafkaSourceSettings settings) {
		this(settings, KafkaClientListener.NONE);
	}

	PolledSource(KafkaSourceSettings settings, KafkaClientListener listener) {
		this.source = new KafkaShardSource(settings, listener);
		this.reader = this.source.openReader();
		this.poller.setDaemon(true);
		this.poller.start();
	}

	/** With one topic, which is read again at short intervals. */
	public static PolledSource of(Map<String, Object> client, String topic, KafkaTopic mapping) {
		return new PolledSource(settings(client, Map.of(topic, mapping), null));
	}

	static KafkaSourceSettings settings(Map<String, Object> client, Map<String, KafkaTopic> topics,
			String mirrorGroup) {
		Map<String, Object> properties = new HashMap<>(client);
		properties.putIfAbsent(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 30);
		return new KafkaSourceSettings(topics, properties, client, client, Duration.ofMillis(200), mirrorGroup,
				Duration.ofMillis(500));
	}

	public KafkaShardSource source() {
		return this.source;
	}

	public ShardReader reader() {
		return this.reader;
	}

	public List<RuntimeException> failures() {
		return this.failures;
	}

	/** How many polls have returned that the source has answered. */
	int replies() {
		return this.replies;
	}

	public RecordingSink start(ShardId shard, String after) {
		RecordingSink sink = new RecordingSink(true);
		this.reader.start(shard, (after != null) ? new Offset(after) : null, sink);
		return sink;
	}

	/** Appends records with the payloads {@code r<first>} to {@code r<last>}. */
	List<Offset> append(ShardId shard, int first, int last) {
		List<NewRecord> records = new ArrayList<>();
		for (int number = first; number <= last; number++) {
			records.add(new NewRecord(shard, "key", ("r" + number).getBytes()));
		}
		return this.source.append(records).stream().map(CompletableFuture::join).toList();
	}

	public static List<String> payloads(List<SourceRecord> records) {
		return records.stream().map((each) -> new String(each.payload())).toList();
	}

	/** Returns the moves of a sink, without what their offsets are one of. */
	static List<String> moves(RecordingSink sink) {
		return sink.moves().stream().map((move) -> move.replaceFirst(":.*", "")).toList();
	}

	private void pollOn() {
		while (this.polling) {
			try {
				if (this.reader.poll()) {
					this.replies++;
				}
			}
			catch (InterruptedException ex) {
				return;
			}
			catch (RuntimeException ex) {
				this.failures.add(ex);
				try {
					Thread.sleep(RETRY_MILLIS);
				}
				catch (InterruptedException interrupted) {
					return;
				}
			}
		}
	}

	@Override
	public void close() {
		this.polling = false;
		this.poller.interrupt();
		try {
			this.poller.join(10_000);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		this.reader.close();
		this.source.close();
	}

}
