package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.coordination.member.ShardConsumption;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.worker.failure.ShardProblem;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Consumes every shard of the broadcast topics, for this instance alone and without a
 * lease. Tokens come from the clock of this machine, so each start has higher ones than
 * the starts before. A second process with the same instance id acquires the shards; the
 * first one stops at its next commit and reports the problem. Thread-safe.
 */
final class BroadcastConsumption implements ShardConsumption.Listener {

	private static final Logger logger = PrintableLogger.of(BroadcastConsumption.class);

	private final String instance;

	private final InstantSource clock;

	private final ShardWorkers workers;

	private final MemberId member;

	private final Set<ShardId> started = new HashSet<>();

	private final Set<ShardId> completed = new HashSet<>();

	/**
	 * Started shards of stopped and removed topics, and those that the exact list of
	 * their topic leaves out; they are ending.
	 */
	private final Set<ShardId> withdrawn = new HashSet<>();

	/** Problems of shards that are not consumed any more. */
	private final Map<ShardId, String> fenced = new TreeMap<>();

	private Map<String, TopicShards> topics = Map.of();

	private Token last = Token.NONE;

	private boolean stopping;

	/** Creates a consumption; workers of an {@code earlier} run may not have ended. */
	BroadcastConsumption(Map<String, ShardHandler> handlers, WorkerContext context, SessionWatch session,
			ConsumerRuntime.Running threads, String instance, ConsumerStates states, @Nullable ShardWorkers earlier) {
		this.instance = instance;
		this.clock = context.wallClock();
		this.workers = new ShardWorkers(handlers, context.forBroadcast(this), session, threads.preparing(), states,
				Directives.NONE, earlier);
		this.member = MemberId.of(instance, Long.toString(nextToken(Token.NONE).value(), Character.MAX_RADIX));
	}

	ShardWorkers workers() {
		return this.workers;
	}

	/**
	 * Starts new shards of topics that are not stopped, and ends those of stopped and
	 * removed ones. Those that no longer exist end when their reader reports it, or now
	 * if the list of their topic is exact.
	 */
	synchronized void shardsChanged(Map<String, TopicShards> current) {
		this.topics = Map.copyOf(current);
		if (!this.stopping) {
			this.topics.forEach((topic, shards) -> shards.forEach(topic, (shard) -> {
				if (this.workers.takesPart(topic) && !this.started.contains(shard)
						&& parentsAreCompleted(shard, shards)) {
					start(shard, Token.NONE);
				}
			}));
			withdraw();
		}
	}

	private void withdraw() {
		for (ShardId shard : this.started) {
			TopicShards listed = this.topics.getOrDefault(shard.topic(), TopicShards.NONE);
			boolean gone = listed.isExact() && !listed.contains(shard.id());
			if ((gone || !this.workers.takesPart(shard.topic())) && this.withdrawn.add(shard)) {
				this.workers.drain(shard);
			}
		}
	}

	/** A parent that does not exist any more does not count. */
	private boolean parentsAreCompleted(ShardId shard, TopicShards shards) {
		return shards.parents(shard.id())
			.stream()
			.noneMatch((parent) -> shards.contains(parent)
					&& !this.completed.contains(new ShardId(shard.topic(), parent)));
	}

	private void start(ShardId shard, Token above) {
		this.started.add(shard);
		this.workers.start(shard, nextToken(above), this.member);
	}

	private Token nextToken(Token above) {
		long micros = ChronoUnit.MICROS.between(Instant.EPOCH, this.clock.instant());
		this.last = new Token(Math.max(Math.max(this.last.value(), above.value()) + 1, micros));
		return this.last;
	}

	@Override
	public synchronized void workerEnded(ShardId shard, Token token, Token fence, boolean shardCompleted) {
		// A topic without a handler any more has not been withdrawn yet.
		if (this.withdrawn.remove(shard) || !this.workers.takesPart(shard.topic())) {
			this.started.remove(shard);
			shardsChanged(this.topics);
		}
		else if (shardCompleted) {
			this.completed.add(shard);
			shardsChanged(this.topics);
		}
		else if (!this.stopping && fence.compareTo(Token.NONE) > 0) {
			// Refused because the clock was ahead when the earlier owner started.
			start(shard, fence);
		}
		else if (!this.stopping) {
			String problem = ("Another process, or another application context of this process, consumes with the instance id '%s', so this one has stopped. "
					+ "Give each instance its own 'shardkeeper.instance-id', and restart this one")
				.formatted(this.instance);
			logger.error("{} is no longer consumed by this instance. {}", shard, problem);
			this.fenced.put(shard, problem);
		}
	}

	void attend(Collection<ShardId> shards) {
		shards.forEach(this.workers::attend);
	}

	Map<ShardId, ShardProblem> problems() {
		Map<ShardId, ShardProblem> problems = new TreeMap<>(this.workers.shardProblems());
		synchronized (this) {
			this.fenced.forEach((shard, text) -> problems.put(shard, ShardProblem.alarm(text)));
		}
		return problems;
	}

	/** Begins to commit and end all shards. */
	void drain() {
		synchronized (this) {
			this.stopping = true;
		}
		this.workers.shards().forEach(this.workers::drain);
	}

	/**
	 * Waits for the end of a drain. Interrupts running calls shortly before the timeout,
	 * so that handled records can still be committed.
	 */
	void awaitEnd(Duration timeout) {
		Duration undisturbed = timeout.multipliedBy(9).dividedBy(10);
		try {
			if (!hasEndedWithin(undisturbed)) {
				this.workers.shards().forEach((shard) -> this.workers.interrupt(shard, undisturbed));
				if (!hasEndedWithin(timeout.minus(undisturbed))) {
					logger.warn("Not all shards of the broadcast topics were committed before the timeout");
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private boolean hasEndedWithin(Duration timeout) throws InterruptedException {
		try {
			this.workers.ended().get(Math.max(timeout.toNanos(), 0), TimeUnit.NANOSECONDS);
			return true;
		}
		catch (TimeoutException ex) {
			return false;
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
