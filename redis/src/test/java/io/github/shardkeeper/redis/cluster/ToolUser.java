package io.github.shardkeeper.redis.cluster;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.convert.ApplicationConversionService;

import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.cluster.ClusterLock;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.cluster.ClusterSignal;
import io.github.shardkeeper.cluster.ClusterView;
import io.github.shardkeeper.cluster.DoubleBarrier;
import io.github.shardkeeper.cluster.Parameter;
import io.github.shardkeeper.cluster.SignalResult;
import io.github.shardkeeper.cluster.barrier.StoredBarriers;
import io.github.shardkeeper.cluster.lock.StoredLocks;
import io.github.shardkeeper.cluster.parameter.StoredParameters;
import io.github.shardkeeper.cluster.parameter.ValueFormat;
import io.github.shardkeeper.cluster.session.CallbackThreads;
import io.github.shardkeeper.cluster.session.ClusterMembership;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.cluster.session.SharedView;
import io.github.shardkeeper.cluster.signal.SignalHandler;
import io.github.shardkeeper.cluster.signal.StoredSignals;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.loop.LoopMeters;
import io.github.shardkeeper.loop.LoopThreads;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * An instance that uses all cluster tools on a real Redis, as an application would: with
 * real sessions, subscriptions and time limits. Its signal is handled at once.
 */
final class ToolUser implements AutoCloseable {

	static final Duration LEASE = Duration.ofSeconds(1);

	static final Duration TIMEOUT = Duration.ofSeconds(6);

	/** Longer than a busy machine takes. */
	private static final Duration ANSWER = Duration.ofSeconds(5);

	/** Longer than any healing takes. */
	static final Duration PATIENCE = Duration.ofSeconds(30);

	static final String PREFIX = "test";

	static final String NAME = "nightly";

	private final LoopThreads loops = new LoopThreads(MonotonicClock.SYSTEM, LoopMeters.NONE,
			LoopThreads.DEFAULT_STALL_LIMIT);

	private final CallbackThreads callbacks = new CallbackThreads(false);

	private final List<Thread> threads = new CopyOnWriteArrayList<>();

	private final List<String> handled = new CopyOnWriteArrayList<>();

	private final CoordinationStore group;

	private final ClusterLink link;

	private final ShardCoordinator coordinator;

	private final ClusterMembership membership;

	final ClusterSession session;

	final ClusterView view;

	final ClusterLocks locks;

	final ClusterLock lock;

	final DoubleBarrier barrier;

	final StoredSignals signals;

	final StoredParameters parameters;

	final Parameter<Integer> parameter;

	/** Begins to join the group. */
	ToolUser(RedisConnector connector, String group, String name) {
		this.group = new RedisCoordinationStore(connector, PREFIX, group, ANSWER);
		this.link = new ClusterLink(connector, PREFIX, group, ANSWER, ReplicaWait.NONE);
		CoordinationSettings settings = new CoordinationSettings(group, name, Duration.ofMillis(50), LEASE, TIMEOUT,
				Duration.ofMillis(10), ApplicationVersion.UNKNOWN, HandoverRules.DEFAULT, 1, null);
		MemberRuntime runtime = MemberRuntime.of(this.loops);
		Lease lease = new Lease(LEASE, runtime.clock().now());
		this.coordinator = new ShardCoordinator(settings, this.group,
				new HeartbeatScheduler(this.group, lease, settings.heartbeatInterval(), runtime), lease,
				AssignmentSettings.builtIn("sticky", new StickyAssignment()), runtime);
		this.session = new ClusterSession(this.coordinator, this.link, new RedisViewStore(this.link), runtime,
				this.callbacks::execute);
		this.membership = new ClusterMembership(this.session, this.coordinator, Duration.ofSeconds(10), 0);
		this.view = new SharedView(this.session);
		this.locks = new StoredLocks(this.session, new RedisLockStore(this.link));
		this.lock = this.locks.get(NAME);
		this.barrier = new StoredBarriers(this.session, new RedisBarrierStore(this.link)).get(NAME);
		this.signals = new StoredSignals(this.session, new RedisSignalStore(this.link),
				new JsonPayloadConverter(new JsonMapper()),
				new StoredSignals.Settings(Duration.ofHours(1), 64 * 1024, runtime.clock().now()));
		this.parameters = new StoredParameters(group, name, new RedisParameterStore(this.link), Map.of(),
				new ValueFormat(new ApplicationConversionService(), new JsonMapper()), (field, value) -> null,
				this.callbacks::execute);
		this.parameters.follow(this.session);
		this.parameter = this.parameters.get(NAME, Integer.class, 0);
		this.signals.listen(List.of(new Recording()));
		this.membership.start();
	}

	static ConditionFactory await() {
		return Awaitility.await().atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(10));
	}

	/** Waits until it has a session and knows so many members. */
	ToolUser awaitMembers(int size) {
		await().until(() -> this.view.size() == size && this.view.index().isPresent());
		return this;
	}

	MemberId member() {
		return this.coordinator.member().orElseThrow();
	}

	/** Payloads of the signals that it has handled. */
	List<String> handled() {
		return List.copyOf(this.handled);
	}

	/** Sends a signal and waits until all have handled it. */
	SignalResult signal(String payload) throws InterruptedException {
		return this.signals.send(NAME, payload).awaitAll(PATIENCE);
	}

	/** Runs something on a thread of its own. */
	<T> CompletableFuture<T> run(Callable<T> work) {
		CompletableFuture<T> result = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				result.complete(work.call());
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		}, "user of " + this.group);
		thread.setDaemon(true);
		this.threads.add(thread);
		thread.start();
		return result;
	}

	/** Returns the end of something that must not hang. */
	static <T> T ended(CompletableFuture<T> work) throws Exception {
		try {
			return work.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (TimeoutException ex) {
			throw new AssertionError("It hangs", ex);
		}
	}

	/** Leaves the group. */
	void leave() {
		this.membership.stop();
	}

	@Override
	public void close() {
		this.threads.forEach(Thread::interrupt);
		this.membership.stop();
		this.session.close();
		this.parameters.close();
		this.callbacks.close();
		this.link.close();
		this.group.close();
	}

	private final class Recording implements SignalHandler {

		@Override
		public String signal() {
			return NAME;
		}

		@Override
		public String method() {
			return "ToolUser.handle(ClusterSignal)";
		}

		@Override
		public boolean atStart() {
			return true;
		}

		@Override
		public void handle(ClusterSignal signal) {
			ToolUser.this.handled.add(signal.payload());
		}

	}

}
