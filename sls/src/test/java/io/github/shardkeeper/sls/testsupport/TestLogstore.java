package io.github.shardkeeper.sls.testsupport;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.sls.testsupport.SlsTestServer.Refusal;

/** A logstore: its shards and consumer groups. Thread-safe. */
final class TestLogstore {

	private static final BigInteger KEYS = BigInteger.ONE.shiftLeft(128);

	private static final BigInteger LAST = KEYS.subtract(BigInteger.ONE);

	/** By name the checkpoints by shard. */
	final Map<String, Map<Integer, Checkpoint>> consumerGroups = new ConcurrentHashMap<>();

	private final Map<Integer, TestShard> shards = new TreeMap<>();

	/** Creates shards that divide the keys evenly. */
	TestLogstore(int count) {
		for (int id = 0; id < count; id++) {
			this.shards.put(id, new TestShard(id, key(id, count), key(id + 1, count)));
		}
	}

	private static BigInteger key(int number, int count) {
		return (number == count) ? LAST : KEYS.multiply(BigInteger.valueOf(number)).divide(BigInteger.valueOf(count));
	}

	synchronized TestShard shard(int id) {
		TestShard shard = this.shards.get(id);
		if (shard == null) {
			throw new Refusal(404, "ShardNotExist", "shard " + id + " does not exist");
		}
		return shard;
	}

	/** The last key belongs to the last shard, although its end is excluded. */
	synchronized TestShard writable(@Nullable String hashKey) {
		BigInteger key = (hashKey != null) ? new BigInteger(hashKey, 16) : BigInteger.ZERO;
		return this.shards.values()
			.stream()
			.filter((shard) -> !shard.isReadOnly() && shard.begin.compareTo(key) <= 0
					&& (shard.end.compareTo(key) > 0 || shard.end.equals(LAST)))
			.findFirst()
			.orElseThrow(() -> new Refusal(500, "InternalServerError", "no shard for the key " + hashKey));
	}

	synchronized List<Integer> split(int id, @Nullable String hashKey) {
		TestShard parent = shard(id);
		requireWritable(parent);
		BigInteger middle = (hashKey != null) ? new BigInteger(hashKey, 16)
				: parent.begin.add(parent.end).shiftRight(1);
		parent.close();
		int next = nextId();
		this.shards.put(next, new TestShard(next, parent.begin, middle));
		this.shards.put(next + 1, new TestShard(next + 1, middle, parent.end));
		return List.of(next, next + 1);
	}

	synchronized int merge(int id) {
		TestShard left = shard(id);
		TestShard right = this.shards.values()
			.stream()
			.filter((shard) -> !shard.isReadOnly() && shard.begin.equals(left.end))
			.findFirst()
			.orElseThrow(() -> new Refusal(400, "ParameterInvalid", "no shard behind " + id));
		requireWritable(left);
		left.close();
		right.close();
		int next = nextId();
		this.shards.put(next, new TestShard(next, left.begin, right.end));
		return next;
	}

	private static void requireWritable(TestShard shard) {
		if (shard.isReadOnly()) {
			throw new Refusal(400, "ParameterInvalid", "shard " + shard.id + " is readonly");
		}
	}

	/** Adds a shard with the last key of shard 0 as its only key. */
	synchronized void add(int id) {
		TestShard first = shard(0);
		first.end = first.end.subtract(BigInteger.ONE);
		this.shards.put(id, new TestShard(id, first.end, first.end.add(BigInteger.ONE)));
	}

	synchronized void remove(int id) {
		this.shards.remove(id);
	}

	private int nextId() {
		return this.shards.keySet().stream().mapToInt(Integer::intValue).max().orElse(-1) + 1;
	}

	synchronized List<Map<String, Object>> list() {
		List<Map<String, Object>> listed = new ArrayList<>();
		this.shards.values().forEach((shard) -> {
			Map<String, Object> entry = new LinkedHashMap<>();
			entry.put("shardID", shard.id);
			entry.put("status", shard.isReadOnly() ? "readonly" : "readwrite");
			entry.put("inclusiveBeginKey", hex(shard.begin));
			entry.put("exclusiveEndKey", hex(shard.end));
			entry.put("createTime", shard.createTime);
			listed.add(entry);
		});
		return listed;
	}

	private static String hex(BigInteger key) {
		return String.format(Locale.ROOT, "%032x", key);
	}

	/**
	 * Checkpoint of a consumer group.
	 *
	 * @param cursor the cursor, empty before the first one
	 * @param updateMicros when it was written
	 */
	record Checkpoint(String cursor, long updateMicros) {

	}

}
