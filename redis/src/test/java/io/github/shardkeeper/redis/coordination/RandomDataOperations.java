package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitBasis;
import io.github.shardkeeper.checkpoint.CheckpointStore.CompletionReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.DueRecords;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.Retry;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore.StoredDeadLetter;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Does random things to the data planes of a pair of stores: what owners of a shard would
 * do, current and former ones, and operators of its dead letters. Confined to the test's
 * thread.
 */
final class RandomDataOperations {

	private static final Instant FAILED = Instant.parse("2026-01-01T00:00:00.123456Z");

	private final Random random;

	private final StorePair stores;

	private final Consumer<String> log;

	private final Consumer<String> outcome;

	private final Map<ShardId, Token> owners = new HashMap<>();

	private final Map<ShardId, Integer> commits = new HashMap<>();

	private final Map<ShardId, Long> acquisitions = new HashMap<>();

	RandomDataOperations(Random random, StorePair stores, Consumer<String> log, Consumer<String> outcome) {
		this.random = random;
		this.stores = stores;
		this.log = log;
		this.outcome = outcome;
	}

	/** A few things, one after the other, to the same shard. */
	void next(ShardId shard) {
		for (int i = this.random.nextInt(6); i >= 0; i--) {
			int choice = this.random.nextInt(24);
			if (choice < 3) {
				acquire(shard);
			}
			else if (choice < 11) {
				commit(shard);
			}
			else if (choice < 13) {
				readDue(shard);
			}
			else if (choice < 15) {
				commit(shard);
				complete(shard);
			}
			else if (choice < 18) {
				sendBack(shard, choice(shard));
			}
			else if (choice < 20) {
				drop(shard);
			}
			else if (choice < 22) {
				seek(shard);
			}
			else {
				readTimers(shard);
			}
			compare(shard);
		}
	}

	private void compare(ShardId shard) {
		this.stores.data((store) -> store.read(shard));
		this.stores.data((store) -> store.seeks(List.of(shard)));
		this.stores.data((store) -> store.timers(shard, null, 100));
		this.stores.data((store) -> store.countTimers(shard));
		CommitBasis basis = new CommitBasis(token(shard), this.random.nextInt(3), acquisition(shard));
		List<String> keys = List.of("k0", "k2", "k" + this.random.nextInt(9));
		this.log.accept("read " + keys + " of " + shard + " " + basis);
		this.outcome.accept((this.stores.data((store) -> store.ownedEntries(shard, basis, keys)) != null) ? "state read"
				: "state lost");
		this.stores.data((store) -> store.ownedKeys(shard, basis, "", 0));
		this.stores.letters((store) -> records(store.list(shard, null, 100)));
		this.stores.letters((store) -> store.countDeadLetters(List.of(shard)));
		this.stores.letters((store) -> store.countRetries(List.of(shard)));
	}

	private void acquire(ShardId shard) {
		Token token = token(shard);
		this.log.accept("acquire " + shard + " " + token);
		boolean withState = this.random.nextBoolean();
		Acquisition reply = this.stores.data(
				(store) -> withState ? store.acquireNow(shard, token) : store.acquireWithoutState(shard, token).join());
		this.outcome.accept(reply.getClass().getSimpleName());
		acquired(shard, token, reply);
	}

	private void acquired(ShardId shard, Token token, Acquisition reply) {
		if (reply instanceof Acquisition.Acquired acquired) {
			this.acquisitions.put(shard, acquired.acquisition());
			if (!token.equals(this.owners.put(shard, token))) {
				this.commits.put(shard, 0);
			}
		}
	}

	private void commit(ShardId shard) {
		Token token = token(shard);
		if (this.random.nextInt(3) == 0) {
			this.log.accept("acquire " + shard + " " + token + " to commit");
			acquired(shard, token, this.stores.data((store) -> store.acquireNow(shard, token)));
		}
		CommitNumber number = number(shard);
		Offset offset = (this.random.nextInt(4) > 0) ? offset() : null;
		Map<String, String> changes = new LinkedHashMap<>();
		IntStream.range(0, this.random.nextInt(4))
			.forEach((i) -> changes.put("k" + this.random.nextInt(3), this.random.nextBoolean() ? value(i) : null));
		List<Retry> retries = some(() -> new Retry(record(), Duration.ofMillis(this.random.nextInt(5) * 1000L)));
		// A record is retried once in a commit.
		Map<Offset, Retry> once = new LinkedHashMap<>();
		retries.forEach((retry) -> once.put(retry.record().offset(), retry));
		SeekRequest pending = this.stores.data((store) -> store.seeks(List.of(shard)).get(shard).pending());
		long seek = (pending != null && this.random.nextInt(3) == 0) ? pending.number() : 0;
		Map<TimerId, Instant> timers = new LinkedHashMap<>();
		some(this::timer).forEach((timer) -> timers.put(timer.id(), (this.random.nextInt(3) > 0) ? timer.due() : null));
		Commit.Builder parts = new Commit.Builder(number, offset, offsets()).changes(changes)
			.retries(List.copyOf(once.values()))
			.taken(offsets())
			.deadLetters(some(this::record))
			.seek(seek)
			.timers(timers);
		Commit commit = ((seek != 0 && this.random.nextBoolean()) ? parts.clearState() : parts).build();
		this.log.accept("commit " + shard + " " + token + " " + commit);
		this.outcome.accept("commit " + this.stores.data((store) -> store.commit(shard, token, commit).join()));
	}

