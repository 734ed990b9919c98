package io.github.shardkeeper.operations;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardPositions.Seek;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.operations.request.Operation;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.operations.request.OperationRequest;
import io.github.shardkeeper.operations.request.RequestedShards;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.source.GroupPositions.Position;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRegistry;

/**
 * Moves a shard, or all shards of a topic, to another position, or says what that would
 * mean. Thread-safe.
 */
final class SeekOperation extends Operation {

	/** Number of shards that the effects name; each costs a few commands. */
	private static final int MOST_NAMED = 100;

	private static final String AFTER = "after ";

	private static final String POSITIONS = "'earliest', 'latest', a time such as 2026-11-21T10:00:00Z, 'group:' and the name "
			+ "of a consumer group, an offset, or 'after' an offset";

	private final ShardPositions positions;

	private final CheckpointStore checkpoints;

	private final SourceRegistry sources;

	private final RequestedShards shards;

	private final Set<String> broadcast;

	private final GroupReporter reporter;

	/**
	 * Creates the operation.
	 * @param broadcast the topics that every instance consumes for itself
	 * @param reporter knows which shards are completed
	 */
	SeekOperation(ShardPositions positions, CheckpointStore checkpoints, SourceRegistry sources, RequestedShards shards,
			Set<String> broadcast, GroupReporter reporter) {
		super("seek", Set.of(Level.TOPIC, Level.SHARD), List.of("to", "clearState"));
		this.positions = positions;
		this.checkpoints = checkpoints;
		this.sources = sources;
		this.shards = shards;
		this.broadcast = broadcast;
		this.reporter = reporter;
	}

	@Override
	public List<String> perform(OperationRequest request) {
		String topic = request.requiredTopic();
		ShardId shard = request.shard();
		SortedSet<ShardId> all = this.shards.of(topic);
		if (shard != null) {
			this.shards.require(shard);
		}
		Set<ShardId> completed = completed(topic, all);
		StartPosition position = position(request);
		boolean clearsState = request.flag("clearState");
		SortedSet<ShardId> moved = new TreeSet<>((shard != null) ? List.of(shard) : all);
		List<ShardId> named = moved.stream().filter((one) -> !completed.contains(one)).limit(MOST_NAMED).toList();
		Map<ShardId, Offset> present = this.checkpoints.offsets(named);
		List<String> effects = new ArrayList<>();
		if (request.dryRun()) {
			Map<ShardId, Position> targets = refusing(position, () -> this.sources.resolve(position, moved));
			named.forEach((one) -> effects.add(change(one, present.get(one), targets.get(one))));
			Set<ShardId> ended = new TreeSet<>(moved);
			ended.retainAll(completed);
			addOthers(moved.size() - ended.size() - named.size(), effects);
			addCompleted(ended, effects);
		}
		else {
			Seek seek = request(topic, shard, position, clearsState);
			named.stream()
				.filter((one) -> seek.requests().containsKey(one))
				.forEach((one) -> effects
					.add("%s, at %s until now, continues from %s".formatted(one, text(present.get(one)), position)));
			addOthers(seek.requests().size() - effects.size(), effects);
			addCompleted(seek.completedShards(), effects);
		}
		effects.add(clearsState ? "The state is cleared" : "The state is kept");
		return effects;
	}

	private Set<ShardId> completed(String topic, Set<ShardId> all) {
		Set<ShardId> completed = new TreeSet<>();
		if (!this.broadcast.contains(topic)) {
			this.reporter.picture().shards().values().forEach((ownership) -> {
				if (ownership.phase() == Phase.COMPLETED && all.contains(ownership.shard())) {
					completed.add(ownership.shard());
				}
			});
		}
		return completed;
	}

	private static StartPosition position(OperationRequest request) {
		String text = request.required("to", "earliest").strip();
		try {
			return text.startsWith(AFTER) ? StartPosition.after(new Offset(text.substring(AFTER.length()).strip()))
					: StartPosition.parse(text);
		}
		catch (IllegalArgumentException ex) {
			throw OperationRequest.malformed("to", text, POSITIONS);
		}
	}

	private Seek request(String topic, @Nullable ShardId shard, StartPosition position, boolean clearsState) {
		if (shard != null) {
			return refusing(position,
					() -> clearsState ? this.positions.reset(shard, position) : this.positions.seek(shard, position));
		}
		return refusing(position,
				() -> clearsState ? this.positions.reset(topic, position) : this.positions.seek(topic, position));
	}

	/** The source refuses offsets that it cannot have; a misspelt time looks like one. */
	private static <T> T refusing(StartPosition position, Supplier<T> call) {
		try {
			return call.get();
		}
		catch (IllegalArgumentException ex) {
			boolean offset = position instanceof StartPosition.From || position instanceof StartPosition.After;
			throw OperationRefusedException
				.malformed(ex.getMessage() + (offset ? ". Write %s as 'to'".formatted(POSITIONS) : ""));
		}
	}

	private String change(ShardId shard, @Nullable Offset present, @Nullable Position target) {
		Offset before = (target != null) ? target.before() : null;
		String obstacle = (target != null) ? target.obstacle() : null;
		String change = "%s, at %s now, would continue after %s: %s".formatted(shard, text(present), text(before),
				(present != null && before != null) ? distance(shard, present, before) : RecordDistance.UNKNOWN);
		return (obstacle != null) ? "%s. Refused for now: %s".formatted(change, obstacle) : change;
	}

	private String distance(ShardId shard, Offset present, Offset before) {
		try {
			return RecordDistance.text((offset) -> records(shard, offset), present, before);
		}
		catch (StoreUnavailableException | IllegalArgumentException ex) {
			return "%s (%s)".formatted(RecordDistance.UNKNOWN, ex.getMessage());
		}
	}

	private @Nullable Long records(ShardId shard, Offset offset) {
		ShardSource.Lag lag = this.sources.of(shard.topic()).lag(shard, offset);
		return (lag != null) ? lag.records() : null;
	}

	private static String text(@Nullable Offset offset) {
		return (offset != null) ? offset.value() : "no offset";
	}

	private static void addCompleted(Collection<ShardId> completed, List<String> effects) {
		if (!completed.isEmpty()) {
			effects.add("Nothing changes for %d completed shards: %s".formatted(completed.size(),
					new TreeSet<>(completed).stream()
						.limit(MOST_NAMED)
						.map(ShardId::toString)
						.collect(Collectors.joining(", "))));
		}
	}

	private static void addOthers(int others, List<String> effects) {
		if (others > 0) {
			effects.add("and %d more shards".formatted(others));
		}
	}

}
