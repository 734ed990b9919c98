package io.github.shardkeeper.coordination.memory;

import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.Consumer;
import java.util.function.Function;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.handover.HeartbeatReply;
import io.github.shardkeeper.handover.HoldingAction;
import io.github.shardkeeper.handover.PlanReply;
import io.github.shardkeeper.handover.ReapReply;
import io.github.shardkeeper.handover.Seen;
import io.github.shardkeeper.handover.ShardPhase;
import io.github.shardkeeper.coordination.ReleaseReply;
import io.github.shardkeeper.handover.GroupChanges;
import io.github.shardkeeper.handover.MemberDescription;
import io.github.shardkeeper.handover.Ownership;
import io.github.shardkeeper.handover.Transition;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * A group inside one process, for tests and for trying things out without Redis: one
 * instance is one group, which all members share. It makes the same transitions as the
 * scripts for Redis, one at a time, and forgets everything with the process.
 * <p>
 * Subscribers are called after the transition, without any lock, on the thread that
 * caused it; calls on several threads may overlap. The store holds no resources: closing
 * it does nothing, so that no member takes it away from the others. Thread-safe.
 */
public final class MemoryCoordinationStore implements CoordinationStore {

	private static final Logger logger = LoggerFactory.getLogger(MemoryCoordinationStore.class);

	/** As much as the other stores do at once. */
	private static final int BATCH = 500;

	private final InstantSource clock;

	private final Object lock = new Object();

	private final int batch;

	private Group group = new Group();

	private final Set<MemorySubscription> subscriptions = new CopyOnWriteArraySet<>();

	/**
	 * Creates an empty group that goes by the system's clock.
	 */
	public MemoryCoordinationStore() {
		this(InstantSource.system());
	}

	/**
	 * Creates an empty group.
	 * @param clock the store's time; microseconds count
	 */
	public MemoryCoordinationStore(InstantSource clock) {
		this(clock, BATCH);
	}

	MemoryCoordinationStore(InstantSource clock, int batch) {
		this.clock = clock;
		this.batch = batch;
	}

	@Override
	public void verify() {
	}

	@Override
	public Subscription subscribe(MemberId member, Runnable onEvent) {
		MemorySubscription subscription = new MemorySubscription(member, onEvent);
		this.subscriptions.add(subscription);
		return subscription;
	}

	@Override
	public void join(MemberId member, MemberDescription description, Duration lease, Duration timeout) {
		change((group) -> {
			group.join(new Session(member, description, lease.toMillis(), timeout.toMillis()));
		});
	}

	@Override
	public HeartbeatReply heartbeat(MemberId member, Seen seen, boolean candidate) {
		return transition((group) -> {
			Session session = group.sessions.get(member);
			if (session == null) {
				return new HeartbeatReply.Expired();
			}
			return new Beat(group, session, seen).answer(candidate, isSubscribed(member), this.batch);
		});
	}

	@Override
	public GroupChanges changes(long afterGeneration, long seenMembership) {
		return transition((group) -> group.changesSince(afterGeneration, seenMembership));
	}

	@Override
	public PlanReply plan(MemberId leader, long epoch, List<Transition> transitions) {
		return transition((group) -> {
			if (!group.leads(leader, epoch)) {
				return new PlanReply.Deposed();
			}
			return new Planning(group).apply(transitions);
		});
	}

	@Override
	public List<ReleaseReply> release(MemberId owner, List<HoldingAction.Release> releases, Duration quietPeriod) {
		return transition((group) -> releases.stream()
			.map((release) -> release(group, owner, release, quietPeriod.toMillis()))
			.toList());
	}

	private static ReleaseReply release(Group group, MemberId owner, HoldingAction.Release release, long quietMillis) {
		Ownership shard = group.shards.get(release.shard());
		if (shard == null || !owner.equals(shard.owner()) || !release.token().equals(shard.token())) {
			return ReleaseReply.STALE;
		}
		group.raiseTokenTo(release.tokenFloor());
		if (release.completed()) {
			group.complete(shard);
		}
		else {
			group.takeFromOwner(shard, quietMillis);
		}
		return ReleaseReply.RELEASED;
	}

