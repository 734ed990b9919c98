package io.github.shardkeeper.coordination.memory;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.store.ForgetReply;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The state of a group, and the steps of its transitions; the counterpart of
 * {@code control.lua}. Confined to the lock of its store.
 */
final class Group implements MemoryGroup {

	/** Minimum step of a clock that counts as one. */
	private static final long SET_BACK_MILLIS = 100;

	final Sessions sessions;

	final ShardTable shards;

	/** Instances that have left for a restart, also some whose time is over. */
	private final SortedMap<String, RestartingInstance> away = new TreeMap<>();

	private final boolean known;

	/** Members to notify after the transition, in this order. */
	private final Set<MemberId> toNotify = new LinkedHashSet<>();

	private @Nullable MemberId leader;

	private long epoch;

	private long membership;

	private long forgotten;

	private long lastToken;

	/** 0 until the first member joins. */
	private long history;

	private long loads;

	private long setBacks;

	private GroupStatus status = GroupStatus.NONE;

	private long longestLeaseMillis;

	private long claimsUntil;

	private long claimsSince;

	private long nowMicros;

	private final Map<Class<?>, Attachment> attachments = new LinkedHashMap<>();

	/**
	 * Creates an empty group.
	 * @param known whether no member can hold a shard of it, so that its first member
	 * need not wait for claims
	 */
	Group(boolean known) {
		this(new Sessions(), new ShardTable(), known);
	}

	private Group(Sessions sessions, ShardTable shards, boolean known) {
		this.sessions = sessions;
		this.shards = shards;
		this.known = known;
	}

	Group copy() {
		Group copy = new Group(this.sessions.copy(), this.shards.copy(), this.known);
		copy.away.putAll(this.away);
		copy.leader = this.leader;
		copy.epoch = this.epoch;
		copy.membership = this.membership;
		copy.forgotten = this.forgotten;
		copy.lastToken = this.lastToken;
		copy.history = this.history;
		copy.loads = this.loads;
		copy.setBacks = this.setBacks;
		copy.status = this.status;
		copy.longestLeaseMillis = this.longestLeaseMillis;
		copy.claimsUntil = this.claimsUntil;
		copy.claimsSince = this.claimsSince;
		this.attachments.forEach((type, attachment) -> copy.attachments.put(type, attachment.copy()));
		return copy;
	}

	void setTime(Instant now) {
		this.nowMicros = ChronoUnit.MICROS.between(Instant.EPOCH, now);
	}

	@Override
	public boolean isInClaimPeriod() {
		return claimsUntil() > 0;
	}

	@Override
	public long membership() {
		return this.membership;
	}

	@Override
	public boolean isMember(MemberId member) {
		return this.sessions.get(member) != null;
	}

	@Override
	public boolean hasLease(MemberId member) {
		Session session = this.sessions.get(member);
		return session != null && session.leaseEnd() > nowMillis();
	}

	@Override
	public List<GroupMember> members() {
		return this.sessions.members();
	}

	@Override
	public <T extends Attachment> T attachment(Class<T> type, Supplier<T> initial) {
		return type.cast(this.attachments.computeIfAbsent(type, (absent) -> initial.get()));
	}

	@Override
	public <T> List<T> attachments(Class<T> type) {
		return this.attachments.values().stream().filter(type::isInstance).map(type::cast).toList();
	}

	@Override
	public long nowMillis() {
		return Math.floorDiv(this.nowMicros, 1000L);
	}

	void join(Session session, long longestLeaseKnown) {
		if (this.history == 0) {
			this.history = Math.max(1, this.nowMicros);
			if (!this.known) {
				openClaims(Math.max(session.leaseMillis(), longestLeaseKnown));
			}
		}
		else if (claimsUntil() > 0 && longestLeaseKnown > this.longestLeaseMillis) {
			openClaims(longestLeaseKnown);
		}
		Session before = this.sessions.get(session.id);
		if (before != null) {
			session.takeOver(before);
		}
		session.renew(nowMillis());
		this.sessions.add(session);
		this.away.remove(session.id.instance());
		forgetThoseTooLongAway();
		if (claimsUntil() > 0) {
			rememberLease(session.leaseMillis());
		}
		else {
			// A member with a longer one may have left.
			this.longestLeaseMillis = this.sessions.longestLeaseMillis();
		}
		membershipChanged();
	}

	long history() {
		return this.history;
	}

	/** Starts a new history after a loss of writes: all members read everything again. */
	void beginHistoryAfter(long seen, long leaseMillis) {
		this.history = Math.max(Math.max(seen, this.history) + 1, this.nowMicros);
		this.leader = null;
		openClaims(leaseMillis);
	}

	/** Remembers the longest lease under which a shard may be held. */
	private void rememberLease(long leaseMillis) {
		this.longestLeaseMillis = Math.max(this.longestLeaseMillis, leaseMillis);
	}

	long longestLeaseMillis() {
		return this.longestLeaseMillis;
	}

