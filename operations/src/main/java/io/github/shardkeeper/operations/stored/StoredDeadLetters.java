package io.github.shardkeeper.operations.stored;

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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore.StoredDeadLetter;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.text.PrintableText;

/**
 * Dead letters in the store, read page by page to save memory. Thread-safe.
 */
public final class StoredDeadLetters implements DeadLetters {

	/** Low, because each may have a large payload. */
	private static final int LETTERS_PER_READ = 25;

	private static final int LONGEST_PAGE = 1_000;

	/** Total size of the payloads after which a page ends. */
	private static final int LARGEST_PAGE_BYTES = 8_000_000;

	private final String group;

	private final DeadLetterStore letters;

	private final Consumer<Collection<ShardId>> owners;

	private final ShardLookup shards;

	/**
	 * Creates an instance for a group.
	 * @param owners notifies the owners of shards that letters were sent back
	 */
	public StoredDeadLetters(String group, DeadLetterStore letters, Consumer<Collection<ShardId>> owners,
			SourceRegistry sources) {
		this.group = group;
		this.letters = letters;
		this.owners = owners;
		this.shards = new ShardLookup(sources, "A call of DeadLetters");
	}

	@Override
	public Map<ShardId, Long> count(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return new TreeMap<>(this.letters.countDeadLetters(this.shards.of(topic)));
	}

	@Override
	public Map<ShardId, Long> waiting(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return new TreeMap<>(this.letters.countRetries(this.shards.of(topic)));
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
		for (Map.Entry<ShardId, Long> entry : this.letters.countDeadLetters(shards(filter)).entrySet()) {
			ShardId shard = entry.getKey();
			int order = (start != null) ? shard.compareTo(start.shard()) : 1;
			if (order < 0 || entry.getValue() == 0) {
				continue;
			}
			String position = (order == 0) ? Objects.requireNonNull(start).inShard() : null;
			// The count saves the last read, which would find nothing.
			long left = (position != null) ? Long.MAX_VALUE : entry.getValue();
			do {
				List<StoredDeadLetter> read = this.letters.list(shard, position, LETTERS_PER_READ);
				for (StoredDeadLetter stored : read) {
					DeadLetter letter = letter(shard, stored);
					if (filter.matches(letter)) {
						page.add(letter);
						bytes += letter.payload().length;
						if (page.size() == limit || bytes >= LARGEST_PAGE_BYTES) {
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
		StoredDeadLetter stored = this.letters.find(parsed.shard(), parsed.inShard());
		int moved = (stored != null) ? this.letters.sendBack(parsed.shard(), List.of(stored)) : 0;
		if (moved == DeadLetterStore.SHARD_COMPLETED) {
			return new SentBack(0, Set.of(parsed.shard()));
		}
		// Also if nothing was moved: an earlier call may have failed here.
		this.owners.accept(Set.of(parsed.shard()));
		return new SentBack(moved, Set.of());
	}

	@Override
	public SentBack sendBack(DeadLetterFilter filter) {
		Objects.requireNonNull(filter, "filter must not be null");
		Collection<ShardId> shards = shards(filter);
		try {
			return notifyOwners(shards, sendBack(filter, shards));
		}
		catch (StoreUnavailableException ex) {
			try {
				notifyOwners(shards, new SentBack(0, Set.of()));
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
		for (Map.Entry<ShardId, Long> entry : this.letters.countDeadLetters(shards).entrySet()) {
			ShardId shard = entry.getKey();
			moved += forEachPage(entry.getValue(), shard, filter, (matching) -> {
				int reply = this.letters.sendBack(shard, matching);
				if (reply == DeadLetterStore.SHARD_COMPLETED) {
					completed.add(shard);
				}
				return reply;
			});
		}
		return new SentBack(moved, completed);
	}

	/** Notifies all owners with a retry queue: an earlier call may have failed here. */
	private SentBack notifyOwners(Collection<ShardId> shards, SentBack result) {
		List<ShardId> withRetries = new ArrayList<>();
		this.letters.countRetries(shards).forEach((shard, waiting) -> {
			if (waiting > 0) {
				withRetries.add(shard);
			}
		});
		if (!withRetries.isEmpty()) {
			this.owners.accept(withRetries);
		}
		return result;
	}

	@Override
	public boolean drop(String id) {
		Objects.requireNonNull(id, "id must not be null");
		LetterId parsed = known(id);
		StoredDeadLetter stored = this.letters.find(parsed.shard(), parsed.inShard());
		return stored != null && this.letters.drop(parsed.shard(), List.of(stored)) > 0;
	}

	@Override
	public long drop(DeadLetterFilter filter) {
		Objects.requireNonNull(filter, "filter must not be null");
		long dropped = 0;
		for (Map.Entry<ShardId, Long> entry : this.letters.countDeadLetters(shards(filter)).entrySet()) {
			ShardId shard = entry.getKey();
			dropped += forEachPage(entry.getValue(), shard, filter, (matching) -> this.letters.drop(shard, matching));
		}
		return dropped;
	}

	/**
	 * Runs a step for the matching dead letters of a shard, oldest first. Ends after the
	 * given number, so that records that fail again meanwhile are not included.
	 */
	private long forEachPage(long number, ShardId shard, DeadLetterFilter filter, Step step) {
		long done = 0;
		String position = null;
		for (long left = number; left > 0;) {
			List<StoredDeadLetter> read = this.letters.list(shard, position, (int) Math.min(left, LETTERS_PER_READ));
			if (read.isEmpty()) {
				return done;
			}
			List<StoredDeadLetter> matching = read.stream()
				.filter((stored) -> filter.matches(letter(shard, stored)))
				.toList();
			int affected = matching.isEmpty() ? 0 : step.run(matching);
			if (affected < 0) {
				return done;
			}
			done += affected;
			left -= read.size();
			position = read.get(read.size() - 1).id();
		}
		return done;
	}

	private DeadLetter letter(ShardId shard, StoredDeadLetter stored) {
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

	/** Accepts a shard that the source no longer has, if it has left letters behind. */
	private void requireKnown(ShardId shard) {
		boolean isKnown = this.shards.of(shard.topic()).contains(shard);
		if (!isKnown && this.letters.countDeadLetters(Set.of(shard)).containsValue(0L)) {
			this.shards.require(shard);
		}
	}

	private interface Step {

		/** Returns how many still existed, negative to skip the rest of the shard. */
		int run(List<StoredDeadLetter> letters);

	}

	/** Id of a dead letter, {@code topic/shard/number-number}. */
	private record LetterId(ShardId shard, String inShard) {

		private static final int LONGEST_QUOTATION = 120;

		/** The numbers fit into 64 bits. */
		private static final Pattern FORMAT = Pattern.compile("([^/]+/[^/]+)/(\\d{1,18}-\\d{1,18})");

		static LetterId parse(String text) {
			Matcher parts = FORMAT.matcher(text);
			if (!parts.matches()) {
				throw new IllegalArgumentException(
						"'%s' is not the id of a dead letter; they look like 'orders/3/1795234603797-0'"
							.formatted(PrintableText.quoted(text, LONGEST_QUOTATION)));
			}
			return new LetterId(ShardId.parse(parts.group(1)), parts.group(2));
		}

		@Override
		public String toString() {
			return this.shard + "/" + this.inShard;
		}

	}

}
