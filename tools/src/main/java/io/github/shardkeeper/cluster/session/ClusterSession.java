package io.github.shardkeeper.cluster.session;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.StoreUnavailableException.StoreFullException;
import io.github.shardkeeper.cluster.ClusterView.View;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.member.SessionListener;
import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The session of this instance, for the cluster tools: it has one subscription and one
 * loop for all of them, from the first use of a tool on. The loop reads the view when the
 * members have changed, and once per lease in case a message was lost. Thread-safe.
 */
public final class ClusterSession implements SessionListener, AutoCloseable {

	private static final Logger logger = PrintableLogger.of(ClusterSession.class);

	private static final Duration RETRY_PAUSE = Duration.ofMillis(250);

	private static final String VIEW = "view";

	private final ShardCoordinator coordinator;

	private final ClusterMessages messages;

	private final ViewStore views;

	private final MemberRuntime runtime;

	private final Executor callbacks;

	private final String address;

	private final List<ClusterTool> tools = new CopyOnWriteArrayList<>();

	/**
	 * Joins the group if nothing else does; {@code null} until the application starts.
	 */
	private @Nullable Runnable join;

	private volatile Loops.@Nullable Loop loop;

	private volatile View view = View.NONE;

	private volatile long membershipHeard = -1;

	/** Whether to read the view at once. */
	private volatile boolean catchUpRequested;

	private volatile @Nullable String problem;

	private volatile boolean closed;

	/** Changed by the loop. */
	private volatile @Nullable Subscription subscription;

	/**
	 * Number of replies in a row that did not see the open subscription. Confined to the
	 * loop, as is all below.
	 */
	private int repliesWithoutSubscription;

	private long membershipRead = -1;

	private @Nullable MemberId readAs;

	private MonotonicTime nextRead;

	/**
	 * Creates a session that has no loop and no subscription until a tool is added.
	 * @param callbacks runs the code of the application; may block
	 */
	public ClusterSession(ShardCoordinator coordinator, ClusterMessages messages, ViewStore views,
			MemberRuntime runtime, Executor callbacks) {
		this.coordinator = coordinator;
		this.messages = messages;
		this.views = views;
		this.runtime = runtime;
		this.callbacks = callbacks;
		this.address = Long.toString(runtime.random().nextLong(1L << 50), 36);
		this.nextRead = runtime.clock().now();
	}

	/** Adds a tool, and joins the group if no topic makes this instance join it. */
	public void add(ClusterTool tool) {
		this.tools.add(tool);
		Runnable joins = null;
		synchronized (this) {
			if (this.loop == null) {
				this.coordinator.addSessionListener(this);
				this.loop = this.runtime.loops().start("shardkeeper-cluster", this::step);
			}
			joins = this.join;
		}
		if (joins != null) {
			joins.run();
		}
		requestCatchUp();
	}

	/**
	 * Allows this instance to join the group, now if a tool is in use or with the first
	 * one.
	 * @param joining joins unless the instance has joined; repeatable
	 */
	public void start(Runnable joining) {
		boolean used;
		synchronized (this) {
			this.join = joining;
			used = this.loop != null;
		}
		if (used) {
			joining.run();
		}
	}

	/** No longer joins the group with the first tool. */
	public void stop() {
		synchronized (this) {
			this.join = null;
		}
	}

	/**
	 * Returns whether this instance has a session or will have one: neither before the
	 * application has started, nor after it has stopped.
	 */
	public boolean isStarted() {
		synchronized (this) {
			return this.join != null || this.coordinator.isRunning();
		}
	}

	/** Returns the session; {@code null} outside one, or without the lease. */
	public @Nullable MemberId member() {
		// The lease first: one that is read later may belong to the next session.
		return this.coordinator.isConnected() ? this.coordinator.member().orElse(null) : null;
	}

	/** Returns the session, with or without its lease; {@code null} outside one. */
	public @Nullable MemberId memberWithOrWithoutLease() {
		return this.coordinator.member().orElse(null);
	}

