package io.github.shardkeeper.consumer;

import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardConsumers.State;
import io.github.shardkeeper.output.OutboxUsage;
import io.github.shardkeeper.shard.OutboxReport;
import io.github.shardkeeper.shard.ShardActivity;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.failure.ShardProblem;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * What people and tools see of a run: its topics and shards, what keeps them from being
 * consumed, and what has been done. Thread-safe.
 */
final class ConsumptionView {

	private static final String PAUSED = "The application has paused the topic on this instance (ShardConsumers.pause)";

	private final ShardWorkers workers;

	private final BroadcastConsumption broadcast;

	private final ShardReaders readers;

	private final WorkerContext context;

	private final SourceRegistry sources;

	private final ConsumerStates states;

	ConsumptionView(ShardWorkers workers, BroadcastConsumption broadcast, ShardReaders readers, WorkerContext context,
			SourceRegistry sources, ConsumerStates states) {
		this.workers = workers;
		this.broadcast = broadcast;
		this.readers = readers;
		this.context = context;
		this.sources = sources;
		this.states = states;
	}

	/** Returns all topics that have a handler, stopped and broadcast ones included. */
	Set<String> allTopics() {
		Set<String> topics = new TreeSet<>(this.workers.handlers().keySet());
		topics.addAll(this.broadcast.workers().handlers().keySet());
		return topics;
	}

	Set<String> topics() {
		return Set.copyOf(this.workers.handlers().keySet());
	}

	Set<String> broadcastTopics() {
		return Set.copyOf(this.broadcast.workers().handlers().keySet());
	}

	Map<String, State> restingTopics() {
		Map<String, State> resting = new TreeMap<>();
		allTopics().forEach((topic) -> resting.put(topic, this.states.of(topic)));
		resting.values().removeIf(State.RUNNING::equals);
		return resting;
	}

	Map<String, String> topicProblems() {
		return ofTopics(this.sources.problems());
	}

	Map<String, String> throttled() {
		return ofTopics(this.sources.throttled());
	}

	private Map<String, String> ofTopics(Map<String, String> byTopic) {
		Map<String, String> own = new TreeMap<>(byTopic);
		own.keySet().retainAll(allTopics());
		return own;
	}

	Map<ShardId, String> problems() {
		return texts(shardProblems(), allShards());
	}

	/** Returns the problems of the group's shards, for the other instances. */
	Map<ShardId, String> problemsOfGroup() {
		return texts(shardProblemsOfGroup(), this.workers.shards());
	}

	private Map<ShardId, String> texts(Map<ShardId, ShardProblem> problems, Iterable<ShardId> shards) {
		Map<ShardId, String> texts = ShardProblem.texts(problems);
		shards.forEach((shard) -> {
			if (this.states.of(shard.topic()) == State.PAUSED) {
				texts.putIfAbsent(shard, PAUSED);
			}
		});
		return texts;
	}

	Map<ShardId, ShardProblem> shardProblems() {
		Map<ShardId, ShardProblem> problems = shardProblemsOfGroup();
		problems.putAll(this.broadcast.problems());
		addUnreadable(this.broadcast.workers(), problems);
		return problems;
	}

	private Map<ShardId, ShardProblem> shardProblemsOfGroup() {
		Map<ShardId, ShardProblem> problems = this.workers.shardProblems();
		addUnreadable(this.workers, problems);
		return problems;
	}

	private void addUnreadable(ShardWorkers workers, Map<ShardId, ShardProblem> problems) {
		workers.shards().forEach((shard) -> {
			ShardProblem noReads = this.readers.problem(shard.topic());
			if (noReads != null) {
				problems.putIfAbsent(shard, noReads);
			}
		});
	}

	@Nullable OutboxReport outbox(ShardId shard) {
		OutboxUsage.Waiting waiting = this.workers.outbox(shard);
		if (waiting == null) {
			return null;
		}
		MonotonicTime since = waiting.since();
		return new OutboxReport(waiting.records(), waiting.bytes(),
				(since != null) ? this.context.wallClock()
					.instant()
					.minus(since.until(this.context.clock().now()))
					.truncatedTo(ChronoUnit.MILLIS) : null);
	}

	@Nullable ShardActivity activity(ShardId shard) {
		ShardActivity activity = this.workers.activity(shard);
		return (activity != null) ? activity : this.broadcast.workers().activity(shard);
	}

	Set<ShardId> shards() {
		Set<ShardId> shards = new TreeSet<>();
		this.workers.shards().forEach(shards::add);
		return shards;
	}

	Set<ShardId> allShards() {
		Set<ShardId> shards = shards();
		this.broadcast.workers().shards().forEach(shards::add);
		return shards;
	}

	boolean owns(ShardId shard) {
		return this.workers.owns(shard);
	}

}
