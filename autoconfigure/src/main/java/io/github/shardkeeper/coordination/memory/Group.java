package io.github.shardkeeper.coordination.memory;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handover.GroupChanges;
import io.github.shardkeeper.handover.GroupMember;
import io.github.shardkeeper.handover.MemberDescription;
import io.github.shardkeeper.handover.Ownership;
import io.github.shardkeeper.handover.ShardPhase;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The state of one group and the steps that the transitions are made of; the counterpart
 * of {@code control.lua}. Confined to the lock of its store.
 */
final class Group {

	/** The order in which members are looked at: the one silent for longest first. */
	private static final Comparator<Session> BY_LEASE_END = Comparator.comparingLong(Session::leaseEnd)
		.thenComparing((session) -> session.id);

	private final Map<MemberId, Session> sessions = new HashMap<>();

	private final Map<ShardId, Ownership> shards = new HashMap<>();

	/** All shards that were ever owned, by the generation of their last change. */
	private final NavigableMap<Long, Ownership> changes = new TreeMap<>();

	private final Set<MemberId> toNotify = new HashSet<>();

	private @Nullable MemberId leader;

	private long epoch;

	private long generation;

	private long membership;

	private long lastToken;

	private long nowMicros;

	/** Sets the time of the transition that follows. */
	void setTime(Instant now) {
		this.nowMicros = ChronoUnit.MICROS.between(Instant.EPOCH, now);
	}

	long nowMillis() {
		return Math.floorDiv(this.nowMicros, 1000L);
	}

	void join(MemberId id, MemberDescription description, long leaseMillis, long timeoutMillis) {
		Session session = new Session(id, description, leaseMillis, timeoutMillis);
		Session known = this.sessions.put(id, session);
		if (known != null) {
			session.owned.putAll(known.owned);
		}
		session.renew(nowMillis());
		membershipChanged();
	}

	@Nullable Session session(MemberId id) {
		return this.sessions.get(id);
	}

	/** Sessions whose lease has ended, the one silent for longest first. */
	List<Session> lateSessions() {
		return this.sessions.values()
			.stream()
			.filter((session) -> session.leaseEnd() <= nowMillis())
			.sorted(BY_LEASE_END)
			.toList();
	}

	long earliestLeaseEnd() {
		return this.sessions.values().stream().mapToLong(Session::leaseEnd).min().orElse(0);
	}

	@Nullable MemberId leader() {
		return this.leader;
	}

	/** When the leader's lease ends; 0 when nobody leads. */
	long leaderLeaseEnd() {
		Session session = (this.leader != null) ? this.sessions.get(this.leader) : null;
		return (session != null) ? session.leaseEnd() : 0;
	}

	/** A leader whose own lease has ended decides nothing more. */
	boolean leads(MemberId id, long epochOfLeader) {
		return id.equals(this.leader) && this.epoch == epochOfLeader && leaderLeaseEnd() > nowMillis();
	}

	void elect(MemberId id) {
		this.leader = id;
		this.epoch++;
	}

	void resign() {
		this.leader = null;
	}

	/** Tells the one whose lease ends last, who is surely awake, to come and lead. */
	void notifySuccessor() {
		this.sessions.values().stream().max(BY_LEASE_END).ifPresent((session) -> notify(session.id));
	}

	long epoch() {
		return this.epoch;
	}

	long generation() {
		return this.generation;
	}

	long membership() {
		return this.membership;
	}

	boolean canTake(@Nullable MemberId id) {
		Session session = (id != null) ? this.sessions.get(id) : null;
		return session != null && !session.isLeaving();
	}

	@Nullable Ownership shard(ShardId id) {
		return this.shards.get(id);
	}

	void assign(ShardId id, MemberId owner) {
		write(id, ShardPhase.OWNED, nextToken(), owner, null);
		notify(owner);
	}

	/** Asks the owner to release a shard, or changes who gets it then. */
	void revoke(Ownership shard, @Nullable MemberId target) {
		write(shard.shard(), ShardPhase.REVOKING, shard.token(), shard.owner(), target);
		notify(shard.owner());
	}

	/**
	 * Takes a shard from its owner, who no longer consumes it: straight to the target of
	 * its move, or to nobody.
	 */
	void takeFromOwner(Ownership shard) {
		MemberId target = shard.target();
		if (shard.phase() == ShardPhase.REVOKING && target != null && canTake(target)) {
			assign(shard.shard(), target);
		}
		else {
			write(shard.shard(), ShardPhase.FREE, shard.token(), null, null);
			notify(this.leader);
		}
	}

	/** Forgets a member, whose shards go where their moves would have led them. */
	void remove(Session session) {
		// First, so that none of its shards comes back to it.
		this.sessions.remove(session.id);
		session.owned.values().forEach(this::takeFromOwner);
		membershipChanged();
	}

	void raiseTokenTo(Token floor) {
		this.lastToken = Math.max(this.lastToken, floor.value());
	}

	void membershipChanged() {
		this.membership++;
		notify(this.leader);
	}

	GroupChanges changesSince(long afterGeneration, long seenMembership) {
		List<GroupMember> members = (seenMembership != this.membership)
				? this.sessions.values().stream().map(Session::toMember).toList() : null;
		return new GroupChanges(this.leader, this.epoch, this.generation, this.membership, members,
				List.copyOf(this.changes.tailMap(afterGeneration, false).values()));
	}

	/** Members to be told of the transitions made, each once. */
	Set<MemberId> drainNotifications() {
		Set<MemberId> drained = Set.copyOf(this.toNotify);
		this.toNotify.clear();
		return drained;
	}

	private void write(ShardId id, ShardPhase phase, Token token, @Nullable MemberId owner, @Nullable MemberId target) {
		this.generation++;
		Ownership now = new Ownership(id, phase, token, owner, target, this.generation, nowMillis(), 0);
		Ownership before = this.shards.put(id, now);
		if (before != null) {
			this.changes.remove(before.generation());
			index(before.owner(), (owned) -> owned.remove(before.generation()));
		}
		this.changes.put(now.generation(), now);
		index(owner, (owned) -> owned.put(now.generation(), now));
	}

	private void index(@Nullable MemberId owner, Consumer<NavigableMap<Long, Ownership>> change) {
		Session session = (owner != null) ? this.sessions.get(owner) : null;
		if (session != null) {
			change.accept(session.owned);
		}
	}

	/** Tokens never repeat, not even when the clock goes back. */
	private Token nextToken() {
		this.lastToken = Math.max(this.lastToken + 1, this.nowMicros);
		return new Token(this.lastToken);
	}

	private void notify(@Nullable MemberId id) {
		if (id != null) {
			this.toNotify.add(id);
		}
	}

}
