package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardConsumers.State;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * A run of this instance, from its start to its stop: one reader for each source, one
 * worker for each shard, their loops and threads. Handlers may come and go meanwhile.
 * Thread-safe; begins, changes its handlers and ends on one thread at a time.
 */
final class Consumption {

	private static final String RESCUE = "shardkeeper-rescue";

	private static final String COMPARISON = "shardkeeper-commit-comparison";

	private static final Duration RESCUE_PERIOD = Duration.ofSeconds(1);

	private final InstanceParts instance;

	private final ShardReaders readers;

	private final ConsumerRuntime.Running threads;

	private final WorkerContext context;

	private final ShardWorkers workers;

	private final BroadcastConsumption broadcast;

	private final TopicWatch topics;

	private final ConsumedSince since;

	private final ConsumptionView view;

	private Loops.@Nullable Loop rescue;

	private Loops.@Nullable Loop comparison;

	/** Whether handlers that are registered now have to wait for the next start. */
	private boolean stopping;

	private Consumption(InstanceParts instance, ShardReaders readers, ConsumerRuntime.Running threads,
			Map<String, ShardHandler> handlers, @Nullable Consumption earlier) {
		this.instance = instance;
		this.readers = readers;
		this.threads = threads;
		this.context = instance.workerContext(this.threads, this.readers);
		handlers.keySet().forEach(this.context::meters);
		SessionWatch session = new SessionWatch(instance.coordinator()::member, instance.events());
		this.workers = new ShardWorkers(instance.settings().coordinated(handlers), this.context, session,
				this.threads.preparing(), instance.states(), null, (earlier != null) ? earlier.workers : null);
		this.broadcast = new BroadcastConsumption(instance.settings().broadcast(handlers), this.context, session,
				this.threads, instance.coordinator().settings().instance(), instance.states(),
				(earlier != null) ? earlier.broadcast.workers() : null);
		this.topics = new TopicWatch(instance, this.workers, this.broadcast);
		this.since = new ConsumedSince(instance.startPositions(), instance.states(), this.context);
		this.view = new ConsumptionView(this.workers, this.broadcast, this.readers, this.context, instance.sources(),
				instance.states());
		this.workers.onWriteBack(() -> this.since.keep(this.view.allTopics()));
	}

	/**
	 * Creates a run that has not begun.
	 * @param handlers the handlers by topic, at least one
	 * @param earlier the run before; some of its workers may not have ended
	 */
	static Consumption create(InstanceParts instance, Map<String, ShardHandler> handlers,
			@Nullable Consumption earlier) {
		ShardReaders readers = new ShardReaders(instance.sources().having(handlers.keySet()), instance.sources()::name,
				instance.startPositions(), instance.clock());
		ConsumerRuntime.Running threads = null;
		try {
			threads = instance.threads().start();
			return new Consumption(instance, readers, threads, handlers, earlier);
		}
		catch (RuntimeException | Error ex) {
			readers.close();
			if (threads != null) {
				threads.shutdown().run();
			}
			throw ex;
		}
	}

	/**
	 * Watches for changes of shards, and then joins the group: a member that cannot
	 * consume would keep its shards from others.
	 */
	void begin() {
		Set<String> all = this.view.allTopics();
		Loops loops = this.instance.runtime().loops();
		// Without a coordinator these loops have to keep the process running.
		this.readers.startLoops(loops, !this.topics.isCoordinated());
		this.rescue = loops.start(RESCUE, this::rescue);
		compareCommits(this.workers.handlers().keySet());
		this.instance.agreement().begin(all, this.topics::shardsChanged);
		if (this.instance.threads().warmsUp()) {
			WarmUp.begin(this.context, this.context.settings(all.iterator().next()));
		}
		this.since.begin(all);
		this.topics.watch(all);
		if (this.topics.isCoordinated()) {
			this.topics.join();
		}
		// Changes between the start of the coordinator and now.
		this.topics.shardsChanged();
	}

	private MonotonicTime rescue() {
		this.workers.rescue();
		this.broadcast.workers().rescue();
		// An own source is asked for problems here: last, because it may hang.
		this.instance.coordinator().shareProblems(this.view.problemsOfGroup());
		return this.instance.clock().now().plus(RESCUE_PERIOD);
	}

