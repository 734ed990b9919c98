package io.github.shardkeeper.coordination.memory;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

import org.slf4j.Logger;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore.ClaimReply;
import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.coordination.store.ForgetReply;
import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.coordination.store.InstanceInUseException;
import io.github.shardkeeper.coordination.store.SettingsStore;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.WallClock;

/**
 * A group in one process, for tests and first experiments without Redis. All members
 * share one instance. It makes the same transitions as the scripts for Redis, under one
 * lock. Nothing is durable.
 * <p>
 * Subscribers are called after the transition, without a lock, on the thread that caused
 * it; calls on several threads may overlap. Closing the store does nothing. Thread-safe.
 */
public final class MemoryCoordinationStore implements CoordinationStore {

	private static final Logger logger = PrintableLogger.of(MemoryCoordinationStore.class);

	/** As on Redis. */
	private static final int READ_AT_ONCE = 500;

	/** As on Redis. */
	private static final int WRITTEN_AT_ONCE = 50;

	private final InstantSource clock;

	private final Object lock = new Object();

	private final int readAtOnce;

	private final int writtenAtOnce;

	private Group group;

	private final Set<MemorySubscription> subscriptions = new CopyOnWriteArraySet<>();

	private final MemoryDiagnostics diagnostics = new MemoryDiagnostics();

	private final DirectiveStore directives = new MemoryDirectives(this::inGroup);

	private final SettingsStore settings = new MemorySettings(this::inGroup);

	private final Map<Class<?>, Object> companions = new ConcurrentHashMap<>();

	/**
	 * Creates an empty group that uses the system's clock. No member can hold a shard of
	 * it yet, so its first member gets shards at once.
	 */
	public MemoryCoordinationStore() {
		this(WallClock.SYSTEM, READ_AT_ONCE, WRITTEN_AT_ONCE, new Group(true));
	}

	/**
	 * Creates an empty group of which, as above, no member can hold a shard yet.
	 * @param clock the store's time, in microseconds
	 */
	public static MemoryCoordinationStore ofNewGroup(InstantSource clock) {
		return new MemoryCoordinationStore(clock, READ_AT_ONCE, WRITTEN_AT_ONCE, new Group(true));
	}

	/**
	 * Creates an empty group as on a Redis that may have been emptied: no shard gets an
	 * owner for a lease after the first join.
	 * @param clock the store's time, in microseconds
	 */
	public MemoryCoordinationStore(InstantSource clock) {
		this(clock, READ_AT_ONCE, WRITTEN_AT_ONCE);
	}

	MemoryCoordinationStore(InstantSource clock, int readAtOnce, int writtenAtOnce) {
		this(clock, readAtOnce, writtenAtOnce, new Group(false));
	}

	private MemoryCoordinationStore(InstantSource clock, int readAtOnce, int writtenAtOnce, Group group) {
		this.clock = clock;
		this.readAtOnce = readAtOnce;
		this.writtenAtOnce = writtenAtOnce;
		this.group = group;
	}

	@Override
	public void verify() {
	}

	@Override
	public GroupDiagnostics diagnostics() {
		return this.diagnostics;
	}

	@Override
	public DirectiveStore directives() {
		return this.directives;
	}

	@Override
	public SettingsStore settings() {
		return this.settings;
	}

	@Override
	public Subscription subscribe(MemberId member, Runnable onEvent) {
		MemorySubscription subscription = new MemorySubscription(member, onEvent);
		this.subscriptions.add(subscription);
		return subscription;
	}

	@Override
	public void joinGroup(MemberId member, MemberDescription description, Duration lease, Duration timeout,
			Duration longestLease, boolean alone) {
		change((group) -> {
			if (alone) {
				requireAlone(member, group);
			}
			group.join(new Session(member, description, lease.toMillis(), timeout.toMillis()), longestLease.toMillis());
		});
	}

	@Override
	public void updateDescription(MemberId member, MemberDescription description) {
		change((group) -> {
			Session session = group.sessions.get(member);
			if (session != null) {
				session.describe(description);
				group.membershipChanged();
			}
		});
	}

	@Override
	public HeartbeatReply heartbeat(MemberId member, Seen seen, boolean candidate, LoadReport load) {
		return inGroup((group) -> {
			Session session = group.sessions.get(member);
			if (session == null) {
				return new HeartbeatReply.Expired();
			}
			return new Heartbeat(group, session, seen, load).reply(candidate, isSubscribed(member), this.readAtOnce);
		});
	}

	@Override
	public GroupChanges readChanges(long afterGeneration, long seenMembership) {
		return inGroup((group) -> group.changesSince(afterGeneration, seenMembership));
	}

	@Override
	public LoadChanges readLoads(long afterVersion) {
		return inGroup((group) -> group.loadsSince(afterVersion));
	}

	@Override
	public PlanReply applyPlan(MemberId leader, long epoch, List<Transition> transitions) {
		return inGroup((group) -> {
			if (!group.leads(leader, epoch)) {
				return new PlanReply.Deposed();
			}
			return new PlanExecutor(group).apply(transitions);
		});
	}