	/** Starts the claim period: the longest lease at least, until a leader ends it. */
	void openClaims(long leaseMillis) {
		rememberLease(leaseMillis);
		this.claimsUntil = Math.max(this.claimsUntil, nowMillis() + this.longestLeaseMillis);
		this.claimsSince = nowMillis();
	}

	EndClaimsReply endClaims(long untilMillis) {
		if (claimsEnd() != 0 && claimsEnd() != untilMillis) {
			return EndClaimsReply.OPEN;
		}
		this.claimsUntil = 0;
		return EndClaimsReply.ENDED;
	}

	/** Returns the time until which no shard gets an owner by a plan; 0 for none. */
	long claimsUntil() {
		return (claimsEnd() != 0) ? Math.max(claimsEnd(), nowMillis() + 1) : 0;
	}

	/** Returns the earliest end of the claim period; 0 outside that time. */
	long claimsEnd() {
		if (this.claimsUntil != 0 && nowMillis() < this.claimsSince) {
			// The clock was set back by an unknown time: start the period again.
			this.claimsUntil = nowMillis() + this.claimsUntil - this.claimsSince;
			this.claimsSince = nowMillis();
		}
		return this.claimsUntil;
	}

	@Nullable MemberId leader() {
		return this.leader;
	}

	/** Returns the end of the leader's lease; 0 without a leader. */
	long leaderLeaseEnd() {
		Session session = (this.leader != null) ? this.sessions.get(this.leader) : null;
		return (session != null) ? session.leaseEnd() : 0;
	}

	/** Returns whether a member leads in an epoch and its lease has not ended. */
	boolean leads(MemberId id, long epochOfLeader) {
		return id.equals(this.leader) && this.epoch == epochOfLeader && leaderLeaseEnd() > nowMillis();
	}

	void elect(MemberId id) {
		this.leader = id;
		this.epoch++;
	}

	/**
	 * Ends a leadership and notifies the member with the newest heartbeat. This elects
	 * nobody: the next heartbeat does.
	 */
	void resign(MemberId id) {
		if (id.equals(this.leader)) {
			this.leader = null;
			Session successor = this.sessions.lastBut(id);
			notify((successor != null) ? successor.id : null);
		}
	}

	long epoch() {
		return this.epoch;
	}

	void publish(long epochOfLeader, GroupProblems problems) {
		this.status = new GroupStatus(epochOfLeader, problems);
	}

	GroupStatus status() {
		return this.status;
	}

	boolean canTake(@Nullable MemberId id) {
		Session session = (id != null) ? this.sessions.get(id) : null;
		return session != null && !session.isLeaving();
	}

	void assign(ShardId id, MemberId owner) {
		own(id, nextToken(), owner);
		notify(owner);
	}

	void own(ShardId id, Token token, MemberId owner) {
		write(id, Phase.OWNED, token, owner, null, 0);
	}

	void revoke(Ownership shard, @Nullable MemberId target) {
		write(shard.shard(), Phase.REVOKING, shard.token(), shard.owner(), target, 0);
		notify(shard.owner());
		notify(target);
	}

	/** Notifies the owner of a shard, unless the shard is being moved. */
	void notifyOwner(ShardId id) {
		Ownership shard = this.shards.get(id);
		if (shard != null && shard.phase() == Phase.OWNED) {
			this.shards.tellOwnerAgain(shard);
			notify(shard.owner());
		}
	}

	/** Notifies an earlier owner that it has lost a shard, which it may still consume. */
	void tellDisplaced(@Nullable Ownership before) {
		MemberId displaced = (before != null) ? before.owner() : null;
		if (before == null || displaced == null || this.sessions.get(displaced) == null) {
			return;
		}
		Ownership now = Objects.requireNonNull(this.shards.get(before.shard()));
		if (!displaced.equals(now.owner())) {
			this.shards.tellDisplaced(displaced, before.shard());
			notify(displaced);
		}
	}

	void complete(Ownership shard) {
		write(shard.shard(), Phase.COMPLETED, shard.token(), null, null, 0);
		notify(this.leader);
	}

	/** Starts or extends a quiet period. The target stays if it can take the shard. */
	void rest(Ownership shard, @Nullable MemberId target, long untilMillis) {
		write(shard.shard(), Phase.QUIET, shard.token(), null, canTake(target) ? target : null, untilMillis);
	}

	boolean restarts(MemberId id) {
		Session session = this.sessions.get(id);
		return session != null && session.isRestarting();
	}

	/** Keeps a shard that its owner has released for the next session of its instance. */
	void keep(Ownership shard, long quietMillis) {
		MemberId owner = Objects.requireNonNull(shard.owner());
		write(shard.shard(), Phase.QUIET, shard.token(), null, RestartingInstance.idOf(owner.instance()),
				Math.max(nowMillis() + quietMillis, claimsUntil()));
		notify(this.leader);
	}

