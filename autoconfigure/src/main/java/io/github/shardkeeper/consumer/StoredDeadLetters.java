package io.github.shardkeeper.consumer;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.DeadLetterStore;
import io.github.shardkeeper.coordination.DeadLetterStore.StoredLetter;
import io.github.shardkeeper.coordination.FailedRecord;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardSource;

/**
 * Dead letters from the store, page by page, so that memory holds few of them whatever
 * their number. Thread-safe.
 */
public final class StoredDeadLetters implements DeadLetters {

	/** Each may have a large payload. */
	private static final int LETTERS_PER_READ = 25;

	private static final int LONGEST_PAGE = 1_000;

	/** A page ends when the payloads on it come to so much, in bytes. */
	private static final int LARGEST_PAGE = 8_000_000;

	private final String group;

	private final DeadLetterStore letters;

	private final Consumer<Collection<ShardId>> owners;

	private final KnownShards shards;

	/**
	 * Creates it.
	 * @param group the group's name
	 * @param letters the letters
	 * @param owners tells the owners of shards that letters were sent back
	 * @param source knows the topics and their shards
	 */
	public StoredDeadLetters(String group, DeadLetterStore letters, Consumer<Collection<ShardId>> owners,
			ShardSource source) {
		this.group = group;
		this.letters = letters;
		this.owners = owners;
		this.shards = new KnownShards(source, "A call of DeadLetters");
	}

	@Override
	public Map<ShardId, Long> count(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return new TreeMap<>(this.letters.letters(this.shards.of(topic)));
	}

	@Override
	public Map<ShardId, Long> waiting(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return new TreeMap<>(this.letters.retries(this.shards.of(topic)));
	}

	@Override
	public Page list(DeadLetterFilter filter, @Nullable String after, int limit) {
		Objects.requireNonNull(filter, "filter must not be null");
		if (limit < 1 || limit > LONGEST_PAGE) {
			throw new IllegalArgumentException(
					"A page of %d dead letters: its limit is 1 to %d".formatted(limit, LONGEST_PAGE));
		}
		LetterId start = (after != null) ? LetterId.parse(after) : null;
		if (start != null && !start.shard().topic().equals(filter.topic())) {
			throw new IllegalArgumentException("A page of '%s' cannot begin after %s".formatted(filter.topic(), start));
		}
		List<DeadLetter> page = new ArrayList<>();
		long bytes = 0;
		for (Map.Entry<ShardId, Long> entry : this.letters.letters(shards(filter)).entrySet()) {
			ShardId shard = entry.getKey();
			int order = (start != null) ? shard.compareTo(start.shard()) : 1;
			if (order < 0 || entry.getValue() == 0) {
				continue;
			}
			String position = (order == 0) ? Objects.requireNonNull(start).inShard() : null;
			// Counted before: who reads no further than that need not ask for the end.
			long left = (position != null) ? Long.MAX_VALUE : entry.getValue();
			do {
				List<StoredLetter> read = this.letters.list(shard, position, LETTERS_PER_READ);
				for (StoredLetter stored : read) {
					DeadLetter letter = letter(shard, stored);
					if (filter.matches(letter)) {
						page.add(letter);
						bytes += letter.payload().length;
						if (page.size() == limit || bytes >= LARGEST_PAGE) {
							return new Page(page, letter.id());
						}
					}
				}
				left = read.isEmpty() ? 0 : left - read.size();
				position = read.isEmpty() ? null : read.get(read.size() - 1).id();
			}
			while (left > 0);
		}
		return new Page(page, null);
	}

	@Override
	public Optional<DeadLetter> find(String id) {
		Objects.requireNonNull(id, "id must not be null");
		LetterId parsed = known(id);
		return Optional.ofNullable(this.letters.find(parsed.shard(), parsed.inShard()))
			.map((stored) -> letter(parsed.shard(), stored));
	}

	@Override
	public SentBack sendBack(String id) {
		Objects.requireNonNull(id, "id must not be null");
		LetterId parsed = known(id);
		StoredLetter stored = this.letters.find(parsed.shard(), parsed.inShard());
		int moved = (stored != null) ? this.letters.sendBack(parsed.shard(), List.of(stored)) : 0;
		if (moved == DeadLetterStore.SHARD_COMPLETED) {
			return new SentBack(0, Set.of(parsed.shard()));
		}
		// Also when nothing was there: the call may be repeated because this had failed.
		this.owners.accept(Set.of(parsed.shard()));
		return new SentBack(moved, Set.of());
	}

