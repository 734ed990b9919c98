package io.github.shardkeeper.jdbc;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.shard.ShardId;

/**
 * Dead letters in the application's database. Thread-safe.
 */
final class JdbcDeadLetterStore implements DeadLetterStore {

	private final JdbcDataPlane database;

	private final StoreTransactions steps;

	private final ShardDataTables contents;

	JdbcDeadLetterStore(JdbcDataPlane database) {
		this.database = database;
		this.steps = database.steps();
		this.contents = database.contents();
	}

	@Override
	public List<StoredDeadLetter> list(ShardId shard, @Nullable String after, int limit) {
		return this.steps.run("read the dead letters of " + shard, () -> this.contents.letters(shard, after, limit));
	}

	@Override
	public @Nullable StoredDeadLetter find(ShardId shard, String id) {
		return this.steps
			.run("read a dead letter of " + shard, () -> Optional.ofNullable(this.contents.letter(shard, id)))
			.orElse(null);
	}

	@Override
	public Map<ShardId, Long> countDeadLetters(Collection<ShardId> shards) {
		return count("count dead letters", shards, this.contents::countLetters);
	}

	@Override
	public Map<ShardId, Long> countRetries(Collection<ShardId> shards) {
		return count("count retries", shards, this.contents::countRetries);
	}

	private Map<ShardId, Long> count(String what, Collection<ShardId> shards, ToLongFunction<ShardId> counting) {
		return this.steps.run(what, () -> {
			Map<ShardId, Long> numbers = new LinkedHashMap<>();
			shards.forEach((shard) -> numbers.put(shard, counting.applyAsLong(shard)));
			return numbers;
		});
	}

	@Override
	public int sendBack(ShardId shard, List<StoredDeadLetter> letters) {
		int moved = 0;
		for (StoredDeadLetter letter : letters) {
			int one = this.steps.run("send back a dead letter of " + shard, () -> sendBackHere(shard, letter.id()));
			if (one == SHARD_COMPLETED) {
				return (moved > 0) ? moved : SHARD_COMPLETED;
			}
			moved += one;
		}
		return moved;
	}

	private int sendBackHere(ShardId shard, String id) {
		ShardRow row = this.database.shards().lock(shard) ? this.database.shards().read(shard) : null;
		if (row == null) {
			return 0;
		}
		if (row.completed()) {
			return SHARD_COMPLETED;
		}
		StoredDeadLetter letter = this.contents.letter(shard, id);
		if (letter == null || !this.contents.deleteLetter(shard, id)) {
			return 0;
		}
		this.contents.writeRetry(shard, letter.record().withoutAttempts(), this.database.clock().millis());
		return 1;
	}

	@Override
	public int drop(ShardId shard, List<StoredDeadLetter> letters) {
		return this.steps.run("drop dead letters of " + shard,
				() -> (int) letters.stream()
					.filter((letter) -> this.contents.deleteLetter(shard, letter.id()))
					.count());
	}

	@Override
	public int expire(ShardId shard, Retention retention) {
		return this.steps.run("remove expired dead letters of " + shard, () -> {
			Duration maxAge = retention.maxAge();
			Long maxCount = retention.maxCount();
			long tooMany = (maxCount != null) ? this.contents.countLetters(shard) - maxCount : 0;
			long oldestMillis = (maxAge != null) ? this.database.clock().millis() - maxAge.toMillis() : Long.MIN_VALUE;
			return this.contents.expireLetters(shard, tooMany, oldestMillis);
		});
	}

	@Override
	public void close() {
		// It has no resources of its own.
	}

}
