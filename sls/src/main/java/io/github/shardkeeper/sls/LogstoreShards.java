package io.github.shardkeeper.sls;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

import com.aliyun.openservices.log.common.Shard;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * Shards of a logstore as they were listed. Immutable.
 * <p>
 * The service names no parents. They derive from key ranges and creation times: at any
 * time the shards that can be written to divide all keys among them, so an older
 * read-only shard whose range overlaps that of a younger one is its ancestor, and its
 * parent if no shard in between has had the same keys. A parent that is not listed any
 * more has expired; its children do not wait for it.
 * <p>
 * Ids below the highest one that are not listed belong to expired shards. They are among
 * the {@link #topicShards()}, without parents, so that numbers keep their meaning; their
 * reader reports their end at once.
 */
final class LogstoreShards {

	private static final BigInteger KEYS = BigInteger.ONE.shiftLeft(128);

	private final Map<Integer, Range> ranges;

	private final TopicShards topicShards;

	private final int highest;

	private LogstoreShards(Map<Integer, Range> ranges) {
		this.ranges = ranges;
		this.highest = ranges.keySet().stream().mapToInt(Integer::intValue).max().orElse(-1);
		this.topicShards = TopicShards.of(parents());
	}

	static LogstoreShards of(List<Shard> listed) {
		Map<Integer, Range> ranges = new TreeMap<>();
		for (Shard shard : listed) {
			ranges.put(shard.getShardId(),
					new Range(shard.getShardId(), key(shard.getInclusiveBeginKey(), BigInteger.ZERO),
							end(shard.getExclusiveEndKey()), !"readonly".equalsIgnoreCase(shard.getStatus()),
							shard.getCreateTime()));
		}
		return new LogstoreShards(ranges);
	}

	private static BigInteger key(@Nullable String hex, BigInteger otherwise) {
		return (hex != null && hex.matches("[0-9A-Fa-f]{1,32}")) ? new BigInteger(hex, 16) : otherwise;
	}

	/** The last shard ends with the highest key, which belongs to it. */
	private static BigInteger end(@Nullable String hex) {
		BigInteger end = key(hex, KEYS);
		return end.equals(KEYS.subtract(BigInteger.ONE)) ? KEYS : end;
	}

	private Map<String, TreeSet<String>> parents() {
		List<Range> byAge = new ArrayList<>(this.ranges.values());
		byAge.sort(Comparator.comparingInt(Range::createTime).thenComparingInt(Range::id));
		Map<String, TreeSet<String>> parents = new HashMap<>();
		for (int id = 0; id <= this.highest; id++) {
			parents.put(Integer.toString(id), new TreeSet<>());
		}
		for (int child = 0; child < byAge.size(); child++) {
			for (int older = child - 1; older >= 0; older--) {
				if (isParent(byAge, older, child)) {
					parents.getOrDefault(Integer.toString(byAge.get(child).id), new TreeSet<>())
						.add(Integer.toString(byAge.get(older).id));
				}
			}
		}
		return parents;
	}

	private static boolean isParent(List<Range> byAge, int older, int child) {
		Range both = byAge.get(older).and(byAge.get(child));
		if (byAge.get(older).writable || both.isEmpty()) {
			return false;
		}
		return byAge.subList(older + 1, child).stream().allMatch((between) -> between.and(both).isEmpty());
	}

	/** Returns the shards with their parents. */
	TopicShards topicShards() {
		return this.topicShards;
	}

	/** Returns the ids of the shards that can be written to. */
	Set<String> writable() {
		return this.ranges.values()
			.stream()
			.filter(Range::writable)
			.map((range) -> Integer.toString(range.id))
			.collect(Collectors.toSet());
	}

	boolean isReadOnly(ShardId shard) {
		Range range = this.ranges.get(ShardId.number(shard.id()));
		return range != null && !range.writable;
	}

	/** Returns whether a shard has existed, but does not any more. */
	boolean isGone(ShardId shard) {
		int number = ShardId.number(shard.id());
		return number >= 0 && number < this.highest && !this.ranges.containsKey(number);
	}

	/** Returns whether a shard exists, or has existed. */
	boolean hasExisted(ShardId shard) {
		return this.ranges.containsKey(ShardId.number(shard.id())) || isGone(shard);
	}

	/**
	 * Returns the first hash key of the shard to which a record for a shard is appended:
	 * the shard itself, or if it takes no more records the descendant that the key
	 * selects within its range. For a shard that is gone, the key selects among all.
	 * @return the hash key, {@code null} if no shard can be written to
	 */
	@Nullable String hashKey(ShardId shard, @Nullable String key) {
		Range chosen = this.ranges.get(ShardId.number(shard.id()));
		if (chosen != null && chosen.writable) {
			return hex(chosen.begin);
		}
		BigInteger begin = (chosen != null) ? chosen.begin : BigInteger.ZERO;
		BigInteger end = (chosen != null) ? chosen.end : KEYS;
		BigInteger point = (key != null && end.compareTo(begin) > 0) ? begin.add(md5(key).mod(end.subtract(begin)))
				: begin;
		for (Range range : this.ranges.values()) {
			if (range.writable && range.begin.compareTo(point) <= 0 && range.end.compareTo(point) > 0) {
				return hex(range.begin);
			}
		}
		return null;
	}

	private static String hex(BigInteger key) {
		return String.format(Locale.ROOT, "%032x", key);
	}

	private static BigInteger md5(String key) {
		try {
			return new BigInteger(1, MessageDigest.getInstance("MD5").digest(key.getBytes(StandardCharsets.UTF_8)));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Keys of a shard. */
	private record Range(int id, BigInteger begin, BigInteger end, boolean writable, int createTime) {

		boolean isEmpty() {
			return this.begin.compareTo(this.end) >= 0;
		}

		Range and(Range other) {
			return new Range(this.id, this.begin.max(other.begin), this.end.min(other.end), this.writable,
					this.createTime);
		}

	}

}