	/** Returns whether a session goes on and its lease is held. */
	public boolean isHeld(MemberId session) {
		return session.equals(member());
	}

	/** Returns whether a session goes on, with or without its lease. */
	public boolean continues(MemberId session) {
		return this.coordinator.member().equals(Optional.of(session));
	}

	/** Returns the newest view. */
	public View view() {
		return this.view;
	}

	/** Returns the address at which the store sends messages to this instance. */
	public String address() {
		return this.address;
	}

	public MonotonicClock clock() {
		return this.runtime.clock();
	}

	/** Returns the executor for the code of the application. */
	public Executor callbacks() {
		return this.callbacks;
	}

	/** Returns the name of the group. */
	public String group() {
		return this.coordinator.settings().group();
	}

	/** Returns why the store cannot be used; empty if it can. */
	public Optional<String> problem() {
		return Optional.ofNullable(this.problem);
	}

	/** Has all tools catch up with the store soon. */
	public void requestCatchUp() {
		this.catchUpRequested = true;
		wake();
	}

	/** Has the loop look at {@link ClusterTool#wakeAt} again. */
	public void wake() {
		Loops.Loop running = this.loop;
		if (running != null) {
			running.wake();
		}
	}

	@Override
	public void heartbeatAnswered(MemberId member, long membership, boolean lost) {
		if (lost) {
			forEachTool(ClusterTool::writesMayBeLost);
			requestCatchUp();
		}
		if (membership != this.membershipHeard || !member.equals(this.view.self())) {
			this.membershipHeard = membership;
			wake();
		}
	}

	@Override
	public void leaseEnded() {
		forEachTool(ClusterTool::sessionChanged);
	}

	@Override
	public void leaseResumed() {
		forEachTool(ClusterTool::sessionChanged);
		forEachTool(ClusterTool::writesMayBeLost);
		requestCatchUp();
	}

	@Override
	public void sessionEnded(MemberId member) {
		forEachTool(ClusterTool::sessionChanged);
	}

	/** A tool that fails unexpectedly does not keep the others from it. */
	private void forEachTool(Consumer<ClusterTool> action) {
		for (ClusterTool tool : this.tools) {
			try {
				action.accept(tool);
			}
			catch (RuntimeException ex) {
				logger.error("Unexpected failure of the {} of group '{}'; the other cluster tools go on",
						tool.getClass().getSimpleName(), group(), ex);
			}
		}
	}

	private void received(String message) {
		int end = message.indexOf('|');
		String kind = (end < 0) ? message : message.substring(0, end);
		if (kind.equals(VIEW)) {
			requestCatchUp();
			return;
		}
		String text = (end < 0) ? "" : message.substring(end + 1);
		forEachTool((tool) -> {
			try {
				tool.message(kind, text);
			}
			catch (IllegalArgumentException | IndexOutOfBoundsException ex) {
				logger.warn("A message of group '{}' cannot be read: '{}'. Only somebody else can have sent it",
						group(), message, ex);
			}
		});
	}

	private @Nullable MonotonicTime step() {
		MonotonicTime now = this.runtime.clock().now();
		for (ClusterTool tool : this.tools) {
			MonotonicTime at = tool.wakeAt();
			if (at != null && !now.isBefore(at)) {
				tool.due();
			}
		}
		MonotonicTime next = catchUpIfDue();
		for (ClusterTool tool : this.tools) {
			next = MonotonicTime.earliestOf(next, tool.wakeAt());
		}
		return next;
	}

	private @Nullable MonotonicTime catchUpIfDue() {
		try {
			return catchUp();
		}
		catch (StoreUnavailableException ex) {
			noteProblem(String.valueOf(ex.getMessage()));
			if (!ex.isRefusal()) {
				this.catchUpRequested = true;
				return this.runtime.clock().now().plus(RETRY_PAUSE);
			}
			// A retry at once would be refused too, and may be expensive.
			forEachTool(ClusterTool::catchUpRefused);
			this.nextRead = this.runtime.clock().now().plus(this.coordinator.settings().lease());
			return this.nextRead;
		}
	}

