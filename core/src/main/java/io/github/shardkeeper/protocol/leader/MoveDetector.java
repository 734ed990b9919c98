package io.github.shardkeeper.protocol.leader;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HandoverRules.OnTimeout;
import io.github.shardkeeper.protocol.MoveReason;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

/**
 * Finds the moves in what a leader reads, by comparison with what it had read before, and
 * decides their cause: by the reason of the plan where this leader has planned the move,
 * otherwise by what happened to its members. A new leader cannot compare what it reads
 * first. Its latest changes may be moves that no leader has seen, so they are found
 * without their former owner, and with the cause {@code UNKNOWN}. Confined to the
 * coordinator's loop.
 */
final class MoveDetector {

	/** A member that takes a shard later than this has not joined because of it. */
	private static final long JOIN_MILLIS = 10_000;

	/**
	 * Changes that are not older when a leader begins may be moves that the last one has
	 * not recorded. Longer than it takes to replace a leader.
	 */
	private static final long UNSEEN_MILLIS = 60_000;

	/** Former members whose version and end are remembered. */
	private static final int MOST_FORMER_MEMBERS = 1_000;

	/** Shards that are given up and have no new owner yet. */
	private final Map<ShardId, Departure> departures = new HashMap<>();

	/**
	 * Members by the store's time at which they were first seen; 0 for the first ones.
	 */
	private final Map<MemberId, Long> joinedMillis = new HashMap<>();

	/** Members, and the last former ones. */
	private final Map<MemberId, GroupMember> known = new LinkedHashMap<>();

	private Set<MemberId> current = Set.of();

	/** Members whose sessions this leader has ended. */
	private final Set<MemberId> crashed = new LinkedHashSet<>();

	/** Reasons of the moves that this leader has planned and not seen yet. */
	private final Map<ShardId, MoveReason> planned = new HashMap<>();

	private final HandoverRules rules;

	/** Who has asked for the move of a shard: {@code null} if nobody has. */
	private final Function<ShardId, @Nullable String> asked;

	/** Whether the group was read before. */
	private boolean informed;

	/**
	 * Creates a detector.
	 * @param asked returns who has asked for the last move of a shard, also blank;
	 * {@code null} if nobody has
	 */
	MoveDetector(HandoverRules rules, Function<ShardId, @Nullable String> asked) {
		this.rules = rules;
		this.asked = asked;
	}

	/** Forgets everything: another member has led meanwhile. */
	void reset() {
		this.departures.clear();
		this.joinedMillis.clear();
		this.known.clear();
		this.current = Set.of();
		this.crashed.clear();
		this.planned.clear();
		this.informed = false;
	}

	/** Takes the reasons of moves that the leader has planned. */
	void planned(Map<ShardId, MoveReason> reasons) {
		this.planned.putAll(reasons);
	}

	/** Notes the members whose sessions the leader has ended. */
	void reaped(Collection<MemberId> members) {
		this.crashed.addAll(members);
		removeEldest(this.crashed, MOST_FORMER_MEMBERS);
	}

	/**
	 * Finds the moves in changes.
	 * @param before the picture without these changes
	 * @param claiming whether members claim what they hold, because the store has lost
	 * writes: a shard that is new to the leader has not moved then
	 * @param nowMillis the store's time
	 */
	List<ShardMove> groupRead(GroupPicture before, GroupChanges changes, boolean claiming, long nowMillis) {
		List<GroupMember> read = changes.members();
		if (read != null) {
			membersRead(read, nowMillis);
		}
		List<ShardMove> moves = new ArrayList<>();
		for (Ownership ownership : changes.ownerships()) {
			boolean known = this.informed && (!claiming || before.find(ownership.shard()) != null);
			if (known) {
				changed(before, ownership, moves);
			}
			else {
				firstRead(ownership, claiming ? Long.MAX_VALUE : nowMillis - UNSEEN_MILLIS, moves);
			}
		}
		this.informed = true;
		return moves;
	}

