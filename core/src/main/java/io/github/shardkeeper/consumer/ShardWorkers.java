package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.ShardConsumers.State;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.coordination.member.ShardConsumption;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.output.OutboxUsage;
import io.github.shardkeeper.protocol.MeasuredLoads.ShardWork;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardActivity;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.ShardWorker;
import io.github.shardkeeper.worker.failure.ShardProblem;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Workers of the owned shards, and those that have not ended yet. Thread-safe.
 */
final class ShardWorkers implements ShardConsumption {

	private static final Logger logger = PrintableLogger.of(ShardWorkers.class);

	/** Only changed while this is locked. */
	private final Map<String, ShardHandler> handlers;

	private final WorkerContext context;

	private final SessionWatch session;

	private final Executor preparing;

	/** Restores what else the store may have lost. */
	private volatile Runnable onWriteBack = () -> {
	};

	private final ConsumerStates states;

	/**
	 * What operators want, {@code null} until it is known: shards that start before are
	 * paused. Guarded by this, as is whatever depends on it or on the states.
	 */
	private @Nullable Directives directives;

	/** Sorted, so that runs are repeatable. */
	private final Map<ShardId, ShardWorker> workers = new ConcurrentSkipListMap<>();

	private final Map<ShardId, ShardPreparation> preparations = new ConcurrentSkipListMap<>();

	/**
	 * Creates a set whose new workers wait for those of an earlier run.
	 * @param directives what operators want; {@code null} if {@link #directivesChanged}
	 * tells it
	 */
	ShardWorkers(Map<String, ShardHandler> handlers, WorkerContext context, SessionWatch session, Executor preparing,
			ConsumerStates states, @Nullable Directives directives, @Nullable ShardWorkers earlier) {
		this.states = states;
		this.directives = directives;
		this.preparing = preparing;
		this.session = session;
		this.handlers = new ConcurrentSkipListMap<>(handlers);
		this.context = context;
		if (earlier != null) {
			earlier.workers.forEach(this::keepUntilEnded);
			earlier.preparations.forEach(this::keepUntilEnded);
		}
	}

	private void keepUntilEnded(ShardId shard, ShardPreparation preparation) {
		this.preparations.put(shard, preparation);
		preparation.ended().thenRun(() -> this.preparations.remove(shard, preparation));
	}

	private void keepUntilEnded(ShardId shard, ShardWorker worker) {
		this.workers.put(shard, worker);
		worker.ended().thenRun(() -> this.workers.remove(shard, worker));
	}

	synchronized void add(Map<String, ShardHandler> added) {
		this.handlers.putAll(added);
	}

	/** Pauses the workers of a topic; their drain comes with the news of the topics. */
	synchronized void remove(String topic) {
		this.handlers.remove(topic);
		this.preparations.forEach((shard, preparation) -> {
			if (shard.topic().equals(topic)) {
				preparation.drop();
			}
		});
		statesChanged();
	}

	/** Returns whether a topic has a handler and is not stopped. */
	boolean takesPart(String topic) {
		return this.handlers.containsKey(topic) && this.states.takesPart(topic);
	}

	/**
	 * Gives the shard of a stopped or removed topic back, unhandled: the leader did not
	 * know yet.
	 */
	@Override
	public synchronized void start(ShardId shard, Token token, MemberId member) {
		ShardHandler handler = this.handlers.get(shard.topic());
		// Only the loop of the coordinator calls this.
		ShardWorker predecessor = this.workers.get(shard);
		if (handler == null) {
			logger.debug("{} was assigned, but this instance has no handler for its topic any more", shard);
			ended(predecessor, this.preparations.get(shard))
				.thenRun(() -> this.context.listener().workerEnded(shard, token, Token.NONE, false));
			return;
		}
		ShardWorker worker = new ShardWorker(shard, token, member, handler, this.context,
				ended(predecessor, this.preparations.get(shard)), isPaused(shard));
		keepUntilEnded(shard, worker);
		if (predecessor != null) {
			predecessor.abandon();
		}
		if (!takesPart(shard.topic())) {
			worker.drain();
		}
		// Its first turn may have found no lease, and a resume since then has not woken
		// it: it was not in the map.
		worker.wake();
	}

