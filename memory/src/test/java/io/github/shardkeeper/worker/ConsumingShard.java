package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.DeadLetterStore.StoredDeadLetter;
import io.github.shardkeeper.checkpoint.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.handler.AnnotatedBeans;
import io.github.shardkeeper.handler.CallHooks;
import io.github.shardkeeper.handler.MessageArguments;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.output.TestTargets;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.ConsumerMeters.TopicMeters;
import io.github.shardkeeper.worker.shard.ParkedTotals;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * One shard of the topic {@code orders} and its workers, with the handler of a test's
 * bean, on the test's own thread and by its own clock.
 */
final class ConsumingShard {

	static final ShardId SHARD = ShardId.of("orders", 1);

	/** Maximum number of records that wait in the outbox. */
	static final int MAX_SENT = 10;

	private static final Duration LEASE = Duration.ofDays(1);

	private final SettableClock clock = new SettableClock();

	private final Lease lease = new Lease(LEASE, this.clock.now());

	private final ManualThreads threads = new ManualThreads(this.clock);

	private final FaultyCheckpoints checkpoints = new FaultyCheckpoints(
			() -> Instant.ofEpochMilli(this.clock.now().nanos() / 1_000_000));

	private final TestReader reader = new TestReader();

	private final TestTargets targets = new TestTargets();

	private final List<String> ended = new ArrayList<>();

	private int staleCommits;

	private int unusableChoices;

	private final ShardHandler handler;

	private final WorkerContext context;

	private long tokens;

	private ShardWorker worker;

	/** With a bean that has one handler, and starts consuming at once. */
	ConsumingShard(Object bean, TestSettings settings) {
		this(bean, settings, new BufferBudget(Long.MAX_VALUE));
	}

	/** The same, for beans that need it while it starts. */
	ConsumingShard(Object bean, TestSettings settings, Consumer<ConsumingShard> created) {
		this(bean, settings, new BufferBudget(Long.MAX_VALUE), created);
	}

	/** The same, and others take from its budget, too. */
	ConsumingShard(Object bean, TestSettings settings, BufferBudget budget) {
		this(bean, settings, budget, (created) -> {
		});
	}

	private ConsumingShard(Object bean, TestSettings settings, BufferBudget budget, Consumer<ConsumingShard> created) {
		this(bean, settings, budget, created, true, TopicSchedule.NONE, InstantSource.fixed(Instant.EPOCH));
	}

	/** The same, with a wall clock of the test's. */
	static ConsumingShard withWallClock(Object bean, TestSettings settings, InstantSource wallClock) {
		return withWallClock(bean, settings, wallClock, (created) -> {
		});
	}

	/** The same, for beans that need it while it starts. */
	static ConsumingShard withWallClock(Object bean, TestSettings settings, InstantSource wallClock,
			Consumer<ConsumingShard> created) {
		return new ConsumingShard(bean, settings, new BufferBudget(Long.MAX_VALUE), created, true, TopicSchedule.NONE,
				wallClock);
	}

	/** Of a topic without records, with a wall clock of the test's. */
	static ConsumingShard withoutRecords(Object bean, TopicSchedule schedule, InstantSource wallClock) {
		return new ConsumingShard(bean, new TestSettings(), new BufferBudget(Long.MAX_VALUE), (created) -> {
		}, false, schedule, wallClock);
	}

	/** The same, with a handler that the test has made. */
	static ConsumingShard withoutRecords(ShardHandler handler, InstantSource wallClock) {
		return new ConsumingShard(handler, new TestSettings(), new BufferBudget(Long.MAX_VALUE), (created) -> {
		}, wallClock);
	}

	private ConsumingShard(Object bean, TestSettings settings, BufferBudget budget, Consumer<ConsumingShard> created,
			boolean hasRecords, TopicSchedule schedule, InstantSource wallClock) {
		this(detect(bean, hasRecords, schedule), settings, budget, created, wallClock);
	}

	private static ShardHandler detect(Object bean, boolean hasRecords, TopicSchedule schedule) {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerSingleton("handler", bean);
		return new ShardHandlerDetector(new AnnotatedBeans(beans), new JsonPayloadConverter(new JsonMapper()),
				MessageArguments.NONE, CallHooks.NONE, (topic) -> schedule)
			.detect(Map.of("orders", 2), (topic) -> hasRecords)
			.get("orders");
	}

