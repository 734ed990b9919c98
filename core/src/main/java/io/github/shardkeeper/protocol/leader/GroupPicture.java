package io.github.shardkeeper.protocol.leader;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * The leader's picture of its group: read completely once, then updated with changes.
 * Arrays by shard number hold what a plan needs, so that planning 100,000 shards needs no
 * conversion. Confined to the coordinator's loop.
 */
public final class GroupPicture {

	/** Owner of a shard that has none, or moves. */
	static final int UNSETTLED = -1;

	/** Maximum by which a leader misjudges the store's time. */
	static final long CLOCK_DISAGREEMENT_MILLIS = 1000;

	private static final int MOST_FORGOTTEN_MEMBERS = 1_000;

	/**
	 * Shards to be owned: those known to the store or to members, without completed ones
	 * and those with incomplete parents. A shard with data is never forgotten because of
	 * a lower count, unless the list of its topic is exact.
	 */
	private Shards shards = Shards.NONE;

	private @Nullable Ownership[] ownerships = {};

	/** Number of the member that owns the shard, or {@link #UNSETTLED}. */
	private int[] owners = {};

	private long[] since = {};

	private long[] sinceMillis = {};

	/** Whether a request uses the two arrays above, so that they must be copied. */
	private boolean shared;

	/** Completed shards with the times of their completion, in the store's time. */
	private final Map<ShardId, Long> completed = new HashMap<>();

	/** Shards that the exact list of their topic leaves out, with their records. */
	private final SortedMap<ShardId, Ownership> withdrawn = new TreeMap<>();

	private final Map<MemberId, Integer> memberNumbers = new HashMap<>();

	private final ShardLineage lineage = new ShardLineage();

	private List<GroupMember> members = List.of();

	private List<RestartingInstance> away = List.of();

	/** The store's time by which instances are away, or no longer. */
	private long asOfMillis;

	private Roster roster = Roster.EMPTY;

	private Set<String> drained = Set.of();

	private long generation;

	private long membership = -1;

	private boolean read;

	/** Applies the changes since {@link #generation()} and {@link #membership()}. */
	public void apply(GroupChanges changes) {
		List<GroupMember> changedMembers = changes.members();
		if (changedMembers != null) {
			this.members = List.copyOf(changedMembers);
			this.away = changes.away();
			updateRoster();
			this.lineage.membersChanged();
			forgetMembers();
		}
		Map<ShardId, Long> nowCompleted = new HashMap<>();
		List<ShardId> unknown = new ArrayList<>();
		for (Ownership ownership : changes.ownerships()) {
			if (ownership.phase() == Phase.COMPLETED) {
				nowCompleted.put(ownership.shard(), ownership.sinceMillis());
				this.withdrawn.remove(ownership.shard());
			}
			else if (this.lineage.isWithdrawn(ownership.shard())) {
				this.withdrawn.put(ownership.shard(), ownership);
			}
			else if (this.shards.indexOf(ownership.shard()) < 0) {
				unknown.add(ownership.shard());
			}
		}
		if (!this.completed.keySet().containsAll(nowCompleted.keySet())) {
			rearrange(this.shards.only((shard) -> !nowCompleted.containsKey(shard)));
			unknown.addAll(this.lineage.completed(nowCompleted.keySet()));
		}
		this.completed.putAll(nowCompleted);
		if (!unknown.isEmpty()) {
			rearrange(this.shards.with(unknown));
		}
		for (Ownership ownership : changes.ownerships()) {
			set(this.shards.indexOf(ownership.shard()), ownership);
		}
		this.generation = changes.generation();
		this.membership = changes.membership();
		this.read = true;
	}

	/** Sets the instances that shall own no shards. */
	void drain(Set<String> instances) {
		if (!instances.equals(this.drained)) {
			this.drained = Set.copyOf(instances);
			updateRoster();
		}
	}

	/**
	 * Notes the time: the shards of an instance that stays away for too long are no
	 * longer kept.
	 * @param storeMillis the store's time, or a little earlier
	 */
	void timePassed(long storeMillis) {
		this.asOfMillis = storeMillis;
		if (!this.away.isEmpty()) {
			updateRoster();
		}
	}

	/**
	 * Returns the time until which the shards of an instance that has left are kept; 0 if
	 * it is not away.
	 */
	long keptUntilMillis(String instance) {
		return this.away.stream()
			.filter((one) -> one.instance().equals(instance))
			.mapToLong(RestartingInstance::untilMillis)
			.findFirst()
			.orElse(0);
	}