	@Override
	public Set<ShardId> claim(MemberId member, Map<ShardId, Token> held) {
		return transition((group) -> {
			Set<ShardId> granted = new LinkedHashSet<>();
			if (group.sessions.get(member) != null) {
				held.forEach((shard, token) -> {
					if (claim(group, member, shard, token)) {
						granted.add(shard);
					}
				});
			}
			return granted;
		});
	}

	private static boolean claim(Group group, MemberId member, ShardId id, Token token) {
		Ownership shard = group.shards.get(id);
		if (shard != null && member.equals(shard.owner()) && token.equals(shard.token())) {
			return true;
		}
		boolean older = shard == null || shard.phase() != ShardPhase.COMPLETED && shard.token().compareTo(token) < 0;
		if (older) {
			group.raiseTokenTo(token);
			group.own(id, token, member);
			group.notifyLeader();
		}
		return older;
	}

	@Override
	public ReapReply reap(MemberId leader, long epoch, long steadySinceMillis, Duration crashQuietPeriod) {
		return transition((group) -> {
			if (!group.leads(leader, epoch)) {
				return new ReapReply.Deposed();
			}
			return new Reaping(group, steadySinceMillis, crashQuietPeriod.toMillis(), this::isSubscribed, this.batch)
				.look();
		});
	}

	@Override
	public void announceLeave(MemberId member) {
		change((group) -> {
			Session session = group.sessions.get(member);
			if (session != null) {
				session.startLeaving();
				group.membershipChanged();
			}
		});
	}

	@Override
	public void leave(MemberId member, Duration quietPeriod) {
		change((group) -> {
			Session session = group.sessions.get(member);
			if (session != null) {
				group.resign(member);
				group.remove(session, this.batch, quietPeriod.toMillis());
				group.membershipChanged();
			}
		});
	}

	/**
	 * Everything as it is now, but for the subscriptions.
	 * @return a copy
	 */
	Snapshot snapshot() {
		synchronized (this.lock) {
			return new Snapshot(this.group.copy());
		}
	}

	/**
	 * Forgets everything that was written since, as a failover may.
	 * @param snapshot what is known then
	 */
	void loseWritesSince(Snapshot snapshot) {
		synchronized (this.lock) {
			this.group = snapshot.group.copy();
		}
	}

	/** Forgets everything, as a server without persistence does when it ends. */
	void empty() {
		synchronized (this.lock) {
			this.group = new Group();
		}
	}

	/** Closes all subscriptions, as a server does when it ends. */
	void closeSubscriptions() {
		this.subscriptions.clear();
	}

	@Override
	public void close() {
	}

	private boolean isSubscribed(MemberId member) {
		return this.subscriptions.stream().anyMatch((subscription) -> subscription.member.equals(member));
	}

	private void change(Consumer<Group> change) {
		transition((group) -> {
			change.accept(group);
			return true;
		});
	}

	private <T> T transition(Function<Group, T> transition) {
		T reply;
		List<MemberId> concerned;
		synchronized (this.lock) {
			this.group.setTime(this.clock.instant());
			reply = transition.apply(this.group);
			concerned = this.group.drainNotifications();
		}
		for (MemberId member : concerned) {
			this.subscriptions.stream()
				.filter((subscription) -> subscription.member.equals(member))
				.forEach(MemorySubscription::notifySubscriber);
		}
		return reply;
	}

	/** What the store knew at a moment. */
	record Snapshot(Group group) {

	}

	/** Compared by identity: a member may have several. */
	private final class MemorySubscription implements Subscription {

		private final MemberId member;

		private final Runnable onEvent;

		MemorySubscription(MemberId member, Runnable onEvent) {
			this.member = member;
			this.onEvent = onEvent;
		}

		void notifySubscriber() {
			try {
				this.onEvent.run();
			}
			catch (RuntimeException ex) {
				// One member's failure must not look like that of another's transition.
				logger.error("Subscriber of member {} failed", this.member, ex);
			}
		}

		@Override
		public boolean isOpen() {
			return MemoryCoordinationStore.this.subscriptions.contains(this);
		}

		@Override
		public void close() {
			MemoryCoordinationStore.this.subscriptions.remove(this);
		}

	}

}