	@Override
	public SentBack sendBack(DeadLetterFilter filter) {
		Objects.requireNonNull(filter, "filter must not be null");
		Collection<ShardId> shards = shards(filter);
		try {
			return tellOwners(shards, sendBack(filter, shards));
		}
		catch (StoreUnavailableException ex) {
			try {
				tellOwners(shards, new SentBack(0, Set.of()));
			}
			catch (StoreUnavailableException again) {
				ex.addSuppressed(again);
			}
			throw ex;
		}
	}

	private SentBack sendBack(DeadLetterFilter filter, Collection<ShardId> shards) {
		Set<ShardId> completed = new TreeSet<>();
		long moved = 0;
		for (Map.Entry<ShardId, Long> entry : this.letters.letters(shards).entrySet()) {
			ShardId shard = entry.getKey();
			moved += through(entry.getValue(), shard, filter, (matching) -> {
				int reply = this.letters.sendBack(shard, matching);
				if (reply == DeadLetterStore.SHARD_COMPLETED) {
					completed.add(shard);
				}
				return reply;
			});
		}
		return new SentBack(moved, completed);
	}

	/**
	 * Whoever has anything in its retry queue, not only from this call: one before may
	 * have failed to say so.
	 */
	private SentBack tellOwners(Collection<ShardId> shards, SentBack result) {
		List<ShardId> concerned = new ArrayList<>();
		this.letters.retries(shards).forEach((shard, waiting) -> {
			if (waiting > 0) {
				concerned.add(shard);
			}
		});
		if (!concerned.isEmpty()) {
			this.owners.accept(concerned);
		}
		return result;
	}

	@Override
	public boolean drop(String id) {
		Objects.requireNonNull(id, "id must not be null");
		LetterId parsed = known(id);
		StoredLetter stored = this.letters.find(parsed.shard(), parsed.inShard());
		return stored != null && this.letters.drop(parsed.shard(), List.of(stored)) > 0;
	}

	@Override
	public long drop(DeadLetterFilter filter) {
		Objects.requireNonNull(filter, "filter must not be null");
		long dropped = 0;
		for (Map.Entry<ShardId, Long> entry : this.letters.letters(shards(filter)).entrySet()) {
			ShardId shard = entry.getKey();
			dropped += through(entry.getValue(), shard, filter, (matching) -> this.letters.drop(shard, matching));
		}
		return dropped;
	}

	/**
	 * Goes through a shard's oldest letters, and has those that match dealt with. No more
	 * of them than there were, so that what fails again meanwhile, and is stored behind
	 * them, is left alone.
	 */
	private long through(long number, ShardId shard, DeadLetterFilter filter, Step step) {
		long done = 0;
		String position = null;
		for (long left = number; left > 0;) {
			List<StoredLetter> read = this.letters.list(shard, position, (int) Math.min(left, LETTERS_PER_READ));
			if (read.isEmpty()) {
				return done;
			}
			List<StoredLetter> matching = read.stream()
				.filter((stored) -> filter.matches(letter(shard, stored)))
				.toList();
			int dealt = matching.isEmpty() ? 0 : step.deal(matching);
			if (dealt < 0) {
				return done;
			}
			done += dealt;
			left -= read.size();
			position = read.get(read.size() - 1).id();
		}
		return done;
	}

	private DeadLetter letter(ShardId shard, StoredLetter stored) {
		FailedRecord record = stored.record();
		return new DeadLetter(new LetterId(shard, stored.id()).toString(), this.group, shard, record.offset(),
				record.key(), record.payload(), record.headers(), record.timestamp(), record.attempts(),
				record.exception(), record.stackTrace(), record.failedAt());
	}

	private LetterId known(String id) {
		LetterId parsed = LetterId.parse(id);
		requireKnown(parsed.shard());
		return parsed;
	}

	private Collection<ShardId> shards(DeadLetterFilter filter) {
		ShardId shard = filter.shard().orElse(null);
		if (shard == null) {
			return this.shards.of(filter.topic());
		}
		requireKnown(shard);
		return Set.of(shard);
	}

	/** A shard that the source has forgotten may have left letters behind. */
	private void requireKnown(ShardId shard) {
		boolean isKnown = this.shards.of(shard.topic()).contains(shard);
		if (!isKnown && this.letters.letters(Set.of(shard)).containsValue(0L)) {
			this.shards.require(shard);
		}
	}

	/** Deals with letters of one shard. */
	private interface Step {

		/** Tells how many it found; less than none if it wants no more of this shard. */
		int deal(List<StoredLetter> letters);

	}

}