	private @Nullable MonotonicTime catchUp() {
		MemberId member = member();
		if (member == null) {
			// The next answered heartbeat wakes the loop.
			return null;
		}
		boolean subscribedNow = ensureSubscribed();
		if (subscribedNow && this.readAs != null) {
			// The connection that was lost may have been one to a former master.
			forEachTool(ClusterTool::writesMayBeLost);
		}
		MonotonicTime now = this.runtime.clock().now();
		long heard = this.membershipHeard;
		boolean due = subscribedNow || this.catchUpRequested || !member.equals(this.readAs)
				|| heard != this.membershipRead || !now.isBefore(this.nextRead);
		if (due) {
			this.catchUpRequested = false;
			read(member);
			this.readAs = member;
			this.membershipRead = heard;
			this.nextRead = now.plus(this.coordinator.settings().lease());
			if (this.problem != null && this.subscription != null) {
				this.problem = null;
				logger.info("Cluster tools of group '{}': the store replies again", group());
			}
		}
		return this.nextRead;
	}

	private void noteProblem(String text) {
		if (!text.equals(this.problem)) {
			this.problem = text;
			logger.warn("Cluster tools of group '{}': {}", group(), text);
		}
	}

	private void read(MemberId member) {
		ViewStore.Reply reply = this.views.read(member, this.address);
		if (!reply.known()) {
			// The next heartbeat learns that the session is over.
			return;
		}
		keepSubscribed(reply.subscribed());
		if (reply.number() != this.view.number() || !member.equals(this.view.self())) {
			this.view = new View(reply.number(), reply.members(), member);
		}
		List<StoreUnavailableException> failures = new ArrayList<>();
		if (reply.failure() != null) {
			failures.add(reply.failure());
		}
		forEachTool((tool) -> {
			try {
				tool.catchUp(member, reply);
			}
			catch (StoreUnavailableException ex) {
				failures.add(ex);
			}
		});
		if (!failures.isEmpty()) {
			throw failures.get(0);
		}
	}

	/**
	 * Closes a subscription that the store does not see, because its connection is dead.
	 * Where something hides them from the store, such as a proxy, subscribing again does
	 * not help: it is tried less and less often.
	 */
	private void keepSubscribed(boolean seen) {
		Subscription current = this.subscription;
		if (seen || current == null) {
			this.repliesWithoutSubscription = 0;
			return;
		}
		this.repliesWithoutSubscription++;
		if (Integer.bitCount(this.repliesWithoutSubscription) == 1) {
			logger.debug("The store does not see the subscription of the cluster tools; resubscribing");
			current.close();
			this.subscription = null;
			requestCatchUp();
		}
	}

	/** Returns whether it has subscribed now: messages before that were not received. */
	private boolean ensureSubscribed() {
		Subscription current = this.subscription;
		if (current != null && current.isOpen()) {
			return false;
		}
		if (current != null) {
			current.close();
			this.subscription = null;
		}
		Subscription opened;
		try {
			opened = this.messages.subscribe(this.address, this::received);
		}
		catch (StoreFullException ex) {
			// Reading on its own goes on.
			noteProblem("Cannot subscribe, so news arrives up to a lease late: " + ex.getMessage());
			return false;
		}
		this.subscription = opened;
		if (this.closed) {
			// Closed meanwhile, without this one.
			opened.close();
		}
		return true;
	}

	/** Ends loop and subscription. */
	@Override
	public void close() {
		stop();
		this.closed = true;
		Loops.Loop running = this.loop;
		if (running != null) {
			running.close();
		}
		Subscription open = this.subscription;
		if (open != null) {
			open.close();
		}
	}

}
