package io.github.shardkeeper.handover;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * The leader's picture of its group: read whole once, then kept up with differences. It
 * is kept as a plan needs it, in arrays by the shards' numbers, so that planning a
 * hundred thousand shards begins without turning them over. Not thread-safe: confined to
 * the coordinator's loop.
 */
public final class GroupPicture {

	/** Instead of an owner: the shard has none, is on its way, or was never owned. */
	static final int UNSETTLED = -1;

	private static final int MOST_FORGOTTEN_MEMBERS = 1_000;

	/**
	 * All shards to be owned: those that the store knows (a shard with data is never
	 * forgotten because somebody lowered a number) and those that members know of. Not
	 * those that have come to their end, nor those whose parents have not.
	 */
	private Shards shards = Shards.NONE;

	private @Nullable Ownership[] ownerships = {};

	/** The number of the member that owns it, or {@link #UNSETTLED}. */
	private int[] owners = {};

	private long[] since = {};

	private long[] sinceMillis = {};

	/** Whether the latter two are in somebody else's hands, and must not be changed. */
	private boolean shared;

	private final Set<ShardId> completed = new HashSet<>();

	private final Map<MemberId, Integer> memberNumbers = new HashMap<>();

	private final KnownShards known = new KnownShards();

	private List<GroupMember> members = List.of();

	private Roster roster = Roster.EMPTY;

	private long generation;

	private long membership = -1;

	/**
	 * Takes in a difference.
	 * @param changes what changed since {@link #generation()} and {@link #membership()}
	 */
	public void apply(GroupChanges changes) {
		List<GroupMember> changedMembers = changes.members();
		if (changedMembers != null) {
			this.members = List.copyOf(changedMembers);
			// Kept if it is the same: an answer about it is no less true.
			Roster changed = new Roster(this.members);
			this.roster = changed.isSameAs(this.roster) ? this.roster : changed;
			this.known.membersChanged();
			forgetMembers();
		}
		Set<ShardId> nowCompleted = new HashSet<>();
		List<ShardId> unknown = new ArrayList<>();
		for (Ownership ownership : changes.ownerships()) {
			if (ownership.phase() == ShardPhase.COMPLETED) {
				nowCompleted.add(ownership.shard());
			}
			else if (this.shards.indexOf(ownership.shard()) < 0) {
				unknown.add(ownership.shard());
			}
		}
		if (this.completed.addAll(nowCompleted)) {
			rearrange(this.shards.only((shard) -> !nowCompleted.contains(shard)));
			unknown.addAll(this.known.completed(nowCompleted));
		}
		if (!unknown.isEmpty()) {
			rearrange(this.shards.with(unknown));
		}
		for (Ownership ownership : changes.ownerships()) {
			set(this.shards.indexOf(ownership.shard()), ownership);
		}
		this.generation = changes.generation();
		this.membership = changes.membership();
	}

	/**
	 * Takes in what this member's source knows of its topics; what other members know is
	 * added.
	 * @param topics by name the shards of each topic
	 */
	void update(Map<String, TopicShards> topics) {
		if (this.known.update(topics, this.members)) {
			Set<ShardId> stored = new HashSet<>();
			for (int shard = 0; shard < this.shards.size(); shard++) {
				if (this.ownerships[shard] != null) {
					stored.add(this.shards.get(shard));
				}
			}
			Set<ShardId> startable = this.known.startable(this.completed, stored);
			Shards kept = this.shards.only((shard) -> stored.contains(shard) || startable.contains(shard));
			rearrange(kept.with(startable));
		}
	}

	/**
	 * The shards that nobody will ever consume, because they wait for shards that wait
	 * for them.
	 * @return by shard its parents
	 */
	Map<ShardId, Set<String>> inCircles() {
		Map<ShardId, Set<String>> waiting = new TreeMap<>(this.known.inCircles());
		waiting.keySet().removeIf((shard) -> this.completed.contains(shard) || this.shards.indexOf(shard) >= 0);
		return waiting;
	}

	private void set(int shard, Ownership ownership) {
		if (shard < 0) {
			return;
		}
		if (this.shared) {
			this.since = this.since.clone();
			this.sinceMillis = this.sinceMillis.clone();
			this.shared = false;
		}
		MemberId owner = (ownership.phase() == ShardPhase.OWNED) ? ownership.owner() : null;
		this.ownerships[shard] = ownership;
		this.owners[shard] = (owner != null) ? number(owner) : UNSETTLED;
		this.since[shard] = ownership.generation();
		this.sinceMillis[shard] = ownership.sinceMillis();
	}

