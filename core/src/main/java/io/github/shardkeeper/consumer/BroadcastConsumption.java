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
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.coordination.ShardConsumption;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.worker.ShardWorker;
import io.github.shardkeeper.worker.WorkerContext;

/**
 * Consumes every shard of the broadcast topics, for this instance alone: nobody assigns
 * them, nobody takes them away, and no lease ends.
 * <p>
 * Each start has tokens higher than those before, by the clock of this machine. So a
 * second process under the same instance id takes the checkpoints over, and the first one
 * ends with its next commit. It does not fight back, but says what is wrong. Thread-safe.
 */
final class BroadcastConsumption implements ShardConsumption.Listener {

	private static final Logger logger = LoggerFactory.getLogger(BroadcastConsumption.class);

	private final String instance;

	private final InstantSource clock;

	private final ShardWorkers workers;

	private final MemberId member;

	private final Set<ShardId> begun = new HashSet<>();

	private final Set<ShardId> completed = new HashSet<>();

	/** Why shards are not consumed any more. */
	private final Map<ShardId, String> ends = new TreeMap<>();

	private Map<String, TopicShards> topics = Map.of();

	private Token last = Token.NONE;

	private boolean stopping;

	/**
	 * Creates it; consumes nothing yet.
	 * @param handlers the handlers by topic
	 * @param context what the workers of the instance share
	 * @param instance the instance's id, the same after a restart
	 * @param earlier the workers of an earlier run, which may not have ended
	 */
	BroadcastConsumption(Map<String, ShardHandler> handlers, WorkerContext context, SessionWatch session,
			WorkerThreads.Running threads, String instance, @Nullable ShardWorkers earlier) {
		this.instance = instance;
		this.clock = context.wallClock();
		this.workers = new ShardWorkers(handlers, context.forBroadcast(this), session, threads.preparing(), earlier);
		this.member = MemberId.of(instance, Long.toString(nextToken(Token.NONE).value(), Character.MAX_RADIX));
	}

	/** Its workers, for whoever starts the next run. */
	ShardWorkers workers() {
		return this.workers;
	}

	/**
	 * Consumes what is not consumed yet. Shards are never taken back: those that have
	 * begun come to their end when their reader says so.
	 * @param current the broadcast topics with their shards as they are now
	 */
	synchronized void shardsChanged(Map<String, TopicShards> current) {
		this.topics = Map.copyOf(current);
		if (!this.stopping) {
			this.topics.forEach((topic, shards) -> shards.forEach(topic, (shard) -> {
				if (!this.begun.contains(shard) && parentsAreDone(shard, shards)) {
					begin(shard, Token.NONE);
				}
			}));
		}
	}

	/** Parents that cannot be read any more do not hold their children up. */
	private boolean parentsAreDone(ShardId shard, TopicShards shards) {
		return shards.parents(shard.id())
			.stream()
			.noneMatch((parent) -> shards.contains(parent)
					&& !this.completed.contains(new ShardId(shard.topic(), parent)));
	}

	private void begin(ShardId shard, Token above) {
		this.begun.add(shard);
		this.workers.start(shard, nextToken(above), this.member);
	}

	private Token nextToken(Token above) {
		long micros = ChronoUnit.MICROS.between(Instant.EPOCH, this.clock.instant());
		this.last = new Token(Math.max(Math.max(this.last.value(), above.value()) + 1, micros));
		return this.last;
	}

	@Override
	public synchronized void workerEnded(ShardId shard, Token token, Token fence, boolean whole) {
		if (whole) {
			this.completed.add(shard);
			shardsChanged(this.topics);
		}
		else if (!this.stopping && fence.compareTo(Token.NONE) > 0) {
			// Not acquired at all: the clock was ahead when the one before began.
			begin(shard, fence);
		}
		else if (!this.stopping) {
			String problem = ("Another process, or another application context of this one, consumes under the instance id '%s' now, so this one has stopped. "
					+ "Give each instance its own 'shardkeeper.instance-id', and restart this one")
				.formatted(this.instance);
			logger.error("{} is not consumed here any more. {}", shard, problem);
			this.ends.put(shard, problem);
		}
	}

	/** Looks at the data plane of shards. */
	void attend(Collection<ShardId> shards) {
		shards.forEach(this.workers::attend);
	}

	/** What keeps shards from being consumed. */
	Map<ShardId, ShardWorker.Problem> problems() {
		Map<ShardId, ShardWorker.Problem> problems = new TreeMap<>(this.workers.shardProblems());
		synchronized (this) {
			this.ends.forEach((shard, text) -> problems.put(shard, ShardWorker.Problem.alarm(text)));
		}
		return problems;
	}

	/** Has everything put away. */
	void drain() {
		synchronized (this) {
			this.stopping = true;
		}
		this.workers.shards().forEach(this.workers::drain);
	}

	/**
	 * Waits for the end of a drain. Shortly before the time is over the calls that run
	 * are interrupted, so that what was handled can still be committed.
	 */
	void awaitEnd(Duration timeout) {
		Duration patience = timeout.multipliedBy(9).dividedBy(10);
		try {
			if (!hasEndedWithin(patience)) {
				this.workers.shards().forEach((shard) -> this.workers.interrupt(shard, patience));
				if (!hasEndedWithin(timeout.minus(patience))) {
					logger.warn("Could not put away all shards of the broadcast topics in time");
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