	private static CompletableFuture<Void> ended(@Nullable ShardWorker worker, @Nullable ShardPreparation preparation) {
		CompletableFuture<Void> ended = (worker != null) ? worker.ended() : CompletableFuture.completedFuture(null);
		if (preparation == null) {
			return ended;
		}
		preparation.drop();
		return CompletableFuture.allOf(ended, preparation.ended());
	}

	@Override
	public synchronized void prepare(ShardId shard, MemberId member) {
		ShardHandler handler = this.handlers.get(shard.topic());
		if (handler == null || !handler.prepares() || !takesPart(shard.topic())) {
			return;
		}
		ShardPreparation earlier = this.preparations.get(shard);
		if (earlier != null && !earlier.drop()) {
			// It is running. One that waited for it would replace it in the map.
			return;
		}
		logger.debug("Preparing {}", shard);
		keepUntilEnded(shard, ShardPreparation.begin(handler, this.context.group(), shard, member, this.preparing,
				ended(this.workers.get(shard), null)));
	}

	@Override
	public synchronized void directivesChanged(Directives changed) {
		this.directives = changed;
		statesChanged();
	}

	/** Pauses and resumes shards as the application wants it, too. */
	synchronized void statesChanged() {
		this.workers.forEach((shard, worker) -> worker.pause(isPaused(shard)));
	}

	/** A shard of a stopped or removed topic waits for its move. */
	private boolean isPaused(ShardId shard) {
		return this.directives == null || this.directives.pauseOf(shard) != null
				|| !this.handlers.containsKey(shard.topic()) || this.states.of(shard.topic()) != State.RUNNING;
	}

	@Override
	public void drain(ShardId shard) {
		ShardWorker worker = this.workers.get(shard);
		if (worker != null) {
			worker.drain();
		}
	}

	@Override
	public boolean cancelDrain(ShardId shard) {
		ShardWorker worker = this.workers.get(shard);
		if (worker == null || !worker.cancelDrain()) {
			return false;
		}
		logger.info("Keeping {}: its move was cancelled", shard);
		return true;
	}

	@Override
	public void attend(ShardId shard) {
		ShardWorker worker = this.workers.get(shard);
		if (worker != null) {
			worker.attend();
		}
	}

	@Override
	public void interrupt(ShardId shard, Duration draining) {
		ShardWorker worker = this.workers.get(shard);
		if (worker != null) {
			worker.interrupt(draining);
		}
		ShardPreparation preparation = this.preparations.get(shard);
		if (preparation != null) {
			logPreparation(shard, preparation);
			preparation.stop();
		}
	}

	private static void logPreparation(ShardId shard, ShardPreparation preparation) {
		String problem = preparation.problem();
		if (problem != null) {
			logger.warn("{} cannot be handed over: {}; interrupting it", shard, problem);
		}
	}

	@Override
	public void abandon(ShardId shard) {
		ShardWorker worker = this.workers.get(shard);
		if (worker != null) {
			worker.abandon();
		}
	}

	@Override
	public void forfeit(ShardId shard, Forfeit.Cause cause) {
		ShardWorker worker = this.workers.get(shard);
		if (worker != null) {
			worker.forfeit(cause);
		}
	}

	@Override
	public Set<ShardId> restorable() {
		Set<ShardId> restorable = new TreeSet<>();
		this.workers.forEach((shard, worker) -> {
			if (worker.isRestorable()) {
				restorable.add(shard);
			}
		});
		return restorable;
	}

	/** Abandons every shard, because the instance stops. */
	void abandonAll() {
		this.preparations.values().forEach(ShardPreparation::stop);
		this.workers.values().forEach(ShardWorker::abandon);
	}

	@Override
	public void suspend() {
		try {
			// First, because it may end the process.
			this.session.lost();
		}
		finally {
			this.workers.values().forEach(ShardWorker::suspend);
		}
	}

	@Override
	public void resume() {
		this.session.held();
		this.workers.values().forEach(ShardWorker::wake);
	}

	/** Sets an action, which must not block, for when the store may have lost writes. */
	void onWriteBack(Runnable action) {
		this.onWriteBack = action;
	}