	private void membersRead(List<GroupMember> read, long nowMillis) {
		Set<MemberId> ids = new HashSet<>();
		for (GroupMember member : read) {
			ids.add(member.id());
			this.joinedMillis.putIfAbsent(member.id(), this.informed ? nowMillis : 0);
			// At the end, as the newest.
			this.known.remove(member.id());
			this.known.put(member.id(), member);
		}
		this.current = ids;
		this.joinedMillis.keySet().retainAll(ids);
		removeEldest(this.known.keySet(), ids.size() + MOST_FORMER_MEMBERS);
	}

	private static void removeEldest(Set<MemberId> members, int most) {
		Iterator<MemberId> eldest = members.iterator();
		for (int surplus = members.size() - most; surplus > 0; surplus--) {
			eldest.next();
			eldest.remove();
		}
	}

	/**
	 * Remembers what is under way when the leader begins, and finds what has just ended.
	 */
	private void firstRead(Ownership ownership, long unseenSinceMillis, List<ShardMove> moves) {
		long since = ownership.sinceMillis();
		switch (ownership.phase()) {
			case REVOKING -> this.departures.put(ownership.shard(), new Departure(ownership.owner(), null, since, 0));
			case QUIET, FREE ->
				this.departures.put(ownership.shard(), new Departure(null, MoveCause.UNKNOWN, since, since));
			case OWNED -> {
				if (since >= unseenSinceMillis) {
					moves.add(new ShardMove(ownership.shard(), null, ownership.owner(), ownership.token(),
							MoveCause.UNKNOWN, since, since, since));
				}
			}
			case COMPLETED -> {
			}
		}
	}

	private void changed(GroupPicture picture, Ownership now, List<ShardMove> moves) {
		Ownership before = picture.find(now.shard());
		if (before != null && now.token().compareTo(before.token()) < 0) {
			// The store has lost writes.
			this.departures.remove(now.shard());
			return;
		}
		switch (now.phase()) {
			case REVOKING -> this.departures.merge(now.shard(), new Departure(now.owner(), null, now.sinceMillis(), 0),
					Departure::orEarlier);
			case QUIET, FREE -> released(before, now);
			case COMPLETED -> {
				if (picture.completedMillis(now.shard()) == null) {
					completed(before, now, moves);
				}
			}
			case OWNED -> owned(before, now, moves);
		}
	}

	private void released(@Nullable Ownership before, Ownership now) {
		Departure departure = departure(before, now);
		if (departure.releasedMillis() == 0) {
			this.departures.put(now.shard(), departure.released(lossOf(departure.from()), now.sinceMillis()));
		}
	}

	private void completed(@Nullable Ownership before, Ownership now, List<ShardMove> moves) {
		Departure departure = departure(before, now);
		this.departures.remove(now.shard());
		this.planned.remove(now.shard());
		moves.add(new ShardMove(now.shard(), departure.from(), null, now.token(), MoveCause.COMPLETED,
				now.sinceMillis(), now.sinceMillis(), now.sinceMillis()));
	}

	private void owned(@Nullable Ownership before, Ownership now, List<ShardMove> moves) {
		MemberId owner = now.owner();
		Departure departure = departure(before, now);
		this.departures.remove(now.shard());
		MoveReason reason = this.planned.remove(now.shard());
		Token formerToken = (before != null) ? before.token() : Token.NONE;
		if (owner == null || now.token().equals(formerToken)) {
			// The move was cancelled, or a member has claimed what it held.
			return;
		}
		if (reason != null && !reason.owner().equals(owner)) {
			reason = null;
		}
		String by = (reason != null) ? this.asked.apply(now.shard()) : null;
		long released = (departure.releasedMillis() != 0) ? departure.releasedMillis() : now.sinceMillis();
		long plannedMillis = Math.min(departure.plannedMillis(), released);
		MoveCause cause = isForced(departure, released - plannedMillis) ? MoveCause.FORCE
				: cause(before, departure, owner, reason, by);
		moves.add(new ShardMove(now.shard(), departure.from(), owner, now.token(), formerToken, cause, plannedMillis,
				released, now.sinceMillis(), (reason != null) ? reason.why() : null,
				(by != null && !by.isBlank()) ? by : null));
	}

