package io.github.shardkeeper.cluster.signal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.awaitility.Awaitility;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.cluster.ClusterSignal;
import io.github.shardkeeper.cluster.SignalDelivery;
import io.github.shardkeeper.cluster.SignalResult;
import io.github.shardkeeper.cluster.session.CallbackThreads;
import io.github.shardkeeper.cluster.session.ClusterMembership;
import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;
import io.github.shardkeeper.loop.LoopMeters;
import io.github.shardkeeper.loop.LoopThreads;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;

/** One process, as far as signals go. */
final class SignalInstance implements AutoCloseable {

	static final Duration PATIENCE = Duration.ofSeconds(60);

	/** Longer than a busy machine stops a process: stories count on one session. */
	static final Duration LEASE = Duration.ofSeconds(3);

	private final LoopThreads loops = new LoopThreads(MonotonicClock.SYSTEM, LoopMeters.NONE,
			LoopThreads.DEFAULT_STALL_LIMIT);

	private final CallbackThreads callbacks = new CallbackThreads(false);

	private final SignalStores stores;

	private final ShardCoordinator coordinator;

	private final ClusterMembership membership;

	final ClusterSession session;

	final StoredSignals signals;

	/** Whether messages of the store are lost. */
	volatile boolean deaf;

	/** Whether the store of signals replies calls. */
	volatile boolean storeAway;

	/** Runs before the store is told what is handled. */
	volatile Consumer<Map<String, SignalStore.Listening>> beforeAcknowledgement = (listening) -> {
	};

	final AtomicInteger storeFailures = new AtomicInteger();

	/** How often those who wait have read who has handled a signal. */
	private final AtomicInteger acknowledgementReads = new AtomicInteger();

	SignalInstance(String name, SignalStores stores) {
		this(name, stores, Duration.ZERO);
	}

	/** Creates an instance whose application was started some time ago. */
	SignalInstance(String name, SignalStores stores, Duration startedBefore) {
		this.stores = stores;
		CoordinationSettings settings = new CoordinationSettings("group", name, Duration.ofMillis(100), LEASE,
				LEASE.multipliedBy(3), Duration.ofMillis(10), ApplicationVersion.UNKNOWN, HandoverRules.DEFAULT, 1,
				null);
		MemberRuntime runtime = MemberRuntime.of(this.loops);
		Lease lease = new Lease(settings.lease(), runtime.clock().now());
		this.coordinator = new ShardCoordinator(settings, stores.coordination(),
				new HeartbeatScheduler(stores.coordination(), lease, settings.heartbeatInterval(), runtime), lease,
				AssignmentSettings.builtIn("sticky", new StickyAssignment()), runtime);
		this.session = new ClusterSession(this.coordinator, new LossyMessages(), stores.views(), runtime,
				this.callbacks::execute);
		this.membership = new ClusterMembership(this.session, this.coordinator, Duration.ofSeconds(10), 0);
		this.signals = new StoredSignals(this.session, new InterruptedStore(),
				new JsonPayloadConverter(new JsonMapper()),
				new StoredSignals.Settings(Duration.ofHours(1), 64 * 1024, runtime.clock().now().minus(startedBefore)));
	}

	/** Joins the group, with handlers. */
	SignalInstance start(SignalHandler... handlers) {
		if (handlers.length > 0) {
			this.signals.listen(Arrays.asList(handlers));
		}
		this.membership.start();
		Awaitility.await().atMost(PATIENCE).until(() -> this.session.member() != null);
		for (SignalHandler handler : handlers) {
			awaitListening(handler.signal());
		}
		return this;
	}

	/** Waits until the store knows that the present session listens. */
	void awaitListening(String signal) {
		Awaitility.await().atMost(PATIENCE).until(() -> isRegistered(signal));
	}

	private boolean isRegistered(String signal) {
		MemberId member = this.session.member();
		return member != null && this.stores.signals().acknowledgements(signal).containsKey(member);
	}