	/** Returns the first time at which an instance is no longer away; 0 for none. */
	long nextReturnMillis() {
		return this.away.stream()
			.mapToLong(RestartingInstance::untilMillis)
			.filter((until) -> until > this.asOfMillis)
			.min()
			.orElse(0);
	}

	/** Returns whether a shard is still kept, but for no instance that is away. */
	boolean hasKeptShardsToAssign() {
		for (Ownership ownership : this.ownerships) {
			String instance = RestartingInstance.keptFor(ownership);
			if (instance != null && !this.roster.awaits(instance)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Keeps a roster that stays the same, so that a reply of the strategy stays valid.
	 */
	private void updateRoster() {
		List<RestartingInstance> stillAway = this.away.stream().filter(this::isAway).toList();
		Roster changed = new Roster(this.members, stillAway, this.drained);
		this.roster = changed.isSameAs(this.roster) ? this.roster : changed;
	}

	/** A clock that was set back would prolong the time by as much. */
	private boolean isAway(RestartingInstance one) {
		return this.asOfMillis < one.untilMillis()
				&& (this.asOfMillis == 0 || this.asOfMillis >= one.sinceMillis() - CLOCK_DISAGREEMENT_MILLIS);
	}

	/** Updates the shards known to this member's source and to other members. */
	public void update(Map<String, TopicShards> topics) {
		if (this.lineage.update(topics, this.members)) {
			Set<ShardId> stored = new HashSet<>();
			for (int shard = 0; shard < this.shards.size(); shard++) {
				if (this.ownerships[shard] != null) {
					stored.add(this.shards.get(shard));
				}
			}
			stored.addAll(this.withdrawn.keySet());
			Set<ShardId> startable = this.lineage.startable(this.completed.keySet(), stored);
			Map<ShardId, Ownership> listedAgain = new TreeMap<>(this.withdrawn);
			listedAgain.keySet().removeIf(this.lineage::isWithdrawn);
			withdraw();
			Shards kept = this.shards.only((shard) -> (stored.contains(shard) && !this.lineage.isWithdrawn(shard))
					|| startable.contains(shard));
			rearrange(kept.with(startable).with(listedAgain.keySet()));
			listedAgain.forEach((shard, ownership) -> {
				this.withdrawn.remove(shard);
				set(this.shards.indexOf(shard), ownership);
			});
		}
	}

	private void withdraw() {
		for (int shard = 0; shard < this.shards.size(); shard++) {
			Ownership ownership = this.ownerships[shard];
			if (ownership != null && this.lineage.isWithdrawn(ownership.shard())) {
				this.withdrawn.put(ownership.shard(), ownership);
			}
		}
	}

	/**
	 * Returns the records of shards that nobody may own, because the exact list of their
	 * topic leaves them out.
	 */
	Collection<Ownership> withdrawn() {
		return Collections.unmodifiableCollection(this.withdrawn.values());
	}

	/** Returns whether the group has completed any shard. */
	boolean hasCompleted() {
		return !this.completed.isEmpty();
	}

	/**
	 * {@return when a shard was completed, in milliseconds of the store's time;
	 * {@code null} if it was not}
	 */
	@Nullable Long completedMillis(ShardId shard) {
		return this.completed.get(shard);
	}

	/**
	 * {@return the shards that can never be consumed, because their parents form a cycle,
	 * with their parents}
	 */
	Map<ShardId, Set<String>> inCycles() {
		Map<ShardId, Set<String>> waiting = new TreeMap<>(this.lineage.inCycles());
		waiting.keySet().removeIf((shard) -> this.completed.containsKey(shard) || this.shards.indexOf(shard) >= 0);
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
		MemberId owner = (ownership.phase() == Phase.OWNED) ? ownership.owner() : null;
		this.ownerships[shard] = ownership;
		this.owners[shard] = (owner != null) ? number(owner) : UNSETTLED;
		this.since[shard] = ownership.generation();
		this.sinceMillis[shard] = ownership.sinceMillis();
	}

	/** Renumbers the shards, and moves their ownerships. */
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

	/** Forgets the numbers of former members once there are many. */
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

	boolean isRead() {
		return this.read;
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

	/** Returns the shards to be owned; their positions index everything else. */
	Shards shards() {
		return this.shards;
	}

	/** Returns the record of a shard; {@code null} for one that never had an owner. */
	@Nullable Ownership ownership(int shard) {
		return this.ownerships[shard];
	}

	/**
	 * {@return the last record of a shard that is not completed, also of one that nobody
	 * may own; {@code null} if none was read}
	 */
	@Nullable Ownership find(ShardId shard) {
		int number = this.shards.indexOf(shard);
		return (number >= 0) ? this.ownerships[number] : this.withdrawn.get(shard);
	}

	/** Returns the index in {@link #places} of the owner, or {@link #UNSETTLED}. */
	int owner(int shard) {
		return this.owners[shard];
	}

	/**
	 * {@return the members that own nothing and whose version cannot be compared, if
	 * others have a comparable one: these count as newer}
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

	/** Returns the members that may own shards. */
	Roster roster() {
		return this.roster;
	}

	/** Returns by {@link #owner} the place of the member in the {@link #roster}. */
	int[] places() {
		int[] places = new int[this.memberNumbers.size()];
		this.memberNumbers.forEach((member, number) -> places[number] = this.roster.place(member));
		return places;
	}

	/** Returns by shard the generation of its last change; read-only. */
	long[] since() {
		this.shared = true;
		return this.since;
	}

	/** Returns by shard the time of its last change; read-only. */
	long[] sinceMillis() {
		this.shared = true;
		return this.sinceMillis;
	}

	/** The members that may own shards, each with its place. Immutable. */
	static final class Roster {

		static final Roster EMPTY = new Roster(List.of(), List.of(), Set.of());

		private final List<Assignee> assignees = new ArrayList<>();

		private final Map<MemberId, Integer> places = new HashMap<>();

		/**
		 * Those that keep their shards and get no others, because they restart: members
		 * that are leaving for that, and instances that have left.
		 */
		private final Set<MemberId> restarting = new HashSet<>();

		/** By instance the place of who gets the shards that are kept for it. */
		private final Map<String, Integer> heirs = new HashMap<>();

		/**
		 * Creates a roster. A drained instance is in it only with the topics that no
		 * other member consumes: their shards stay with it instead of being unowned.
		 */
		Roster(List<GroupMember> members, List<RestartingInstance> away, Set<String> drained) {
			Set<String> served = new HashSet<>();
			for (GroupMember member : members) {
				if (!member.leaving() && !drained.contains(member.id().instance())) {
					served.addAll(member.description().topicShards().keySet());
				}
			}
			Set<String> present = new HashSet<>();
			for (GroupMember member : members) {
				if (!member.leaving() || member.restarting()) {
					present.add(member.id().instance());
					add(member.id(), member.description(), member.restarting(), drained, served);
				}
			}
			for (RestartingInstance one : away) {
				if (!present.contains(one.instance())) {
					add(one.id(), one.description(), true, drained, served);
				}
			}
			this.assignees.sort(Comparator.comparing(Assignee::id));
			for (Assignee assignee : this.assignees) {
				int place = this.places.size();
				this.places.put(assignee.id(), place);
				this.heirs.merge(assignee.id().instance(), place,
						(one, other) -> this.restarting.contains(assignee.id()) ? one : other);
			}
		}

		private void add(MemberId id, MemberDescription description, boolean restarts, Set<String> drained,
				Set<String> served) {
			Set<String> topics = new HashSet<>(description.topicShards().keySet());
			boolean isDrained = drained.contains(id.instance());
			if (isDrained) {
				topics.removeAll(served);
			}
			if (!(isDrained && topics.isEmpty())) {
				this.assignees
					.add(new Assignee(id, topics, description.version(), description.capacity(), description.zone()));
				if (restarts) {
					this.restarting.add(id);
				}
			}
		}

		/** Returns whether a member keeps its shards and gets no others. */
		boolean restarts(MemberId member) {
			return this.restarting.contains(member);
		}

		boolean hasRestarting() {
			return !this.restarting.isEmpty();
		}

		/** Returns the place of who gets the shards that are kept for an instance. */
		int heir(String instance) {
			return this.heirs.getOrDefault(instance, AssignmentRequest.NOBODY);
		}

		/** Returns whether the shards of an instance wait for its return. */
		boolean awaits(String instance) {
			int heir = heir(instance);
			return heir != AssignmentRequest.NOBODY && restarts(this.assignees.get(heir).id());
		}

		/** Returns the members, ordered by id. */
		List<Assignee> assignees() {
			return Collections.unmodifiableList(this.assignees);
		}

		boolean isSameAs(Roster other) {
			return this.assignees.equals(other.assignees) && this.restarting.equals(other.restarting);
		}

		Set<MemberId> members() {
			return Collections.unmodifiableSet(this.places.keySet());
		}

		/** Returns the place of a member, or {@link AssignmentRequest#NOBODY}. */
		int place(@Nullable MemberId member) {
			return (member != null) ? this.places.getOrDefault(member, AssignmentRequest.NOBODY)
					: AssignmentRequest.NOBODY;
		}

	}

	/**
	 * The shards that the members know, each through a source that may be outdated, with
	 * their parents. A shard waits until its parents are completed, but not for a parent
	 * that is unknown to all: its last record is gone.
	 */
	private static final class ShardLineage {

		private Map<String, TopicShards> own = Map.of();

		private Map<String, TopicShards> topics = Map.of();

		/** By waiting shard its incomplete parents; may contain too many. */
		private final Map<ShardId, Set<ShardId>> waiting = new HashMap<>();

		/** By shard in, or below, a cycle of parents its parents. */
		private Map<ShardId, Set<String>> cycles = Map.of();

		private boolean membersAreNew;

		/** Notes that members may know other shards now. */
		void membersChanged() {
			this.membersAreNew = true;
		}

		/** Returns whether the combined knowledge of all members has changed. */
		boolean update(Map<String, TopicShards> ownTopics, List<GroupMember> members) {
			if (!this.membersAreNew && ownTopics.equals(this.own)) {
				return false;
			}
			this.membersAreNew = false;
			this.own = Map.copyOf(ownTopics);
			Map<String, TopicShards> all = new HashMap<>(ownTopics);
			for (GroupMember member : members) {
				SortedMap<String, TopicShards> theirs = member.description().topicShards();
				theirs.forEach((topic, shards) -> all.merge(topic, shards, TopicShards::and));
			}
			boolean changed = !all.equals(this.topics);
			this.topics = all;
			if (changed) {
				this.cycles = cycles();
			}
			return changed;
		}

		/** Returns whether all members know all shards of the topic, but not this one. */
		boolean isWithdrawn(ShardId shard) {
			TopicShards listed = this.topics.get(shard.topic());
			return listed != null && listed.isExact() && !listed.contains(shard.id());
		}

		/** Returns the shards in, or below, a cycle of parents, with their parents. */
		Map<ShardId, Set<String>> inCycles() {
			return this.cycles;
		}

		private Map<ShardId, Set<String>> cycles() {
			Map<ShardId, Set<String>> found = new TreeMap<>();
			this.topics.forEach((topic, shards) -> {
				Set<String> left = new TreeSet<>(shards.others().keySet());
				// A shard without a remaining parent is in no cycle.
				while (left.removeIf((id) -> shards.parents(id).stream().noneMatch(left::contains))) {
				}
				left.forEach((id) -> found.put(new ShardId(topic, id), shards.parents(id)));
			});
			return found;
		}

		/** Returns the shards that may start; those that the store knows do not wait. */
		Set<ShardId> startable(Set<ShardId> completed, Set<ShardId> stored) {
			Set<ShardId> startable = new HashSet<>();
			this.waiting.clear();
			this.topics.forEach((topic, shards) -> shards.forEach(topic, (shard) -> {
				if (!completed.contains(shard)) {
					Set<ShardId> awaited = awaited(shard, shards, completed, stored);
					if (awaited.isEmpty() || stored.contains(shard)) {
						startable.add(shard);
					}
					else {
						this.waiting.put(shard, awaited);
					}
				}
			}));
			return startable;
		}

		private static Set<ShardId> awaited(ShardId shard, TopicShards shards, Set<ShardId> completed,
				Set<ShardId> stored) {
			Set<ShardId> awaited = new HashSet<>();
			for (String parent : shards.parents(shard.id())) {
				ShardId id = new ShardId(shard.topic(), parent);
				if (!completed.contains(id) && (shards.contains(parent) || stored.contains(id))) {
					awaited.add(id);
				}
			}
			return awaited;
		}

		/** Returns the shards that waited only for these completed ones. */
		List<ShardId> completed(Set<ShardId> shards) {
			List<ShardId> startable = new ArrayList<>();
			this.waiting.keySet().removeAll(shards);
			this.waiting.entrySet().removeIf((entry) -> {
				entry.getValue().removeAll(shards);
				if (entry.getValue().isEmpty()) {
					startable.add(entry.getKey());
				}
				return entry.getValue().isEmpty();
			});
			return startable;
		}

	}

}
