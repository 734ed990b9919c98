package io.github.shardkeeper.worker;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;

/**
 * A reader that delivers what a test tells it to.
 */
public class TestReader implements ShardReader {

	private final Map<ShardId, RecordSink> sinks = new HashMap<>();

	private final List<String> calls = new ArrayList<>();

	private final List<String> committed = new ArrayList<>();

	private boolean failsNextStart;

	private boolean failsNextResume;

	private Runnable onStart = () -> {
	};

	/** Lets the next resume throw. */
	public void failNextResume() {
		this.failsNextResume = true;
	}

	/** Lets the next start throw. */
	public void failNextStart() {
		this.failsNextStart = true;
	}

	/** From now on this is done when a shard is started. */
	public void onStart(Runnable onStart) {
		this.onStart = onStart;
	}

	/** Delivers records with the numbers for offsets and payloads like {@code r1}. */
	public boolean deliver(ShardId shard, int first, int last) {
		List<SourceRecord> records = new ArrayList<>();
		for (int number = first; number <= last; number++) {
			records.add(record(number, "r" + number));
		}
		return this.sinks.get(shard).offer(records);
	}

	public boolean deliver(ShardId shard, int number, String payload) {
		return this.sinks.get(shard).offer(List.of(record(number, payload)));
	}

	/** Delivers a record with a key of its own. */
	public boolean deliver(ShardId shard, int number, String key, String payload) {
		return this.sinks.get(shard).offer(List.of(record(number, key, payload)));
	}

	/** No further record will ever come. */
	public void end(ShardId shard) {
		this.sinks.get(shard).ended();
	}

	/** Current sinks by shard. */
	public RecordSink sink(ShardId shard) {
		return this.sinks.get(shard);
	}

	public static SourceRecord record(int number, String payload) {
		return record(number, "key", payload);
	}

	public static SourceRecord record(int number, String key, String payload) {
		return new SourceRecord(new Offset(Integer.toString(number)), key, payload.getBytes(), Instant.EPOCH);
	}

	/** Calls, in order. */
	public List<String> calls() {
		return this.calls;
	}

	@Override
	public void start(ShardId shard, Offset after, RecordSink sink) {
		if (this.failsNextStart) {
			this.failsNextStart = false;
			throw new IllegalStateException("caused by the test");
		}
		this.onStart.run();
		this.sinks.put(shard, sink);
		this.calls.add("start after " + after);
	}

	@Override
	public void stop(ShardId shard) {
		this.sinks.remove(shard);
		this.calls.add("stop");
	}

	@Override
	public void resume(ShardId shard) {
		if (this.failsNextResume) {
			this.failsNextResume = false;
			throw new IllegalStateException("caused by the test");
		}
		this.calls.add("resume");
	}

	/** The commits that were reported, like {@code orders/1 at 3}. */
	public List<String> committed() {
		return this.committed;
	}

	@Override
	public void committed(ShardId shard, Offset offset) {
		this.committed.add(shard + " at " + offset);
	}

	@Override
	public boolean poll() {
		throw new UnsupportedOperationException("The test hands records over itself");
	}

	@Override
	public Map<ShardId, String> problems() {
		return Map.of();
	}

	@Override
	public void close() {
	}

}
