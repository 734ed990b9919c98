package io.github.shardkeeper.cluster;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.StoreUnavailableException.StoreFullException;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.cluster.barrier.BarrierStore;
import io.github.shardkeeper.cluster.barrier.StoredBarriers;
import io.github.shardkeeper.cluster.lock.LockStore;
import io.github.shardkeeper.cluster.lock.StoredLocks;
import io.github.shardkeeper.cluster.memory.MemoryBarrierStore;
import io.github.shardkeeper.cluster.memory.MemoryCluster;
import io.github.shardkeeper.cluster.memory.MemoryLockStore;
import io.github.shardkeeper.cluster.memory.MemoryViewStore;
import io.github.shardkeeper.cluster.session.CallbackThreads;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.cluster.session.SharedView;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.loop.LoopMeters;
import io.github.shardkeeper.loop.LoopThreads;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;

import static java.lang.reflect.Proxy.newProxyInstance;

/**
 * One process with cluster tools and no topic, as far as they go: real loops on stores in
 * memory, which it can be cut off from.
 */
public final class ClusterInstance implements AutoCloseable {

	/** Longer than a busy machine stops a process: most stories count on one session. */
	public static final Duration LEASE = Duration.ofSeconds(2);

	/**
	 * A leader that has no reply for twice this time begins again to measure how long
	 * others are silent. So it is long enough for a busy machine: otherwise a member that
	 * is cut off would never be declared dead.
	 */
	private static final Duration HEARTBEAT_INTERVAL = Duration.ofMillis(200);

	private final ShardCoordinator coordinator;

	private final ClusterSession session;

	private final CallbackThreads callbacks = new CallbackThreads(false);

	private final CopyOnWriteArrayList<Thread> threads = new CopyOnWriteArrayList<>();

	private final MemoryCluster cluster;

	private volatile boolean cutOff;

	private volatile boolean deaf;

	private volatile boolean withoutMemory;

	/** The operation of a store with whose reply the instance is cut off. */
	private volatile String lastOperation = "";

	public ClusterInstance(String name, MemoryCoordinationStore store, MemoryCluster cluster) {
		this(name, store, cluster, LEASE);
	}

	public ClusterInstance(String name, MemoryCoordinationStore store, MemoryCluster cluster, Duration length) {
		this(name, store, cluster, length, length);
	}

	/**
	 * Creates an instance that others declare dead later than it has to be certain of its
	 * session: a story in which it comes back in time does not depend on the machine.
	 * @param length the time after a reply for which it is certain of its session
	 * @param silence the time without a heartbeat after which others declare it dead
	 */
	public ClusterInstance(String name, MemoryCoordinationStore store, MemoryCluster cluster, Duration length,
			Duration silence) {
		this.cluster = cluster;
		CoordinationSettings settings = new CoordinationSettings("group", name, HEARTBEAT_INTERVAL, silence,
				silence.multipliedBy(3), Duration.ofMillis(10), ApplicationVersion.UNKNOWN, HandoverRules.DEFAULT, 1,
				null);
		MemberRuntime runtime = MemberRuntime
			.of(new LoopThreads(MonotonicClock.SYSTEM, LoopMeters.NONE, LoopThreads.DEFAULT_STALL_LIMIT));
		Lease lease = new Lease(length, runtime.clock().now());
		CoordinationStore reachable = reachable(CoordinationStore.class, store);
		this.coordinator = new ShardCoordinator(settings, reachable,
				new HeartbeatScheduler(reachable, lease, settings.heartbeatInterval(), runtime), lease,
				AssignmentSettings.builtIn("sticky", new StickyAssignment()), runtime);
		this.session = new ClusterSession(this.coordinator, this::subscribe,
				reachable(ViewStore.class, new MemoryViewStore(cluster)), runtime, this.callbacks::execute);
		this.session.start(this.coordinator::startWithoutShards);
	}

	/** Sets whether the store has no memory for a subscription to messages. */
	public void withoutMemory(boolean missing) {
		this.withoutMemory = missing;
	}

	private CoordinationStore.Subscription subscribe(String address, Consumer<String> onMessage) {
		if (this.withoutMemory) {
			throw new StoreFullException("memory is full", null);
		}
		return this.cluster.subscribe(address, (message) -> {
			if (!this.deaf && !this.cutOff) {
				onMessage.accept(message);
			}
		});
	}

	/** Returns a store that does not reply while this instance is cut off from it. */
	public <T> T reachable(Class<T> type, T store) {
		return type
			.cast(newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				if (this.cutOff && !method.getName().equals("close") && !method.getName().equals("setupProblems")
						&& !method.getName().equals("refusedOperations")) {
					throw new StoreUnavailableException("cut off", null);
				}
				try {
					Object reply = method.invoke(store, arguments);
					this.cutOff |= method.getName().equals(this.lastOperation);
					return reply;
				}
				catch (java.lang.reflect.InvocationTargetException ex) {
					throw ex.getCause();
				}
			}));
	}

	public ClusterSession session() {
		return this.session;
	}

	public ClusterView view() {
		return new SharedView(this.session);
	}

	public ClusterLocks locks() {
		return new StoredLocks(this.session, reachable(LockStore.class, new MemoryLockStore(this.cluster)));
	}

	public DoubleBarriers barriers() {
		return new StoredBarriers(this.session, reachable(BarrierStore.class, new MemoryBarrierStore(this.cluster)));
	}

	public MemberId member() {
		return this.coordinator.member().orElseThrow();
	}

	/** Runs something on a thread of its own; killed with the instance. */
	public <T> CompletableFuture<T> run(Callable<T> work) {
		CompletableFuture<T> result = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				result.complete(work.call());
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		}, "worker");
		thread.setDaemon(true);
		this.threads.add(thread);
		thread.start();
		return result;
	}

	/** No store replies, and no message arrives; its subscriptions stay open. */
	public void cutOff(boolean away) {
		this.lastOperation = "";
		this.cutOff = away;
	}

	/** No store replies after the next reply to an operation. */
	public void cutOffAfter(String operation) {
		this.lastOperation = operation;
	}

	/** No message arrives. */
	public void deaf(boolean loses) {
		this.deaf = loses;
	}

	/** Leaves the group. */
	public void leave() {
		this.coordinator.stop(Duration.ofSeconds(10));
	}

	/** Ends at once, like a killed process. */
	@Override
	public void close() {
		this.cutOff = true;
		this.coordinator.close();
		this.session.close();
		this.threads.forEach(Thread::interrupt);
		this.callbacks.close();
	}

}