	/**
	 * Returns whether the shard was taken from an owner that did not release it in time:
	 * by this rule owners do that themselves, at the latest.
	 */
	private boolean isForced(Departure departure, long drainMillis) {
		MemberId from = departure.from();
		return this.rules.onTimeout() == OnTimeout.FORCE && from != null && lossOf(from) != MoveCause.CRASH
				&& drainMillis >= this.rules.timeout().toMillis();
	}

	/** Returns how the last owner gives the shard up, as far as is known. */
	private Departure departure(@Nullable Ownership before, Ownership now) {
		Departure departure = this.departures.get(now.shard());
		if (departure != null) {
			return departure;
		}
		return new Departure((before != null) ? before.owner() : null, null, now.sinceMillis(), 0);
	}

	private MoveCause cause(@Nullable Ownership before, Departure departure, MemberId to, @Nullable MoveReason reason,
			@Nullable String by) {
		MemberId from = departure.from();
		if (before != null && to.instance().equals(RestartingInstance.keptFor(before))) {
			return MoveCause.RESTART;
		}
		MoveCause planned = (reason != null) ? reason.cause() : null;
		if (before == null || from == null) {
			return (departure.cause() != null) ? departure.cause() : MoveCause.FIRST_OWNER;
		}
		MoveCause loss = (departure.cause() != null) ? departure.cause() : lossOf(from);
		if (loss == MoveCause.CRASH) {
			return loss;
		}
		if (loss == MoveCause.LEAVE && from.instance().equals(to.instance())) {
			return MoveCause.RESTART;
		}
		if (by != null) {
			return MoveCause.MANUAL;
		}
		if (planned == MoveCause.DEPLOY) {
			return planned;
		}
		if ((planned == null || loss != null) && isNewer(to, from)) {
			return MoveCause.DEPLOY;
		}
		if (loss != null) {
			return loss;
		}
		long joined = this.joinedMillis.getOrDefault(to, 0L);
		return (joined != 0 && departure.plannedMillis() < joined + JOIN_MILLIS) ? MoveCause.JOIN : MoveCause.REBALANCE;
	}

	/** Returns why a member loses a shard; {@code null} if it stays in the group. */
	private @Nullable MoveCause lossOf(@Nullable MemberId from) {
		if (from == null) {
			return null;
		}
		if (this.crashed.contains(from)) {
			return MoveCause.CRASH;
		}
		GroupMember member = this.known.get(from);
		boolean leaves = !this.current.contains(from) || member != null && member.leaving();
		return leaves ? MoveCause.LEAVE : null;
	}

	private boolean isNewer(MemberId to, MemberId from) {
		GroupMember newer = this.known.get(to);
		GroupMember older = this.known.get(from);
		return newer != null && older != null
				&& newer.description().version().compareTo(older.description().version()) > 0;
	}

	/**
	 * The end of an ownership without a new owner so far.
	 *
	 * @param cause why the owner lost the shard; {@code null} if it stays in the group or
	 * still holds it
	 * @param releasedMillis 0 while the owner holds the shard
	 */
	private record Departure(@Nullable MemberId from, @Nullable MoveCause cause, long plannedMillis,
			long releasedMillis) {

		/** Keeps the first time at which the same owner was asked for the shard. */
		Departure orEarlier(Departure again) {
			boolean same = this.releasedMillis == 0 && Objects.equals(this.from, again.from);
			return same ? this : again;
		}

		Departure released(@Nullable MoveCause loss, long atMillis) {
			return new Departure(this.from, loss, this.plannedMillis, atMillis);
		}

	}

}