	/** Waits for a signal on another thread, which has read who is to handle it. */
	CompletableFuture<SignalResult> awaitAll(SignalDelivery delivery) {
		int before = this.acknowledgementReads.get();
		CompletableFuture<SignalResult> result = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				result.complete(delivery.awaitAll(PATIENCE));
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		}, "waits for a signal");
		thread.setDaemon(true);
		thread.start();
		Awaitility.await().atMost(PATIENCE).until(() -> this.acknowledgementReads.get() > before);
		return result;
	}

	/** Leaves the group. */
	void leave() {
		this.membership.stop();
	}

	/** Loses its session, and joins again in another one. */
	void losesSession() {
		MemberId lost = this.session.member();
		if (lost == null) {
			throw new IllegalStateException("no session");
		}
		this.stores.coordination().leaveGroup(lost, Duration.ZERO);
		Awaitility.await().atMost(PATIENCE).until(() -> {
			MemberId member = this.session.member();
			return member != null && !member.equals(lost);
		});
	}

	MemberId member() {
		MemberId member = this.session.member();
		if (member == null) {
			throw new IllegalStateException("no session");
		}
		return member;
	}

	@Override
	public void close() {
		this.membership.stop();
		this.session.close();
		this.callbacks.close();
		this.stores.close();
	}

	private void requireStore() {
		if (this.storeAway) {
			this.storeFailures.incrementAndGet();
			throw new StoreUnavailableException("The store is away, as the test wants it", null);
		}
	}

	/** Loses messages when the test wants it. */
	private final class LossyMessages implements ClusterMessages {

		@Override
		public Subscription subscribe(String address, Consumer<String> onMessage) {
			return SignalInstance.this.stores.messages().subscribe(address, (message) -> {
				if (!SignalInstance.this.deaf) {
					onMessage.accept(message);
				}
			});
		}

	}

	/** Does not reply when the test wants it. */
	private final class InterruptedStore implements SignalStore {

		@Override
		public long send(String name, String payload, Duration retention, String address) {
			requireStore();
			return SignalInstance.this.stores.signals().send(name, payload, retention, address);
		}

		@Override
		public Map<String, Latest> acknowledge(MemberId member, Map<String, Listening> listening) {
			requireStore();
			SignalInstance.this.beforeAcknowledgement.accept(listening);
			return SignalInstance.this.stores.signals().acknowledge(member, listening);
		}

		@Override
		public Map<MemberId, Handled> acknowledgements(String name) {
			requireStore();
			Map<MemberId, Handled> acknowledgements = SignalInstance.this.stores.signals().acknowledgements(name);
			SignalInstance.this.acknowledgementReads.incrementAndGet();
			return acknowledgements;
		}

	}

	/** Records what it handles, and can be made to wait or to fail. */
	static final class Recorder implements SignalHandler {

		private final String signal;

		private final boolean atStart;

		private final BlockingQueue<ClusterSignal> handled = new LinkedBlockingQueue<>();

		private final BlockingQueue<String> begun = new LinkedBlockingQueue<>();

		private final List<CountDownLatch> gates = new ArrayList<>();

		private final AtomicInteger running = new AtomicInteger();

		volatile boolean overlapped;

		volatile String failure = "";

		private volatile CountDownLatch gate = new CountDownLatch(0);

		Recorder(String signal, boolean atStart) {
			this.signal = signal;
			this.atStart = atStart;
		}

		/** Makes calls wait until {@link #open()}. */
		void shut() {
			this.gate = new CountDownLatch(1);
			this.gates.add(this.gate);
		}

		void open() {
			this.gates.forEach(CountDownLatch::countDown);
		}

		/** Waits for the next call to begin. */
		String awaitBegun() throws InterruptedException {
			return this.begun.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
		}

		/** Waits for the next call to end; {@code null} if there is none. */
		String awaitPayload() throws InterruptedException {
			ClusterSignal next = this.handled.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
			return (next != null) ? next.payload() : null;
		}

		/** Returns the payloads of calls that have ended and were not awaited. */
		List<String> rest() {
			return this.handled.stream().map(ClusterSignal::payload).toList();
		}

		@Override
		public String signal() {
			return this.signal;
		}

		@Override
		public boolean atStart() {
			return this.atStart;
		}

		@Override
		public String method() {
			return "Recorder.handle(ClusterSignal)";
		}

		@Override
		public void handle(ClusterSignal received) throws Exception {
			this.overlapped |= this.running.incrementAndGet() > 1;
			try {
				this.begun.add(received.payload());
				if (!this.gate.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
					throw new IllegalStateException("The test has not opened the gate");
				}
				if (!this.failure.isEmpty()) {
					throw new ExpectedException(this.failure);
				}
			}
			finally {
				this.running.decrementAndGet();
				this.handled.add(received);
			}
		}

	}

	/** It is logged: without a trace. */
	static final class ExpectedException extends RuntimeException {

		ExpectedException(String message) {
			super(message, null, false, false);
		}

	}

}
