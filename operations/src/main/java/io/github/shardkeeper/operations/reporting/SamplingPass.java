package io.github.shardkeeper.operations.reporting;

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
import java.util.function.BiPredicate;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.operations.reporting.ConsumptionSample.ShardFigures;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.schedule.RunPosition;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardActivity;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SourceRegistry;

/**
 * Reads the figures of shards, in parts that do not depend on each other: what one store
 * or source does not tell about a topic is missing, and nothing else. A figure that is
 * {@linkplain KnownFigures still known} is read of one shard of a topic only, to see
 * whether it can be: if not, it is read of all. Confined to the sampler's loop.
 */
final class SamplingPass {

	/** One part stays short. */
	private static final int SHARDS_PER_PART = 100;

	private final CheckpointStore checkpoints;

	private final @Nullable DeadLetterStore letters;

	private final SourceRegistry sources;

	private final KnownFigures known;

	/** What the owner has done with each shard. */
	private final Map<ShardId, ShardActivity> activities;

	/** Figures that are not read, unless the shard that is read for them cannot be. */
	private final List<Unread> unread = new ArrayList<>();

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
	 * @param known what the round before has found
	 * @param activities what the owner has done with each shard
	 * @param onFailure receives what cannot be read, as the beginning of a sentence, and
	 * why
	 */
	SamplingPass(CheckpointStore checkpoints, @Nullable DeadLetterStore letters, SourceRegistry sources,
			KnownFigures known, Map<ShardId, ShardActivity> activities,
			BiConsumer<String, RuntimeException> onFailure) {
		this.checkpoints = checkpoints;
		this.letters = letters;
		this.sources = sources;
		this.known = known;
		this.activities = activities;
		this.onFailure = onFailure;
	}

	/**
	 * Returns the parts to read, in their order.
	 * @param last topics to read after the others
	 * @param number number of the round: each takes another shard to see whether known
	 * figures can be read
	 */
	List<Part> parts(Collection<ShardId> shards, Set<String> last, int number) {
		Map<String, List<ShardId>> byTopic = new TreeMap<>();
		shards.forEach((shard) -> byTopic.computeIfAbsent(shard.topic(), (topic) -> new ArrayList<>()).add(shard));
		List<Figure> figures = figures();
		List<Part> parts = new ArrayList<>();
		byTopic.values().forEach((all) -> figures.forEach((figure) -> {
			List<ShardId> wanted = new ArrayList<>();
			List<ShardId> still = new ArrayList<>();
			all.forEach(
					(shard) -> (figure.isKnown.test(shard, this.activities.get(shard)) ? still : wanted).add(shard));
			if (!still.isEmpty()) {
				ShardId probe = still.remove(Math.floorMod(number, still.size()));
				wanted.add(probe);
				this.unread.add(new Unread(figure, probe, still));
			}
			parts.addAll(figure.parts(wanted));
		}));
		parts.sort(Comparator.comparing((part) -> last.contains(part.topic())));
		return parts;
	}

	/**
	 * Returns the parts that are left when all others are read: figures that are known,
	 * but may not be shown, because they could not be read now.
	 */
	List<Part> partsLeft() {
		List<Part> parts = new ArrayList<>();
		this.unread.forEach((left) -> {
			if (this.unreadable.contains(left.probe)) {
				parts.addAll(left.figure.parts(left.shards));
			}
			else {
				left.shards.forEach(left.figure.keep);
			}
		});
		this.unread.clear();
		return parts;
	}

	/**
	 * Returns the figures in the order in which they are read. Dead letters come before
	 * retries, because they are moved there: both are zero only if both are.
	 */
	private List<Figure> figures() {
		List<Figure> figures = new ArrayList<>();
		figures.add(new Figure(this.known::hasNoLag, this::keepLag,
				List.of(new PartFactory("The offsets of '%s'", this.withoutStore, this::readOffsets),
						new PartFactory("The lag of '%s'", this.withoutSource, this::readLags))));
		DeadLetterStore store = this.letters;
		if (store != null) {
			figures.add(new Figure(this.known::hasNoDeadLetters, (shard) -> this.deadLetters.put(shard, 0L),
					List.of(new PartFactory("The number of dead letters of '%s'", this.withoutStore,
							(part) -> this.deadLetters.putAll(store.countDeadLetters(part.shards()))))));
			figures.add(new Figure(this.known::hasNoRetries, (shard) -> this.retries.put(shard, 0L),
					List.of(new PartFactory("The number of retries of '%s'", this.withoutStore,
							(part) -> this.retries.putAll(store.countRetries(part.shards()))))));
		}
		return figures;
	}

	private void keepLag(ShardId shard) {
		LagReport lag = this.known.lag(shard);
		if (lag != null) {
			this.lags.put(shard, lag);
		}
	}

	/**
	 * Reads a part. Never throws.
	 * @param mayWait whether to wait for a reply; otherwise the part counts as unreadable
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
	 * A figure of shards. Immutable.
	 *
	 * @param isKnown whether that of a shard need not be read
	 * @param keep takes over that of a shard from the round before
	 * @param factories create what reads it, in this order
	 */
	private record Figure(BiPredicate<ShardId, @Nullable ShardActivity> isKnown, Consumer<ShardId> keep,
			List<PartFactory> factories) {

		List<Part> parts(List<ShardId> shards) {
			List<Part> parts = new ArrayList<>();
			for (int from = 0; from < shards.size(); from += SHARDS_PER_PART) {
				List<ShardId> some = shards.subList(from, Math.min(from + SHARDS_PER_PART, shards.size()));
				this.factories.forEach((factory) -> parts.add(factory.create(some)));
			}
			return parts;
		}

	}

	private record PartFactory(String name, Set<String> unanswered, Reading reading) {

		Part create(List<ShardId> shards) {
			return new Part(this.name.formatted(shards.get(0).topic()), shards, this.unanswered, this.reading);
		}

	}

	/**
	 * A figure that is known of shards of a topic.
	 *
	 * @param probe the shard of which it is read
	 * @param shards all others
	 */
	private record Unread(Figure figure, ShardId probe, List<ShardId> shards) {

	}

	/**
	 * A figure of some shards of a topic. Immutable.
	 *
	 * @param name what it is, as the beginning of a sentence
	 * @param unanswered the topics that do not reply where it is read from
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