	@Override
	public EndClaimsReply endClaims(MemberId leader, long epoch, long untilMillis) {
		return inGroup((group) -> group.leads(leader, epoch) ? group.endClaims(untilMillis) : EndClaimsReply.DEPOSED);
	}

	@Override
	public boolean publishProblems(MemberId leader, long epoch, GroupProblems problems) {
		return inGroup((group) -> {
			boolean leads = group.leads(leader, epoch);
			if (leads) {
				group.publish(epoch, problems);
			}
			return leads;
		});
	}

	@Override
	public List<ReleaseReply> releaseShards(MemberId owner, List<HoldingAction.Release> releases,
			Duration quietPeriod) {
		return inGroup((group) -> new HeldShards(group, owner).release(releases, quietPeriod.toMillis()));
	}

	@Override
	public ClaimReply claimShards(MemberId member, Map<ShardId, Token> held) {
		return inGroup((group) -> new HeldShards(group, member).claim(held, true));
	}

	@Override
	public ClaimReply presentShards(MemberId member, Map<ShardId, Token> held) {
		return inGroup((group) -> new HeldShards(group, member).claim(held, false));
	}

	@Override
	public void notifyOwners(Collection<ShardId> shards) {
		change((group) -> shards.forEach(group::notifyOwner));
	}

	@Override
	public ReapReply reapMembers(MemberId leader, long epoch, SteadyTime steady, Duration crashQuietPeriod) {
		return inGroup((group) -> {
			if (!group.leads(leader, epoch)) {
				return new ReapReply.Deposed();
			}
			return new MemberReaping(group, steady, crashQuietPeriod.toMillis(), this::isSubscribed, this.writtenAtOnce)
				.look();
		});
	}

	@Override
	public ForgetReply forgetShards(String topic) {
		ForgetReply reply = inGroup((group) -> group.forget(topic));
		if (reply.users().isEmpty()) {
			this.diagnostics.removeAll(GroupDiagnostics.Kind.REASONS, topic + "/");
		}
		return reply;
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

	private void requireAlone(MemberId member, Group group) {
		group.sessions.others(member)
			.filter((other) -> other.leaseEnd() > group.nowMillis())
			.filter((other) -> other.subscriptionHidden() || isSubscribed(other.id))
			.findFirst()
			.ifPresent((other) -> {
				throw new InstanceInUseException(other.id);
			});
	}

	@Override
	public void announceRestart(MemberId member) {
		change((group) -> {
			Session session = group.sessions.get(member);
			if (session != null) {
				session.startRestarting();
				group.membershipChanged();
			}
		});
	}

	@Override
	public void leaveForRestart(MemberId member, Duration quietPeriod, Duration awayTimeout) {
		leave(member, quietPeriod, (group, session) -> group.goAway(session, awayTimeout.toMillis()));
	}

	@Override
	public void leaveGroup(MemberId member, Duration quietPeriod) {
		leave(member, quietPeriod, (group, session) -> {
		});
	}

	private void leave(MemberId member, Duration quietPeriod, BiConsumer<Group, Session> before) {
		change((group) -> {
			Session session = group.sessions.get(member);
			if (session != null) {
				before.accept(group, session);
				group.resign(member);
				group.remove(session, this.writtenAtOnce, quietPeriod.toMillis());
				group.membershipChanged();
			}
		});
	}

	Snapshot snapshot() {
		synchronized (this.lock) {
			return new Snapshot(this.group.copy());
		}
	}

	/** Loses all writes since a snapshot, as a failover may. */
	void loseWritesSince(Snapshot snapshot) {
		synchronized (this.lock) {
			this.group = snapshot.group.copy();
		}
	}

	void empty() {
		synchronized (this.lock) {
			this.group = new Group(false);
		}
	}

	/** Begins a new group of which no member can hold a shard yet. */
	public void reset() {
		synchronized (this.lock) {
			this.group = new Group(true);
		}
		this.diagnostics.clear();
		closeSubscriptions();
	}

	void closeSubscriptions() {
		this.subscriptions.clear();
	}

	@Override
	public void close() {
	}

	private boolean isSubscribed(MemberId member) {
		return this.subscriptions.stream().anyMatch((subscription) -> subscription.member.equals(member));
	}

	/**
	 * Returns what all users of this store share beside the group's state, for example
	 * the subscriptions to messages. It is neither lost nor restored with the group.
	 * @param create creates it, for the first who asks
	 */
	public <T> T companion(Class<T> type, Function<MemoryCoordinationStore, T> create) {
		return type.cast(this.companions.computeIfAbsent(type, (absent) -> create.apply(this)));
	}

	/**
	 * Makes a transition of what is kept beside the group, atomically with its own.
	 * @param transition makes it; must not block
	 * @return its result
	 */
	public <T> T transition(Function<? super MemoryGroup, T> transition) {
		return inGroup(transition::apply);
	}

	private void change(Consumer<Group> change) {
		inGroup((group) -> {
			change.accept(group);
			return true;
		});
	}

	private <T> T inGroup(Function<Group, T> transition) {
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
				// A subscriber's failure must not fail the transition of another member.
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
