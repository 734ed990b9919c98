package io.github.shardkeeper.operations;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.operations.ConsumptionSample.ShardFigures;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.schedule.RunPosition;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.TopicSources;

/**
 * Reads the figures of shards, in parts that do not depend on each other: what one store
 * or source does not tell about a topic is missing, and nothing else. Confined to the
 * sampler's loop.
 */
final class SampleRound {

	/** One part stays short. */
	private static final int SHARDS_PER_PART = 100;

	private final CheckpointStore checkpoints;

	private final @Nullable DeadLetterStore letters;

	private final TopicSources sources;

	private final BiConsumer<String, RuntimeException> onFailure;

	private final Map<ShardId, Offset> offsets = new HashMap<>();

	private final Map<ShardId, LagReport> lags = new HashMap<>();

	private final Map<ShardId, Long> deadLetters = new HashMap<>();

	private final Map<ShardId, Long> retries = new HashMap<>();

	private final Set<ShardId> unreadable = new HashSet<>();

	/** Topics whose store has not answered. */
	private final Set<String> withoutStore = new HashSet<>();

	/** Topics whose source has not answered. */
	private final Set<String> withoutSource = new HashSet<>();

	/** Topics of which a part was read, or could not be read. */
	private final Set<String> asked = new HashSet<>();

	/**
	 * Creates a round that has read nothing.
	 * @param onFailure receives what cannot be read, as the beginning of a sentence, and
	 * why
	 */
	SampleRound(CheckpointStore checkpoints, @Nullable DeadLetterStore letters, TopicSources sources,
			BiConsumer<String, RuntimeException> onFailure) {
		this.checkpoints = checkpoints;
		this.letters = letters;
		this.sources = sources;
		this.onFailure = onFailure;
	}

	/**
	 * Returns the parts to read, in their order.
	 * @param last topics to read after the others
	 */
	List<Part> parts(Collection<ShardId> shards, Set<String> last) {
		Map<String, List<ShardId>> byTopic = new TreeMap<>();
		shards.forEach((shard) -> byTopic.computeIfAbsent(shard.topic(), (topic) -> new ArrayList<>()).add(shard));
		List<Part> parts = new ArrayList<>();
		byTopic.forEach((topic, all) -> {
			for (int from = 0; from < all.size(); from += SHARDS_PER_PART) {
				List<ShardId> some = all.subList(from, Math.min(from + SHARDS_PER_PART, all.size()));
				parts.add(new Part("The offsets of '%s'".formatted(topic), some, this.withoutStore, this::readOffsets));
				parts.add(new Part("The lag of '%s'".formatted(topic), some, this.withoutSource, this::readLags));
				if (this.letters != null) {
					DeadLetterStore store = this.letters;
					parts.add(new Part("The number of dead letters of '%s'".formatted(topic), some, this.withoutStore,
							(part) -> this.deadLetters.putAll(store.countDeadLetters(part.shards()))));
					parts.add(new Part("The number of retries of '%s'".formatted(topic), some, this.withoutStore,
							(part) -> this.retries.putAll(store.countRetries(part.shards()))));
				}
			}
		});
		parts.sort(Comparator.comparing((part) -> last.contains(part.topic())));
		return parts;
	}

	/**
	 * Reads a part. Never throws.
	 * @param mayWait whether to wait for an answer; otherwise the part counts as
	 * unreadable
	 */
	void read(Part part, boolean mayWait) {
		if (!mayWait || part.unanswered().contains(part.topic())) {
			this.unreadable.addAll(part.shards());
			return;
		}
		this.asked.add(part.topic());
		try {
			part.reading().read(part);
		}
		catch (RuntimeException ex) {
			this.unreadable.addAll(part.shards());
			if (!(ex instanceof StoreUnavailableException unavailable && unavailable.isRefusal())) {
				part.unanswered().add(part.topic());
			}
			this.onFailure.accept(part.name(), ex);
		}
	}

	private void readOffsets(Part part) {
		this.offsets.putAll(this.checkpoints.offsets(part.shards(), (shard, failure) -> {
			this.unreadable.add(shard);
			this.onFailure.accept("The offset of %s".formatted(shard), failure);
		}));
	}

	private void readLags(Part part) {
		for (ShardId shard : part.shards()) {
			Offset committed = this.offsets.get(shard);
			if (committed == null || RunPosition.of(committed) != null) {
				continue;
			}
			try {
				LagReport lag = ConsumptionSampler.lag(this.sources, shard, committed);
				if (lag != null) {
					this.lags.put(shard, lag);
				}
			}
			catch (StoreUnavailableException ex) {
				if (!ex.isRefusal()) {
					throw ex;
				}
				refused(shard, ex);
			}
			catch (RuntimeException ex) {
				// From an own source, or the offset is of another one.
				refused(shard, ex);
			}
		}
	}

	private void refused(ShardId shard, RuntimeException failure) {
		this.unreadable.add(shard);
		this.onFailure.accept("The lag of %s".formatted(shard), failure);
	}

	/** Returns whether a store or source has not answered. */
	boolean hasUnanswered() {
		return !this.withoutStore.isEmpty() || !this.withoutSource.isEmpty();
	}

	/**
	 * Returns the topics of which a part was not answered when it was asked for last.
	 * @param before those of the rounds before
	 */
	Set<String> unanswered(Set<String> before) {
		Set<String> topics = new HashSet<>(before);
		topics.removeAll(this.asked);
		topics.addAll(this.withoutStore);
		topics.addAll(this.withoutSource);
		return topics;
	}

	/** Returns what is known of a shard. */
	ShardFigures figures(ShardId shard, boolean problem) {
		return new ShardFigures(this.lags.get(shard), this.deadLetters.get(shard), this.retries.get(shard), problem,
				this.unreadable.contains(shard));
	}

	/**
	 * A figure of some shards of a topic. Immutable.
	 *
	 * @param name what it is, as the beginning of a sentence
	 * @param unanswered the topics that do not answer where it is read from
	 */
	record Part(String name, List<ShardId> shards, Set<String> unanswered, Reading reading) {

		String topic() {
			return this.shards.get(0).topic();
		}

	}

	@FunctionalInterface
	interface Reading {

		void read(Part part);

	}

}