	private ConsumingShard(ShardHandler handler, TestSettings settings, BufferBudget budget,
			Consumer<ConsumingShard> created, InstantSource wallClock) {
		created.accept(this);
		this.handler = handler;
		settings.get().check(this.handler);
		this.lease.renew(this.clock.now(), this.clock.now());
		this.context = new WorkerContext("group",
				new WorkerContext.Stores(this.checkpoints, this.reader,
						new OutputSettings(this.targets, MAX_SENT, 1_000_000)),
				new WorkerContext.Runtime(this.clock, wallClock, this.threads, this.threads.timer()),
				new WorkerContext.Topics((topic) -> settings.get(), budget, new StateCache(1_000_000),
						new StateValues(new JsonMapper(), List.of())),
				new WorkerContext.Observers((topic) -> new Counted(), ConsumerEvents.NONE,
						(shard, token, fence, completed) -> this.ended.add(completed ? "completed" : "released"), true),
				this.lease);
		restart();
	}

	/** A new owner begins, whatever becomes of the one before. */
	void restart() {
		restart(new Token(this.tokens + 1));
	}

	/** The same under a token that is higher than those before. */
	void restart(Token token) {
		begin(token);
		run();
	}

	/** A new owner has not run yet. */
	void restartLater() {
		begin(new Token(this.tokens + 1));
	}

	private void begin(Token token) {
		this.tokens = token.value();
		this.worker = new ShardWorker(SHARD, token, MemberId.of("me", "1"), this.handler, this.context,
				CompletableFuture.completedFuture(null));
	}

	ShardHandler handler() {
		return this.handler;
	}

	/** A new owner begins, and an operator has paused the shard before. */
	void restartPaused() {
		this.tokens++;
		this.worker = new ShardWorker(SHARD, new Token(this.tokens), MemberId.of("me", "1"), this.handler, this.context,
				CompletableFuture.completedFuture(null), true);
		run();
	}

	ShardWorker worker() {
		return this.worker;
	}

	ManualThreads threads() {
		return this.threads;
	}

	FaultyCheckpoints checkpoints() {
		return this.checkpoints;
	}

	/** Where the records go that handlers send. */
	TestTargets targets() {
		return this.targets;
	}

	/** What meters show of the keys that wait. */
	ParkedTotals parked() {
		return this.context.backlog(SHARD.topic()).parked();
	}

	TestReader reader() {
		return this.reader;
	}

	SettableClock clock() {
		return this.clock;
	}

	void run() {
		this.threads.runAll();
	}

	/** The lease ends, running calls are interrupted, and it is held again. */
	void interruptCalls() {
		this.lease.end();
		worker().suspend();
		renewLease();
	}

	/** A heartbeat was answered. */
	void renewLease() {
		this.lease.renew(this.clock.now(), this.clock.now());
	}

	void pass(Duration duration) {
		renewLease();
		this.threads.pass(duration);
	}

	/** Delivers records with numbers for offsets, keys and payloads like {@code r1}. */
	void deliver(int first, int last) {
		this.reader.deliver(SHARD, first, last);
		run();
	}

	/** Delivers a record; runs nothing yet. */
	void offer(int number, String key, String payload) {
		this.reader.deliver(SHARD, number, key, payload);
	}

	Checkpoint checkpoint() {
		return this.checkpoints.read(SHARD);
	}

	/** The dead letters' offsets with their attempts, like {@code 3 after 5}. */
	List<String> deadLetters() {
		return letters().stream()
			.map((letter) -> letter.record().offset() + " after " + letter.record().attempts())
			.toList();
	}

	List<StoredDeadLetter> letters() {
		return letterStore().list(SHARD, null, 1000);
	}

	/** Sends all dead letters back; the owner does not know. */
	void sendBackUnnoticed() {
		letterStore().sendBack(SHARD, letters());
	}

	/** Sends all dead letters back and notifies the owner. */
	void sendBackAll() {
		sendBackUnnoticed();
		this.worker.attend();
		run();
	}

	/** Returns the number of records in the retry queue. */
	long retries() {
		return letterStore().countRetries(List.of(SHARD)).get(SHARD);
	}

	private MemoryDeadLetterStore letterStore() {
		return new MemoryDeadLetterStore(this.checkpoints.store());
	}

	/** Number of choices of failure handlers that meters count as unusable. */
	int unusableChoices() {
		return this.unusableChoices;
	}

	/** Number of commits that meters count as refused because of a newer owner. */
	int staleCommits() {
		return this.staleCommits;
	}

	/** Ends of workers. */
	List<String> ended() {
		return this.ended;
	}

	private final class Counted implements TopicMeters {

		@Override
		public void failureHandlerFailed() {
			ConsumingShard.this.unusableChoices++;
		}

		@Override
		public void committed(boolean accepted) {
			if (!accepted) {
				ConsumingShard.this.staleCommits++;
			}
		}

	}

}
