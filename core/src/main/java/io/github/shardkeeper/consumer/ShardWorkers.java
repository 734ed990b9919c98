package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.coordination.ShardConsumption;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.protocol.HoldingAction.Forfeit;
import io.github.shardkeeper.protocol.MeasuredLoads.ShardWork;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.ShardWorker;
import io.github.shardkeeper.worker.WorkerContext;

/**
 * The workers of an instance: one for each shard that it owns, and one more for each that
 * has not ended yet. Thread-safe.
 */
final class ShardWorkers implements ShardConsumption {

	private static final Logger logger = LoggerFactory.getLogger(ShardWorkers.class);

	private final Map<String, ShardHandler> handlers;

	private final WorkerContext context;

	private final SessionWatch session;

	private final Executor preparing;

	/** What else the store may have lost. */
	private volatile Runnable onWriteBack = () -> {
	};

	/** In an order, so that all goes the same way every time. */
	private final Map<ShardId, ShardWorker> workers = new ConcurrentSkipListMap<>();

	private final Map<ShardId, ShardPreparation> preparations = new ConcurrentSkipListMap<>();

	/**
	 * Creates it without workers of its own.
	 * @param handlers the handlers by topic
	 * @param context what the workers share
	 * @param session tells when the session is lost
	 * @param preparing runs preparations
	 * @param earlier those of an earlier run, of which some may not have ended: a new
	 * worker waits for the one before it
	 */
	ShardWorkers(Map<String, ShardHandler> handlers, WorkerContext context, SessionWatch session, Executor preparing,
			@Nullable ShardWorkers earlier) {
		this.preparing = preparing;
		this.session = session;
		this.handlers = handlers;
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

	@Override
	public void start(ShardId shard, Token token, MemberId member) {
		ShardHandler handler = this.handlers.get(shard.topic());
		if (handler == null) {
			logger.error("Got {} although this instance has no handler for its topic", shard);
			return;
		}
		logger.info("Assigned {} (token {})", shard, token);
		// The coordinator's loop is the only caller, so nothing comes in between.
		ShardWorker predecessor = this.workers.get(shard);
		ShardWorker worker = new ShardWorker(shard, token, member, handler, this.context,
				ended(predecessor, this.preparations.get(shard)));
		keepUntilEnded(shard, worker);
		if (predecessor != null) {
			predecessor.abandon();
		}
		// It has begun already, and may have found that nothing is handed out; whoever
		// said meanwhile that it is again did not see it.
		worker.wake();
	}

	/** Completes when neither does anything for its shard any more. */
	private static CompletableFuture<Void> ended(@Nullable ShardWorker worker, @Nullable ShardPreparation preparation) {
		CompletableFuture<Void> ended = (worker != null) ? worker.ended() : CompletableFuture.completedFuture(null);
		if (preparation == null) {
			return ended;
		}
		preparation.drop();
		return CompletableFuture.allOf(ended, preparation.ended());
	}

	@Override
	public void prepare(ShardId shard, MemberId member) {
		ShardHandler handler = this.handlers.get(shard.topic());
		if (handler == null || !handler.prepares()) {
			return;
		}
		ShardPreparation earlier = this.preparations.get(shard);
		if (earlier != null && !earlier.drop()) {
			// It prepares already; and one that waited for it would hide it from a start.
			return;
		}
		logger.debug("Prepares for {}", shard);
		keepUntilEnded(shard, ShardPreparation.begin(handler, this.context.group(), shard, member, this.preparing,
				ended(this.workers.get(shard), null)));
	}

	@Override
	public void drain(ShardId shard) {
		ShardWorker worker = this.workers.get(shard);
		if (worker != null) {
			logger.info("Revoked {}", shard);
			worker.drain();
		}
	}

	@Override
	public boolean cancelDrain(ShardId shard) {
		ShardWorker worker = this.workers.get(shard);
		if (worker == null || !worker.cancelDrain()) {
			return false;
		}
		logger.info("Keeps {}: its move was cancelled", shard);
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
			logger.info("Lost {}", shard);
			worker.abandon();
		}
	}

	@Override
	public void forfeit(ShardId shard, Forfeit.Cause cause) {
		ShardWorker worker = this.workers.get(shard);
		if (worker != null) {
			logger.info("Lost {}", shard);
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

	/** Every shard is lost, because the instance stops. */
	void abandonAll() {
		this.preparations.values().forEach(ShardPreparation::stop);
		this.workers.values().forEach(ShardWorker::abandon);
	}

	@Override
	public void suspend() {
		try {
			// First of all: the application may want nothing to go on.
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

	/** Calls somebody who must not wait when the store may have lost writes. */
	void onWriteBack(Runnable action) {
		this.onWriteBack = action;
	}

	@Override
	public void writeBack() {
		this.onWriteBack.run();
		this.workers.values().forEach(ShardWorker::writeBack);
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
		return ShardWorker.Problem.texts(shardProblems());
	}

	/** The same, with what of it somebody has to look at. */
	Map<ShardId, ShardWorker.Problem> shardProblems() {
		Map<ShardId, ShardWorker.Problem> problems = new TreeMap<>();
		this.context.reader().problems().forEach((shard, text) -> problems.put(shard, ShardWorker.Problem.alarm(text)));
		this.workers.forEach((shard, worker) -> {
			// A worker and a preparation that runs: the one waits for the other.
			ShardPreparation preparation = this.preparations.get(shard);
			String waiting = (preparation != null) ? preparation.problem() : null;
			ShardWorker.Problem problem = (waiting != null) ? ShardWorker.Problem.alarm(waiting) : worker.problem();
			if (problem != null) {
				problems.put(shard, problem);
			}
		});
		return problems;
	}

	/** Has those go on that nothing else would wake any more. */
	void rescue() {
		this.workers.values().forEach(ShardWorker::rescue);
	}

	/** Completes when those that are there now have ended. */
	CompletableFuture<Void> ended() {
		return CompletableFuture
			.allOf(this.workers.values().stream().map(ShardWorker::ended).toArray(CompletableFuture[]::new));
	}

	/** The shards that have a worker. */
	Iterable<ShardId> shards() {
		return this.workers.keySet();
	}

}