	/** Notes that an instance is away, if its member has announced that. */
	void goAway(Session session, long awayMillis) {
		if (session.isRestarting()) {
			String instance = session.id.instance();
			this.away.put(instance,
					new RestartingInstance(instance, session.description(), nowMillis(), nowMillis() + awayMillis));
		}
		forgetThoseTooLongAway();
	}

	private List<RestartingInstance> stillAway() {
		return this.away.values().stream().filter((one) -> one.untilMillis() > nowMillis()).toList();
	}

	private void forgetThoseTooLongAway() {
		this.away.values().removeIf((one) -> one.untilMillis() <= nowMillis());
	}

	/**
	 * Takes a shard that its owner no longer consumes: it rests, or goes to its target,
	 * or becomes free.
	 */
	void takeFromOwner(Ownership shard, long quietMillis) {
		MemberId target = canTake(shard.target()) ? shard.target() : null;
		long untilMillis = Math.max(nowMillis() + quietMillis, claimsUntil());
		if (untilMillis > nowMillis()) {
			rest(shard, target, untilMillis);
			notify(this.leader);
			notify(target);
		}
		else if (target != null) {
			assign(shard.shard(), target);
		}
		else {
			write(shard.shard(), Phase.FREE, shard.token(), null, null, 0);
			notify(this.leader);
		}
	}

	/**
	 * Removes a member and frees its shards, up to a limit; returns their number. If some
	 * are left, the session stays among the ended ones, for the next search. Shards of
	 * which the member was only the target do not change.
	 */
	int remove(Session session, int limit, long quietMillis) {
		// First, so that none of its shards is assigned to it again.
		this.sessions.end(session);
		List<Ownership> concerned = this.shards.concerning(session.id, 0, limit);
		for (Ownership shard : concerned) {
			if (session.id.equals(shard.owner())) {
				takeFromOwner(shard, quietMillis);
			}
			else {
				this.shards.forget(session.id, shard);
			}
		}
		if (this.shards.concernsNothing(session.id)) {
			this.sessions.forget(session);
		}
		return concerned.size();
	}

	void raiseTokenTo(Token floor) {
		this.lastToken = Math.max(this.lastToken, floor.value());
	}

	/** Returns a new token. Tokens never repeat, also if the clock is set back. */
	@Override
	public Token nextToken() {
		this.lastToken = Math.max(this.lastToken + 1, this.nowMicros);
		return new Token(this.lastToken);
	}

	void membershipChanged() {
		this.membership++;
		notifyLeader();
	}

	void report(Session session, LoadReport load) {
		if (!load.equals(LoadReport.NONE)) {
			session.report(load, ++this.loads);
		}
	}

	/**
	 * Detects a clock that was set back, from the leases in the store and from the
	 * earliest time that a member knows. Call it before leases are compared with the
	 * clock.
	 */
	void clockRead(long earliestMillis) {
		if (this.sessions.clockRead(nowMillis()) >= SET_BACK_MILLIS || nowMillis() < earliestMillis) {
			this.setBacks++;
		}
	}

	long setBacks() {
		return this.setBacks;
	}

	long loads() {
		return this.loads;
	}

	LoadChanges loadsSince(long afterVersion) {
		return new LoadChanges(this.loads, this.sessions.loadsSince(afterVersion));
	}

	ForgetReply forget(String topic) {
		GroupChanges all = changesSince(0, -1);
		SortedSet<MemberId> users = ForgetReply.users(topic, all);
		if (!users.isEmpty()) {
			return new ForgetReply(0, Token.NONE, users);
		}
		if (this.history == 0 || claimsUntil() > 0) {
			throw ForgetReply.claimsOpen(topic);
		}
		List<ShardId> past = ForgetReply.shards(topic, all);
		for (ShardId shard : past) {
			this.shards.forget(shard);
			membershipChanged();
			this.forgotten = this.membership;
		}
		return new ForgetReply(past.size(), new Token((this.lastToken > 0) ? this.lastToken : this.nowMicros), users);
	}

	GroupChanges changesSince(long afterGeneration, long seenMembership) {
		boolean whole = this.forgotten > 0 && seenMembership < this.forgotten;
		return new GroupChanges(this.leader, this.epoch, this.shards.generation(), this.membership, whole,
				(seenMembership != this.membership) ? this.sessions.members() : null,
				this.shards.changedSince(whole ? 0 : afterGeneration), this.sessions.silent(nowMillis()),
				(seenMembership != this.membership) ? stillAway() : List.of());
	}

	void notifyLeader() {
		notify(this.leader);
	}

	void notify(@Nullable MemberId id) {
		if (id != null) {
			this.toNotify.add(id);
		}
	}

	List<MemberId> drainNotifications() {
		List<MemberId> drained = List.copyOf(this.toNotify);
		this.toNotify.clear();
		return drained;
	}

	private void write(ShardId id, Phase phase, Token token, @Nullable MemberId owner, @Nullable MemberId target,
			long untilMillis) {
		this.shards.write(new Ownership(id, phase, token, owner, target, 0, nowMillis(), untilMillis));
	}

}