	/** As owners store them: some expire, some have a version, some both. */
	private String value(int i) {
		String value = this.random.nextBoolean() ? "{\"@version\":2,\"@value\":" + i + "}" : Integer.toString(i);
		return this.random.nextBoolean() ? "@" + FAILED.plusSeconds(this.random.nextInt(3)).toEpochMilli() + " " + value
				: value;
	}

	private void readDue(ShardId shard) {
		int limit = this.random.nextInt(4);
		// Sizes are not the same in both: all that there is, or one record.
		long bytes = this.random.nextBoolean() ? Long.MAX_VALUE : 0;
		Set<Offset> except = new TreeSet<>(Comparator.comparing(Offset::value));
		for (int i = this.random.nextInt(3); i > 0; i--) {
			except.add(offset());
		}
		this.log.accept("due " + shard + " " + limit + " " + bytes + " except " + except);
		DueRecords due = this.stores.data((store) -> store.due(shard, limit, bytes, except));
		this.outcome.accept(due.records().isEmpty() ? "nothing due" : "something due");
	}

	private void seek(ShardId shard) {
		Offset after = offset();
		boolean clearsState = this.random.nextBoolean();
		this.log.accept("seek " + shard + " " + after + " clears the state: " + clearsState);
		SeekRequest request = this.stores.data((store) -> store.seek(shard, after, clearsState));
		this.outcome.accept((request != null) ? "seek requested" : "no seek");
	}

	private void readTimers(ShardId shard) {
		StoredTimer after = (this.random.nextInt(3) > 0) ? timer() : null;
		int limit = 1 + this.random.nextInt(3);
		this.log.accept("timers " + shard + " " + limit + " after " + after);
		List<StoredTimer> page = this.stores.data((store) -> store.timers(shard, after, limit));
		this.outcome.accept(page.isEmpty() ? "no timers" : "timers");
	}

	private void complete(ShardId shard) {
		Token token = token(shard);
		int acknowledged = this.random.nextInt(3);
		this.log.accept("complete " + shard + " " + token + " " + acknowledged);
		CompletionReply reply = this.stores.data((store) -> store.complete(shard, token, acknowledged, 0));
		this.outcome.accept("completion " + reply);
		if (reply == CompletionReply.COMPLETED) {
			// Seldom by chance.
			sendBack(shard, (store) -> store.list(shard, null, 100));
		}
	}

	private void sendBack(ShardId shard, Function<DeadLetterStore, List<StoredDeadLetter>> choice) {
		this.log.accept("send letters of " + shard + " back");
		int moved = this.stores.letters((store) -> store.sendBack(shard, choice.apply(store)));
		this.outcome
			.accept((moved > 0) ? "sent back" : (moved < 0) ? "not sent back: completed" : "nothing to send back");
	}

	private void drop(ShardId shard) {
		Function<DeadLetterStore, List<StoredDeadLetter>> choice = choice(shard);
		this.log.accept("drop letters of " + shard);
		int dropped = this.stores.letters((store) -> store.drop(shard, choice.apply(store)));
		this.outcome.accept((dropped > 0) ? "dropped" : "nothing to drop");
	}

	/** By their places: their ids are not the same in both. */
	private Function<DeadLetterStore, List<StoredDeadLetter>> choice(ShardId shard) {
		Set<Integer> places = IntStream.range(0, this.random.nextInt(4))
			.mapToObj((i) -> this.random.nextInt(6))
			.collect(Collectors.toSet());
		return (store) -> {
			List<StoredDeadLetter> all = store.list(shard, null, 100);
			return IntStream.range(0, all.size()).filter(places::contains).mapToObj(all::get).toList();
		};
	}

	private static List<FailedRecord> records(List<StoredDeadLetter> letters) {
		return letters.stream().map(StoredDeadLetter::record).toList();
	}

	private FailedRecord record() {
		int attempts = this.random.nextInt(4);
		return new FailedRecord(offset(), this.random.nextBoolean() ? "k" : null, new byte[] { (byte) attempts, '\n' },
				this.random.nextBoolean() ? Map.of("a", "b") : Map.of(), FAILED, attempts, attempts, "e" + attempts,
				"s", FAILED);
	}

	/** Of keys and names of one length, by which both stores have the same order. */
	private StoredTimer timer() {
		return new StoredTimer(new TimerId("k" + this.random.nextInt(3), "n" + this.random.nextInt(2)),
				FAILED.plusSeconds(this.random.nextInt(3)).truncatedTo(ChronoUnit.MILLIS));
	}

	private Set<Offset> offsets() {
		return new LinkedHashSet<>(some(this::offset));
	}

	private <T> List<T> some(Supplier<T> one) {
		return Stream.generate(one).limit((this.random.nextInt(2) == 0) ? 0 : this.random.nextInt(4)).toList();
	}

	private Offset offset() {
		return new Offset("o" + this.random.nextInt(9));
	}

	/** Mostly the one of today's owner. */
	private Token token(ShardId shard) {
		Token today = this.owners.get(shard);
		return (today != null && this.random.nextInt(4) > 0) ? today
				: new Token(1_767_225_600_123_456L + this.random.nextInt(4));
	}

	private CommitNumber number(ShardId shard) {
		if (this.random.nextInt(3) > 0) {
			return CommitNumber.ofWhole(this.commits.merge(shard, 1, Integer::sum));
		}
		int attempt = 1 + this.random.nextInt(9);
		return new CommitNumber(attempt, this.random.nextInt(attempt), acquisition(shard));
	}

	private long acquisition(ShardId shard) {
		return this.random.nextBoolean() ? this.acquisitions.getOrDefault(shard, 0L) : 0;
	}

}