	/** Compares commits with the application's database, if it has those of a topic. */
	private void compareCommits(Set<String> coordinated) {
		if (this.comparison == null
				&& coordinated.stream().anyMatch((topic) -> this.instance.checkpoints().transactions(topic) != null)) {
			this.comparison = this.instance.runtime()
				.loops()
				.start(COMPARISON, new CommitComparison(this.workers, this.instance.clock())::step);
		}
	}

	/** Consumes more topics, unless it is stopping. If that fails, it is as before. */
	void add(Map<String, ShardHandler> handlers) {
		if (this.stopping) {
			return;
		}
		try {
			consume(handlers);
		}
		catch (RuntimeException | Error ex) {
			leave(handlers.keySet());
			throw ex;
		}
	}

	private void consume(Map<String, ShardHandler> handlers) {
		Set<String> added = handlers.keySet();
		this.readers.add(this.instance.runtime().loops(), this.instance.sources().having(added));
		Set<String> all = this.view.allTopics();
		all.addAll(added);
		this.instance.agreement().extend(all);
		this.since.begin(added);
		added.forEach(this.context::meters);
		Map<String, ShardHandler> coordinated = this.instance.settings().coordinated(handlers);
		this.broadcast.workers().add(this.instance.settings().broadcast(handlers));
		this.workers.add(coordinated);
		compareCommits(coordinated.keySet());
		if (!coordinated.isEmpty() && !this.topics.isCoordinated()) {
			this.topics.join();
		}
		this.topics.watch(all);
		this.topics.shardsChanged();
	}

	/** Takes no part in a topic any more. */
	void remove(String topic) {
		leave(Set.of(topic));
		if (!this.stopping) {
			this.topics.watch(this.view.allTopics());
		}
	}

	/** No worker of these topics begins any more; those that there are end. */
	private void leave(Set<String> left) {
		left.forEach((topic) -> {
			this.workers.remove(topic);
			this.broadcast.workers().remove(topic);
		});
		this.instance.agreement().reduce(this.view.allTopics());
		this.topics.shardsChanged();
	}

	/** Follows what the application wants of a topic now. Does not wait for anything. */
	void stateChanged(String topic, State state) {
		if (state != State.STOPPED) {
			this.since.keep(Set.of(topic));
		}
		this.workers.statesChanged();
		this.broadcast.workers().statesChanged();
		this.topics.shardsChanged();
	}

	/** Processes requests for broadcast shards. */
	void attend(Collection<ShardId> shards) {
		this.broadcast.attend(shards);
	}

	/** Watches for nothing more; {@link #stop} follows. */
	void prepareStop() {
		this.stopping = true;
		this.topics.unwatch();
	}

	/**
	 * Commits and releases all shards; {@link #end} follows, whatever becomes of that.
	 */
	void stop(Duration timeout) {
		MonotonicTime deadline = this.instance.clock().now().plus(timeout);
		this.broadcast.drain();
		this.instance.coordinator().stop(timeout);
		this.broadcast.awaitEnd(this.instance.clock().now().until(deadline));
	}

	/** Ends at once. What calls need that have not returned ends after them. */
	void end() {
		this.topics.unwatch();
		this.instance.agreement().end();
		this.workers.abandonAll();
		this.broadcast.workers().abandonAll();
		this.readers.close();
		this.threads.retire().run();
		// A call that has not returned needs them when it returns: its worker then saves
		// its result, and the next start waits for that.
		CompletableFuture.allOf(this.workers.ended(), this.broadcast.workers().ended()).thenRun(() -> {
			close(this.rescue);
			close(this.comparison);
			this.threads.shutdown().run();
		});
	}

	private static void close(Loops.@Nullable Loop loop) {
		if (loop != null) {
			loop.close();
		}
	}

	/**
	 * Returns a future that completes once all current workers of a topic have ended.
	 */
	CompletableFuture<Void> ended(String topic) {
		return CompletableFuture.allOf(this.workers.ended(topic), this.broadcast.workers().ended(topic));
	}

	/**
	 * Runs a task on a thread that calls handlers.
	 * @throws java.util.concurrent.RejectedExecutionException if these threads have ended
	 */
	void execute(Runnable task) {
		this.context.executor().execute(task);
	}

	/** Returns whether this instance is a member of its group, or tries to join it. */
	boolean isCoordinated() {
		return this.topics.isCoordinated();
	}

	ConsumptionView view() {
		return this.view;
	}

}
