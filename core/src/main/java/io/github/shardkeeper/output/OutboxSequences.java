package io.github.shardkeeper.output;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Outbox.Changes;
import io.github.shardkeeper.checkpoint.Outbox.Entry;
import io.github.shardkeeper.checkpoint.Outbox.Place;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Numbers and places of the records that a shard sends, as the last commit has left them.
 * They ascend over all owners.
 * <p>
 * The records of a call in a transaction are counted from here, and counted in only when
 * the transaction is committed. One that is rolled back leaves no gap, and its numbers
 * are given again. That is safe because each commit requires that the last one is still
 * the one that it was counted from: of two transactions with the same numbers, one is
 * committed at most, and only records that are committed are forwarded.
 * <p>
 * Confined to who has the turn to commit: the shard's worker, or a call.
 */
final class OutboxSequences {

	private final Token token;

	private long era;

	private @Nullable Place last;

	/** Number of the last record for each target. */
	private final Map<ShardId, Long> numbers = new HashMap<>();

	OutboxSequences(Token token) {
		this.token = token;
	}

	/** Begins with what the store has. */
	void begin(Outbox stored) {
		this.era = stored.era();
		this.last = stored.last();
		this.numbers.putAll(stored.numbers());
	}

	/** Counts a record in that waits in the store. */
	void restore(Entry entry) {
		this.numbers.merge(entry.target(), entry.number(), Math::max);
	}

	/** Returns the era of the numbers, 0 if nothing was sent yet. */
	long era() {
		return this.era;
	}

	@Nullable Place last() {
		return this.last;
	}

	Map<ShardId, Long> all() {
		return this.numbers;
	}

	/**
	 * Returns the changes with which a commit adds the records, and does not count them
	 * in.
	 * @param removed the places of what the commit removes
	 */
	Changes following(List<NewRecord> records, List<Place> removed) {
		long eraOfAll = (this.era != 0) ? this.era : this.token.value();
		Map<ShardId, Long> changed = new LinkedHashMap<>();
		List<Entry> added = new ArrayList<>();
		Place place = this.last;
		for (NewRecord each : records) {
			ShardId target = each.shard();
			Long before = changed.containsKey(target) ? changed.get(target) : this.numbers.get(target);
			long number = (before != null) ? before + 1 : 1;
			changed.put(target, number);
			place = after(place);
			added.add(new Entry(place, eraOfAll, target, number, each.key(), each.payload(), each.headers()));
		}
		return new Changes(eraOfAll, place, changed, added, removed, false);
	}

	/** Counts in what a commit has added. */
	void count(Changes written) {
		if (!written.added().isEmpty()) {
			this.era = written.era();
			this.last = written.last();
			this.numbers.putAll(written.numbers());
		}
	}

	/** Begins again in an era above another one. */
	void beginAnew(long above) {
		this.era = Math.max(this.token.value(), Math.max(this.era, above) + 1);
		this.numbers.clear();
	}

	/** Returns a new place, above all others. */
	Place nextPlace() {
		Place next = after(this.last);
		this.last = next;
		return next;
	}

	private Place after(@Nullable Place before) {
		return new Place(this.token.value(),
				(before != null && before.token() == this.token.value()) ? before.number() + 1 : 1);
	}

}
