package io.github.shardkeeper.checkpoint;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Commit.Retry;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * What goes with a shard when its topic changes {@code consumer.transaction}, and so the
 * store of its checkpoints: offset, records done ahead of it, state, timers, retry queue,
 * and the number of the last seek. A pending seek is carried out on the way. Sent records
 * that wait in the outbox do not go, and keep the shard where it is; dead letters stay
 * behind. Immutable.
 */
@Internal
public final class CarriedCheckpoint {

	/** Limits of a retry queue: all of it is written in one step. */
	private static final int MAX_RETRIES = 10_000;

	private static final long MAX_BYTES = 32_000_000;

	/** Limit of timers, which are written in that step, too. */
	private static final int MAX_TIMERS = 100_000;

	private static final int TIMERS_AT_ONCE = 1_000;

	private final Direction direction;

	private final @Nullable Offset offset;

	private final Set<Offset> ahead;

	private final Map<String, String> state;

	private final Map<TimerId, Instant> timers;

	private final List<Retry> retries;

	private final long sought;

	private CarriedCheckpoint(Direction direction, Acquisition.Acquired acquired, Map<TimerId, Instant> timers,
			List<Retry> retries) {
		Checkpoint checkpoint = acquired.checkpoint();
		SeekRequest seek = acquired.seeks().pending();
		this.direction = direction;
		this.offset = (seek != null) ? seek.after() : checkpoint.offset();
		this.ahead = (seek != null) ? Set.of() : checkpoint.ahead();
		this.state = (seek != null && seek.clearsState()) ? Map.of() : checkpoint.state();
		this.timers = timers;
		this.retries = retries;
		this.sought = (seek != null) ? seek.number() : acquired.seeks().applied();
	}

	/**
	 * Reads what goes with a shard.
	 * @param source the store that it is in
	 * @param acquired the reply to its acquisition there
	 * @throws StoreUnavailableException as a refusal if the shard cannot go yet
	 */
	public static CarriedCheckpoint of(CheckpointStore source, ShardId shard, Acquisition.Acquired acquired,
			Direction direction) {
		if (acquired.outbox().entries() > 0) {
			throw direction.refusal(shard, "%d records in its outbox that its handlers have sent before"
				.formatted(acquired.outbox().entries()), "until they are appended to their targets");
		}
		List<Retry> retries = (acquired.checkpoint().retryDueIn() != null) ? retries(source, shard, direction)
				: List.of();
		SeekRequest seek = acquired.seeks().pending();
		boolean cleared = seek != null && seek.clearsState();
		return new CarriedCheckpoint(direction, acquired, cleared ? Map.of() : timers(source, shard, direction),
				retries);
	}

	private static Map<TimerId, Instant> timers(CheckpointStore source, ShardId shard, Direction direction) {
		Map<TimerId, Instant> timers = new LinkedHashMap<>();
		List<StoredTimer> page = source.timers(shard, null, TIMERS_AT_ONCE);
		while (!page.isEmpty()) {
			page.forEach((timer) -> timers.put(timer.id(), timer.due()));
			if (timers.size() > MAX_TIMERS) {
				throw direction.refusal(shard,
						"more than %d timers, which is the most that can be carried over".formatted(MAX_TIMERS),
						"until they have fired or are cancelled");
			}
			page = source.timers(shard, page.get(page.size() - 1), TIMERS_AT_ONCE);
		}
		return timers;
	}

