package io.github.shardkeeper.handover;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * When the drains that go on are overdue: a timeout after they began, and again after
 * each further one. Not thread-safe: confined to the coordinator's loop.
 */
final class DrainDeadlines {

	private final Duration timeout;

	/** The earliest first, because the timeout is the same for all. */
	private final Map<ShardId, Deadline> deadlines = new LinkedHashMap<>();

	DrainDeadlines(Duration timeout) {
		this.timeout = timeout;
	}

	void began(ShardId shard, MonotonicTime now) {
		this.deadlines.putIfAbsent(shard, new Deadline(now, now.plus(this.timeout)));
	}

	void over(ShardId shard) {
		this.deadlines.remove(shard);
	}

	void clear() {
		this.deadlines.clear();
	}

	/** The drains whose deadline has passed, with how long they have gone on. */
	Map<ShardId, Duration> passed(MonotonicTime now) {
		Map<ShardId, Duration> passed = new LinkedHashMap<>();
		List<Map.Entry<ShardId, Deadline>> next = new ArrayList<>();
		Iterator<Map.Entry<ShardId, Deadline>> earliestFirst = this.deadlines.entrySet().iterator();
		while (earliestFirst.hasNext()) {
			Map.Entry<ShardId, Deadline> entry = earliestFirst.next();
			if (now.isBefore(entry.getValue().at)) {
				break;
			}
			MonotonicTime since = entry.getValue().since;
			passed.put(entry.getKey(), since.until(now));
			next.add(Map.entry(entry.getKey(), new Deadline(since, now.plus(this.timeout))));
			earliestFirst.remove();
		}
		next.forEach((entry) -> this.deadlines.put(entry.getKey(), entry.getValue()));
		return passed;
	}

	/** When the next one passes, {@code null} for none. */
	@Nullable MonotonicTime next() {
		Iterator<Deadline> earliestFirst = this.deadlines.values().iterator();
		return earliestFirst.hasNext() ? earliestFirst.next().at : null;
	}

	private record Deadline(MonotonicTime since, MonotonicTime at) {

	}

}