	@Override
	public void writeBack() {
		this.onWriteBack.run();
		this.workers.values().forEach(ShardWorker::writeBack);
	}

	/**
	 * Ends the workers whose accepted commits the application's database has lost.
	 * @throws io.github.shardkeeper.StoreUnavailableException if it does not reply
	 */
	void compareCommits() {
		Map<ShardId, ShardWorker> compared = new TreeMap<>();
		Map<ShardId, LastCommit> accepted = new TreeMap<>();
		this.workers.forEach((shard, worker) -> {
			LastCommit last = worker.acceptedByDatabase();
			if (last != null) {
				compared.put(shard, worker);
				accepted.put(shard, last);
			}
		});
		if (accepted.isEmpty()) {
			return;
		}
		// Read after that: it has these commits or later ones, unless it has lost some.
		this.context.checkpoints().commits(accepted.keySet()).forEach((shard, stored) -> {
			if (stored.lacks(Objects.requireNonNull(accepted.get(shard)))) {
				Objects.requireNonNull(compared.get(shard)).commitsLost();
			}
		});
	}

	@Override
	public List<ShardWork> work(MonotonicTime now) {
		List<ShardWork> work = new ArrayList<>();
		for (ShardWorker worker : this.workers.values()) {
			ShardWork done = worker.work(now);
			if (done != null) {
				work.add(done);
			}
		}
		return work;
	}

	@Override
	public Map<ShardId, String> problems() {
		return ShardProblem.texts(shardProblems());
	}

	Map<ShardId, ShardProblem> shardProblems() {
		Map<ShardId, ShardProblem> problems = new TreeMap<>();
		this.context.reader().problems().forEach((shard, text) -> problems.put(shard, ShardProblem.alarm(text)));
		this.workers.forEach((shard, worker) -> {
			// The worker waits for a running preparation.
			ShardPreparation preparation = this.preparations.get(shard);
			String waiting = (preparation != null) ? preparation.problem() : null;
			ShardProblem problem = (waiting != null) ? ShardProblem.alarm(waiting) : worker.problem();
			if (problem != null) {
				problems.put(shard, problem);
			}
		});
		return problems;
	}

	/** Returns {@link ShardWorker#outbox()} of a shard, {@code null} without a worker. */
	OutboxUsage.@Nullable Waiting outbox(ShardId shard) {
		ShardWorker worker = this.workers.get(shard);
		return (worker != null) ? worker.outbox() : null;
	}

	/**
	 * Returns {@link ShardWorker#activity()} of a shard, {@code null} without a worker.
	 */
	@Nullable ShardActivity activity(ShardId shard) {
		ShardWorker worker = this.workers.get(shard);
		return (worker != null) ? worker.activity() : null;
	}

	/** Wakes workers that nothing else would wake. */
	void rescue() {
		this.workers.values().forEach(ShardWorker::rescue);
	}

	/** Returns a future that completes once all current workers have ended. */
	CompletableFuture<Void> ended() {
		return ended((shard) -> true);
	}

	/**
	 * Returns a future that completes once all current workers and preparations of a
	 * topic have ended.
	 */
	CompletableFuture<Void> ended(String topic) {
		CompletableFuture<?>[] prepared = this.preparations.entrySet()
			.stream()
			.filter((preparation) -> preparation.getKey().topic().equals(topic))
			.map((preparation) -> preparation.getValue().ended())
			.toArray(CompletableFuture[]::new);
		return CompletableFuture.allOf(ended((shard) -> shard.topic().equals(topic)),
				CompletableFuture.allOf(prepared));
	}

	private CompletableFuture<Void> ended(Predicate<ShardId> which) {
		return CompletableFuture.allOf(this.workers.entrySet()
			.stream()
			.filter((worker) -> which.test(worker.getKey()))
			.map((worker) -> worker.getValue().ended())
			.toArray(CompletableFuture[]::new));
	}

	boolean owns(ShardId shard) {
		return this.workers.containsKey(shard);
	}

	/** Returns the handlers by topic, as they are now. */
	Map<String, ShardHandler> handlers() {
		return Collections.unmodifiableMap(this.handlers);
	}

	Iterable<ShardId> shards() {
		return this.workers.keySet();
	}

}
