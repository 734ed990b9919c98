package io.github.shardkeeper.coordination.memory;

import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.shard.MemberId;

/**
 * The members of a group, and former members whose shards still have to be freed.
 * Confined to the lock of its store.
 */
final class Sessions {

	/** Order of searches: the member that is silent for longest comes first. */
	private static final Comparator<Session> BY_LEASE_END = Comparator.comparingLong(Session::leaseEnd)
		.thenComparing((session) -> session.id);

	private final NavigableMap<MemberId, Session> known = new TreeMap<>();

	private final NavigableMap<MemberId, Session> gone = new TreeMap<>();

	Sessions copy() {
		Sessions copy = new Sessions();
		this.known.forEach((id, session) -> copy.known.put(id, session.copy()));
		this.gone.forEach((id, session) -> copy.gone.put(id, session.copy()));
		return copy;
	}

	@Nullable Session get(MemberId id) {
		return this.known.get(id);
	}

	boolean isKnown(Session session) {
		return this.known.containsKey(session.id);
	}

	List<GroupMember> members() {
		return this.known.values().stream().map(Session::toMember).toList();
	}

	/** Returns the other members of an instance. */
	Stream<Session> others(MemberId member) {
		return this.known.values()
			.stream()
			.filter((session) -> !session.id.equals(member) && session.id.instance().equals(member.instance()));
	}

	SortedMap<MemberId, LoadReport> loadsSince(long version) {
		SortedMap<MemberId, LoadReport> loads = new TreeMap<>();
		this.known.values()
			.stream()
			.filter((session) -> session.loadVersion() > version)
			.forEach((session) -> loads.put(session.id, session.load()));
		return loads;
	}

	void add(Session session) {
		this.gone.remove(session.id);
		this.known.put(session.id, session);
	}

	/** Makes a member a former one, which every search visits. */
	void end(Session session) {
		this.known.remove(session.id);
		session.end();
		this.gone.put(session.id, session);
	}

	void forget(Session session) {
		this.gone.remove(session.id);
	}

	boolean isLeft(Session session) {
		return this.gone.containsKey(session.id);
	}

	long longestLeaseMillis() {
		return this.known.values().stream().mapToLong(Session::leaseMillis).max().orElse(0);
	}

	long earliestLeaseEnd() {
		return all().mapToLong(Session::leaseEnd).min().orElse(0);
	}

	List<Session> late(long now) {
		return all().filter((session) -> session.leaseEnd() <= now).sorted(BY_LEASE_END).toList();
	}

	/** Returns the members whose lease is over, with its end. */
	SortedMap<MemberId, Long> silent(long now) {
		SortedMap<MemberId, Long> silent = new TreeMap<>();
		this.known.values()
			.stream()
			.filter((session) -> session.leaseEnd() <= now)
			.forEach((session) -> silent.put(session.id, session.leaseEnd()));
		return silent;
	}

	/** Returns the other member with the newest heartbeat, the likeliest to be alive. */
	@Nullable Session lastBut(MemberId one) {
		return all().filter((session) -> !session.id.equals(one)).max(BY_LEASE_END).orElse(null);
	}

	/**
	 * Renews leases that end later than if they had begun now: the clock was set back
	 * since. Returns the minimum of that step in milliseconds, 0 for none.
	 */
	long clockRead(long now) {
		long setBack = 0;
		Session last = all().max(BY_LEASE_END).orElse(null);
		while (last != null && isKnown(last) && last.leaseEnd() > now + last.leaseMillis()) {
			setBack = Math.max(setBack, last.leaseEnd() - now - last.leaseMillis());
			last.renew(now);
			last = all().max(BY_LEASE_END).orElse(null);
		}
		return setBack;
	}

	private Stream<Session> all() {
		return Stream.concat(this.known.values().stream(), this.gone.values().stream());
	}

}