	/** Nobody changes the queue meanwhile, except for records that people drop. */
	private static List<Retry> retries(CheckpointStore source, ShardId shard, Direction direction) {
		if (!source.listsWaiting(shard.topic())) {
			throw direction.refusal(shard, "records in its retry queue, which its store cannot list",
					"until they are handled or dropped");
		}
		Map<Offset, WaitingRecord> waiting = new HashMap<>();
		source.waiting(shard, (record) -> waiting.put(record.offset(), record));
		long bytes = waiting.values().stream().mapToLong(WaitingRecord::size).sum();
		if (waiting.size() > MAX_RETRIES || bytes > MAX_BYTES) {
			throw direction.refusal(shard,
					"%d records of %d bytes in its retry queue, and at most %d records of %d bytes can be carried over"
						.formatted(waiting.size(), bytes, MAX_RETRIES, MAX_BYTES),
					"until they are handled or dropped");
		}
		List<Retry> retries = new ArrayList<>();
		for (FailedRecord record : source.retries(shard, List.copyOf(waiting.keySet()), Long.MAX_VALUE)) {
			retries.add(new Retry(record, Objects.requireNonNull(waiting.get(record.offset())).dueIn()));
		}
		return retries;
	}

	/**
	 * Checks that a database has the checkpoint that the store of the group has left to
	 * it.
	 * @throws StoreUnavailableException as a refusal if it has none
	 */
	public static void requireAny(CheckpointStore database, ShardId shard) {
		CommitHistory history = database.commits(shard);
		if (history == null || history.last().equals(LastCommit.NONE)) {
			throw lost(shard);
		}
	}

	/** Returns the refusal of a shard that is in neither store. */
	public static StoreUnavailableException lost(ShardId shard) {
		return new StoreUnavailableException(
				"The checkpoint of %s was carried over into the database, and the database does not have it: its row was lost or removed, or 'spring.datasource.url' or 'shardkeeper.jdbc.table-prefix' lead elsewhere. So the shard is not consumed: from the beginning, all its rows would be written again. Restore the row; or begin with an empty state where you say, with ShardPositions.reset, or clearState of the endpoint"
					.formatted(shard),
				null, true);
	}

	/** Returns the failure of an attempt that others have interfered with. */
	public static StoreUnavailableException interrupted(ShardId shard) {
		return new StoreUnavailableException(
				"The checkpoint of %s did not stay the same while it was carried over; trying again".formatted(shard),
				null);
	}

	/** Returns the number of the last seek that the other store has carried out. */
	public long sought() {
		return this.sought;
	}

	/** Returns the commit that writes all of it where nothing is. */
	public Commit commit(long number) {
		return commit(number, new HashMap<>(this.state));
	}

	/** Returns the commit that writes all of it in place of what an acquisition found. */
	public Commit replacing(Acquisition.Acquired present) {
		Map<String, @Nullable String> changes = new HashMap<>(this.state);
		present.checkpoint().state().keySet().forEach((key) -> changes.putIfAbsent(key, null));
		return commit(present.lastCommit() + 1, changes);
	}

	private Commit commit(long number, Map<String, @Nullable String> changes) {
		return new Commit(CommitNumber.ofWhole(number), this.offset, this.ahead, changes, this.retries, new HashSet<>(),
				List.of(), this.sought)
			.withTimers(new HashMap<>(this.timers));
	}

	/** Returns what was carried over, for the log; {@code null} if there was nothing. */
	public @Nullable String summary(ShardId shard) {
		return (this.offset == null && this.retries.isEmpty() && this.timers.isEmpty()) ? null
				: "%s is consumed %s from now on. Carried over were offset %s, %d entries of state, %d timers and %d records of the retry queue; dead letters stay where they are"
					.formatted(shard, this.direction.now, this.offset, this.state.size(), this.timers.size(),
							this.retries.size());
	}

	/** From which store into which. */
	public enum Direction {

		INTO_DATABASE("in transactions of the database", "without", "with"),

		OUT_OF_DATABASE("without transactions of the database", "with", "without");

		private final String now;

		private final String before;

		private final String after;

		Direction(String now, String before, String after) {
			this.now = now;
			this.before = before;
			this.after = after;
		}

		private StoreUnavailableException refusal(ShardId shard, String what, String until) {
			return new StoreUnavailableException(
					"%s still has %s: run it %s 'transaction: jdbc' %s, and then %s it again".formatted(shard, what,
							this.before, until, this.after),
					null, true);
		}

	}

}