	/** Numbers the shards anew, and moves what is known of them to its new place. */
	private void rearrange(Shards newShards) {
		if (newShards == this.shards) {
			return;
		}
		Shards before = this.shards;
		@Nullable Ownership[] known = this.ownerships;
		this.shards = newShards;
		this.ownerships = new Ownership[newShards.size()];
		this.owners = new int[newShards.size()];
		Arrays.fill(this.owners, UNSETTLED);
		this.since = new long[newShards.size()];
		this.sinceMillis = new long[newShards.size()];
		this.shared = false;
		// Both are in the same order.
		int shard = 0;
		for (int old = 0; old < before.size(); old++) {
			Ownership ownership = known[old];
			if (ownership != null) {
				while (shard < newShards.size() && newShards.get(shard).compareTo(before.get(old)) < 0) {
					shard++;
				}
				if (shard < newShards.size() && newShards.get(shard).equals(before.get(old))) {
					set(shard, ownership);
				}
			}
		}
	}

	private int number(MemberId member) {
		return this.memberNumbers.computeIfAbsent(member, (m) -> this.memberNumbers.size());
	}

	/** Numbers of members that have gone are kept until they are many. */
	private void forgetMembers() {
		if (this.memberNumbers.size() > this.members.size() + MOST_FORGOTTEN_MEMBERS) {
			this.memberNumbers.clear();
			for (int shard = 0; shard < this.owners.length; shard++) {
				Ownership ownership = this.ownerships[shard];
				if (ownership != null) {
					set(shard, ownership);
				}
			}
		}
	}

	public long generation() {
		return this.generation;
	}

	public long membership() {
		return this.membership;
	}

	public List<GroupMember> members() {
		return this.members;
	}

	/**
	 * The shards that are to be owned.
	 * @return them; what else this picture knows of a shard is asked by its number here
	 */
	Shards shards() {
		return this.shards;
	}

	/**
	 * What the store knows of a shard.
	 * @param shard its number
	 * @return {@code null} for one that was never owned
	 */
	@Nullable Ownership ownership(int shard) {
		return this.ownerships[shard];
	}

	/**
	 * The owner of a shard that stands still with it.
	 * @param shard the shard's number
	 * @return an index of {@link #places}, or {@link #UNSETTLED}
	 */
	int owner(int shard) {
		return this.owners[shard];
	}

	/**
	 * The members that own nothing and whose version cannot be ordered, while that of
	 * others can, who therefore count as newer.
	 */
	List<MemberId> withoutComparableVersion() {
		if (this.roster.assignees().stream().noneMatch(GroupPicture::hasComparableVersion)) {
			return List.of();
		}
		List<MemberId> without = new ArrayList<>();
		for (Assignee member : this.roster.assignees()) {
			if (!hasComparableVersion(member)) {
				without.add(member.id());
			}
		}
		if (!without.isEmpty()) {
			without.removeAll(currentOwners());
		}
		return without;
	}

	private static boolean hasComparableVersion(Assignee member) {
		return member.version().compareTo(ApplicationVersion.UNKNOWN) > 0;
	}

	/** Whoever owns a shard, on its way or not. */
	Set<MemberId> currentOwners() {
		Set<MemberId> current = new HashSet<>();
		boolean[] owns = new boolean[this.memberNumbers.size()];
		for (int shard = 0; shard < this.owners.length; shard++) {
			Ownership ownership = this.ownerships[shard];
			if (this.owners[shard] != UNSETTLED) {
				owns[this.owners[shard]] = true;
			}
			else if (ownership != null && ownership.owner() != null) {
				current.add(ownership.owner());
			}
		}
		this.memberNumbers.forEach((member, number) -> {
			if (owns[number]) {
				current.add(member);
			}
		});
		return current;
	}

	/** The members that may own shards. */
	Roster roster() {
		return this.roster;
	}

	/** By {@link #owner} the member's place in the {@link #roster}. */
	int[] places() {
		int[] places = new int[this.memberNumbers.size()];
		this.memberNumbers.forEach((member, number) -> places[number] = this.roster.place(member));
		return places;
	}

	/** By shard the generation of its last change. Not to be changed. */
	long[] since() {
		this.shared = true;
		return this.since;
	}

	/** By shard the time of its last change. Not to be changed. */
	long[] sinceMillis() {
		this.shared = true;
		return this.sinceMillis;
	}

}
