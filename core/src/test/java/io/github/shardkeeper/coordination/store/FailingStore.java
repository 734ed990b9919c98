package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.CoordinationStore.ClaimReply;
import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;

/** A store whose operations can fail, and that can lose subscriptions. */
public final class FailingStore extends ForwardingStore {

	private final List<TestSubscription> subscriptions = new ArrayList<>();

	public volatile boolean unusable;

	public volatile boolean planRefused;

	/** Reading the group ends with an error that nobody expects. */
	public volatile boolean readingBroken;

	public volatile boolean claimsRefused;

	/** So many completions of requests are answered, and lost by a failover at once. */
	public final AtomicInteger completionsToLose = new AtomicInteger();

	/** Thrown when directives are to be read; {@code null} if they can be read. */
	public volatile @Nullable StoreUnavailableException directivesFailure;

	/**
	 * Asked before a claim for what loses it again after it was answered; {@code null}
	 * for nothing.
	 */
	public volatile @Nullable Supplier<Runnable> claimLoss;

	/** Notifications do not arrive. */
	public volatile boolean eventsLost;

	public volatile int releasesToFail;

	/**
	 * So many releases are answered, and then lost by a failover that is over before the
	 * next heartbeat: only subscriptions are closed by it.
	 */
	public volatile int releasesToLose;

	public volatile int subscriptionsToFail;

	/** Number of shards of each release. */
	public final List<Integer> releases = new CopyOnWriteArrayList<>();

	/** No subscription is opened before. */
	public volatile CountDownLatch subscriptionOpened = new CountDownLatch(0);

	/** Whether a plan was requested. */
	public volatile boolean subscribing;

	public final List<GroupStatus> published = new CopyOnWriteArrayList<>();

	public final AtomicInteger heartbeats = new AtomicInteger();

	public final AtomicInteger claims = new AtomicInteger();

	/** Presented shards, accepted or not. */
	public final Set<ShardId> presented = new ConcurrentSkipListSet<>();

	/** The first release is not answered before. */
	public volatile CountDownLatch releaseAnswered = new CountDownLatch(0);

	public FailingStore(CoordinationStore store) {
		super(store);
	}

	@Override
	public void verify() {
		if (this.unusable) {
			throw new ShardkeeperConfigurationException("Wrong password.", "Set the right one.");
		}
		super.verify();
	}

	@Override
	public synchronized Subscription subscribe(MemberId member, Runnable onEvent) {
		if (this.subscriptionsToFail > 0) {
			this.subscriptionsToFail--;
			throw new StoreUnavailableException("no subscription", new IllegalStateException());
		}
		this.subscribing = true;
		await(this.subscriptionOpened);
		TestSubscription subscription = new TestSubscription(super.subscribe(member, () -> {
			if (!this.eventsLost) {
				onEvent.run();
			}
		}));
		this.subscriptions.add(subscription);
		return subscription;
	}

	/** The store has none any more, and this side does not know. */
	public synchronized void loseSubscriptionsUnnoticed() {
		this.subscriptions.forEach((subscription) -> subscription.subscription.close());
	}

	public synchronized void loseSubscriptions() {
		this.subscriptions.forEach(Subscription::close);
	}

	/** Number of subscriptions that were opened. */
	public synchronized int subscribed() {
		return this.subscriptions.size();
	}

	public synchronized long openSubscriptions() {
		return this.subscriptions.stream().filter(Subscription::isOpen).count();
	}

	@Override
	public GroupChanges readChanges(long afterGeneration, long seenMembership, Runnable onStep) {
		if (this.readingBroken) {
			throw new IllegalStateException("broken, caused by the test");
		}
		return super.readChanges(afterGeneration, seenMembership, onStep);
	}

	@Override
	public DirectiveStore directives() {
		StoreUnavailableException failure = this.directivesFailure;
		if (failure != null) {
			throw failure;
		}
		return new LosingDirectives(super.directives());
	}

	@Override
	public PlanReply applyPlan(MemberId leader, long epoch, List<Transition> transitions) {
		if (this.planRefused) {
			throw new StoreUnavailableException("no plan", new IllegalStateException());
		}
		return super.applyPlan(leader, epoch, transitions);
	}

	@Override
	public ClaimReply claimShards(MemberId member, Map<ShardId, Token> held) {
		this.claims.incrementAndGet();
		if (this.claimsRefused) {
			throw new StoreUnavailableException("no claim", new IllegalStateException());
		}
		Supplier<Runnable> loss = this.claimLoss;
		if (loss == null) {
			return super.claimShards(member, held);
		}
		Runnable lose = loss.get();
		ClaimReply reply = super.claimShards(member, held);
		lose.run();
		// Only now: a test waits for it to see what follows the loss.
		this.claimLoss = null;
		return reply;
	}

	@Override
	public ClaimReply presentShards(MemberId member, Map<ShardId, Token> held) {
		ClaimReply reply = super.presentShards(member, held);
		this.presented.addAll(held.keySet());
		return reply;
	}

	@Override
	public synchronized List<ReleaseReply> releaseShards(MemberId owner, List<HoldingAction.Release> releases,
			Duration quietPeriod) {
		if (this.releasesToFail > 0) {
			this.releasesToFail--;
			throw new StoreUnavailableException("no release", new IllegalStateException());
		}
		if (this.releasesToLose > 0) {
			this.releasesToLose--;
			loseSubscriptions();
			return Collections.nCopies(releases.size(), ReleaseReply.RELEASED);
		}
		this.releases.add(releases.size());
		await(this.releaseAnswered);
		return super.releaseShards(owner, releases, quietPeriod);
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await(10, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public boolean publishProblems(MemberId leader, long epoch, GroupProblems problems) {
		this.published.add(new GroupStatus(epoch, problems));
		return super.publishProblems(leader, epoch, problems);
	}

	@Override
	public HeartbeatReply heartbeat(MemberId member, Seen seen, boolean candidate, LoadReport load) {
		this.heartbeats.incrementAndGet();
		return super.heartbeat(member, seen, candidate, load);
	}

	private final class LosingDirectives implements DirectiveStore {

		private final DirectiveStore directives;

		LosingDirectives(DirectiveStore directives) {
			this.directives = directives;
		}

		@Override
		public Directives read() {
			return this.directives.read();
		}

		@Override
		public Change put(Directive directive) {
			return this.directives.put(directive);
		}

		@Override
		public Change clear(Directive.Kind kind, String subject) {
			return this.directives.clear(kind, subject);
		}

		@Override
		public boolean complete(MemberId leader, long epoch, Collection<Directive> requests) {
			return FailingStore.this.completionsToLose.getAndUpdate((left) -> Math.max(0, left - 1)) > 0
					|| this.directives.complete(leader, epoch, requests);
		}

	}

	/** Open until it is closed from here, whatever the store thinks. */
	private static final class TestSubscription implements Subscription {

		private final Subscription subscription;

		private volatile boolean open = true;

		TestSubscription(Subscription subscription) {
			this.subscription = subscription;
		}

		@Override
		public boolean isOpen() {
			return this.open;
		}

		@Override
		public void close() {
			this.open = false;
			this.subscription.close();
		}

	}

}
