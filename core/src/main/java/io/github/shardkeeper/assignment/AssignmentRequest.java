package io.github.shardkeeper.assignment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * Input of an assignment: members, shards and current owners. Members are identified by
 * their place in {@link #members()} and shards by their number in {@link #shards()}, so
 * that large groups fit into arrays. Immutable.
 */
public final class AssignmentRequest {

	/** Place that stands for no member. */
	public static final int NOBODY = -1;

	private final List<Assignee> members;

	private final Shards shards;

	private final int[] owners;

	private final long[] since;

	private final long[] sinceMillis;

	/** Without the pins of operators. */
	private final ShardTraits @Nullable [] ownTraits;

	private final Map<Integer, String> pins;

	private final ShardTraits @Nullable [] traits;

	private final double @Nullable [] loads;

	private final int movesUnderWay;

	private final long nowMillis;

	private AssignmentRequest(Builder builder) {
		this.members = builder.members;
		this.shards = builder.shards;
		this.owners = Objects.requireNonNull(builder.owners);
		this.since = builder.since;
		this.sinceMillis = builder.sinceMillis;
		this.ownTraits = builder.traits;
		this.pins = builder.pins;
		this.traits = builder.pins.isEmpty() ? builder.traits : pinned(builder.traits);
		this.loads = builder.loads;
		this.movesUnderWay = builder.movesUnderWay;
		this.nowMillis = builder.nowMillis;
	}

	private ShardTraits[] pinned(ShardTraits @Nullable [] unpinned) {
		ShardTraits[] pinned = new ShardTraits[this.shards.size()];
		for (int shard = 0; shard < pinned.length; shard++) {
			ShardTraits own = (unpinned != null) ? unpinned[shard] : ShardTraits.NONE;
			String instance = this.pins.get(shard);
			pinned[shard] = (instance != null) ? new ShardTraits(own.weight(), own.zone(), instance) : own;
		}
		return pinned;
	}

	/**
	 * Returns a builder of a request in which no shard has an owner.
	 * @param members the members that may own shards, in any order
	 * @param shards the shards to assign
	 * @return a builder
	 */
	public static Builder builder(Collection<Assignee> members, Shards shards) {
		Objects.requireNonNull(members, "members must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		return new Builder(members, shards);
	}

	/**
	 * Returns the members that may own shards.
	 * @return an unmodifiable list, ordered by id
	 */
	public List<Assignee> members() {
		return this.members;
	}

	/**
	 * Returns the shards to assign.
	 * @return the shards
	 */
	public Shards shards() {
		return this.shards;
	}

	/**
	 * Returns the members that consume a topic.
	 * @param topic the topic
	 * @return a list, ordered by id
	 */
	public List<Assignee> consumersOf(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return this.members.stream().filter((member) -> member.topics().contains(topic)).toList();
	}

	/**
	 * Returns whether a member may own a shard.
	 * @param member the place of the member
	 * @param shard the number of the shard
	 * @return whether the member consumes the topic of the shard
	 */
	public boolean consumes(int member, int shard) {
		return this.members.get(member).topics().contains(this.shards.get(shard).topic());
	}

	/**
	 * Returns whether members run different versions, as during a deployment.
	 * @return whether the version of a member is older than that of another
	 */
	public boolean hasMixedVersions() {
		for (Assignee member : this.members) {
			if (member.version().compareTo(this.members.get(0).version()) != 0) {
				return true;
			}
		}
		return false;
	}

	Map<MemberId, Integer> places() {
		return places(this.members);
	}

	private static Map<MemberId, Integer> places(List<Assignee> members) {
		Map<MemberId, Integer> places = new HashMap<>();
		members.forEach((member) -> places.put(member.id(), places.size()));
		return places;
	}

	/**
	 * Returns the current owner of a shard, or the target of a move under way. It may no
	 * longer consume the topic of the shard.
	 * @param shard the number of the shard
	 * @return the place of the member, {@link #NOBODY} if no owner remains
	 */
	public int owner(int shard) {
		return this.owners[shard];
	}

	/**
	 * Returns the generation of the group at the last change of ownership of a shard.
	 * @param shard the number of the shard
	 * @return the generation: the higher, the later the shard came to its owner
	 */
	public long since(int shard) {
		return this.since[shard];
	}

	/**
	 * Returns the time of the last change of ownership of a shard.
	 * @param shard the number of the shard
	 * @return milliseconds of the store's time
	 */
	public long sinceMillis(int shard) {
		return this.sinceMillis[shard];
	}

	/**
	 * Returns the traits of a shard.
	 * @param shard the number of the shard
	 * @return its traits
	 */
	public ShardTraits traits(int shard) {
		return (this.traits != null) ? this.traits[shard] : ShardTraits.NONE;
	}

	/**
	 * Returns whether all shards are alike: each of weight 1, in no zone, not pinned.
	 * @return whether {@link #traits} need not be asked
	 */
	public boolean hasPlainShards() {
		return this.traits == null;
	}

	/**
	 * Returns the members that pinned shards go to. If an instance has several members,
	 * because an old session has not ended yet, the one that has the shard keeps it;
	 * otherwise the last by id takes it. Computed at each call.
	 * @return by shard the place of its member, {@link #NOBODY} if it is not pinned or
	 * its instance is absent or does not consume its topic
	 */
	public int[] pinnedOwners() {
		int[] pinned = new int[this.owners.length];
		Arrays.fill(pinned, NOBODY);
		if (this.traits == null) {
			return pinned;
		}
		Map<String, List<Integer>> instances = new HashMap<>();
		for (int shard = 0; shard < pinned.length; shard++) {
			String instance = this.traits[shard].pinnedTo();
			if (instance != null) {
				if (instances.isEmpty()) {
					instances = placesByInstance();
				}
				pinned[shard] = pinnedOwner(shard, instances.getOrDefault(instance, List.of()));
			}
		}
		return pinned;
	}

	private Map<String, List<Integer>> placesByInstance() {
		Map<String, List<Integer>> instances = new HashMap<>();
		for (int member = 0; member < this.members.size(); member++) {
			String instance = this.members.get(member).id().instance();
			instances.computeIfAbsent(instance, (added) -> new ArrayList<>()).add(member);
		}
		return instances;
	}

	private int pinnedOwner(int shard, List<Integer> sessions) {
		int owner = NOBODY;
		for (int member : sessions) {
			if (consumes(member, shard)) {
				if (member == this.owners[shard]) {
					return member;
				}
				owner = member;
			}
		}
		return owner;
	}

	/**
	 * Returns the same request with other traits; those that an operator has pinned stay
	 * pinned.
	 * @param newTraits by shard its traits; {@code null} if all are alike
	 * @return the request
	 */
	public AssignmentRequest withTraits(ShardTraits @Nullable [] newTraits) {
		return new Builder(this.members, this.shards).owners(this.owners, this.since, this.sinceMillis)
			.loads(this.loads)
			.movesUnderWay(this.movesUnderWay)
			.now(this.nowMillis)
			.pins(this.pins)
			.traits(newTraits)
			.build();
	}

	/**
	 * Returns the same request with the traits of another one.
	 * @param other the other request; ignored if its shards are not the same
	 * @return the request
	 */
	public AssignmentRequest withTraitsOf(AssignmentRequest other) {
		Objects.requireNonNull(other, "other must not be null");
		return (other.ownTraits != null && other.shards == this.shards) ? withTraits(other.ownTraits) : this;
	}

	/**
	 * Returns the measured load of a shard.
	 * @param shard the number of the shard
	 * @return at least 0, in the same unit for all shards; NaN if no load was reported
	 */
	public double load(int shard) {
		return (this.loads != null) ? this.loads[shard] : Double.NaN;
	}

	/**
	 * Returns the number of shards that staying members are releasing for new owners.
	 * @return the number
	 */
	public int movesUnderWay() {
		return this.movesUnderWay;
	}

	/**
	 * Returns the time of the request.
	 * @return milliseconds of the store's time, comparable with {@link #sinceMillis}
	 */
	public long nowMillis() {
		return this.nowMillis;
	}

	/**
	 * Returns the current owners by name. Computed at each call.
	 * @return the owners; without shards that have none
	 */
	public SortedMap<ShardId, Tenure> current() {
		SortedMap<ShardId, Tenure> current = new TreeMap<>();
		for (int shard = 0; shard < this.owners.length; shard++) {
			if (this.owners[shard] != NOBODY) {
				MemberId owner = this.members.get(this.owners[shard]).id();
				current.put(this.shards.get(shard), new Tenure(owner, this.since[shard], this.sinceMillis[shard]));
			}
		}
		return current;
	}

	@Override
	public String toString() {
		return "members %s, shards %s, owners %s".formatted(this.members, this.shards, current());
	}

	/**
	 * Builder of a request. Arrays are not copied: do not change them afterwards.
	 * Confined to its thread.
	 */
	public static final class Builder {

		private final List<Assignee> members;

		private final Shards shards;

		private int @Nullable [] owners;

		private long[] since = {};

		private long[] sinceMillis = {};

		private ShardTraits @Nullable [] traits;

		private Map<Integer, String> pins = Map.of();

		private double @Nullable [] loads;

		private int movesUnderWay;

		private long nowMillis;

		private Builder(Collection<Assignee> members, Shards shards) {
			List<Assignee> inOrder = new ArrayList<>(members);
			inOrder.sort(Comparator.comparing(Assignee::id));
			for (int member = 1; member < inOrder.size(); member++) {
				if (inOrder.get(member).id().equals(inOrder.get(member - 1).id())) {
					throw new IllegalArgumentException("Two members are named " + inOrder.get(member).id());
				}
			}
			this.members = List.copyOf(inOrder);
			this.shards = shards;
		}

		/**
		 * Returns the members, in the order of their places.
		 * @return an unmodifiable list, ordered by id
		 */
		public List<Assignee> members() {
			return this.members;
		}

		/**
		 * Sets the current owners by number.
		 * @param newOwners by shard the place of the member, or {@link #NOBODY}
		 * @param newSince by shard the generation at its last change
		 * @param newSinceMillis by shard the time of its last change
		 * @return this
		 */
		public Builder owners(int[] newOwners, long[] newSince, long[] newSinceMillis) {
			Objects.requireNonNull(newOwners, "newOwners must not be null");
			Objects.requireNonNull(newSince, "newSince must not be null");
			Objects.requireNonNull(newSinceMillis, "newSinceMillis must not be null");
			requireForAll(newOwners.length);
			requireForAll(newSince.length);
			requireForAll(newSinceMillis.length);
			this.owners = newOwners;
			this.since = newSince;
			this.sinceMillis = newSinceMillis;
			return this;
		}

		/**
		 * Sets the current owners by name.
		 * @param current by shard its owner; ignored if not in the request
		 * @return this
		 */
		public Builder owners(Map<ShardId, Tenure> current) {
			Objects.requireNonNull(current, "current must not be null");
			int[] newOwners = new int[this.shards.size()];
			long[] newSince = new long[this.shards.size()];
			long[] newSinceMillis = new long[this.shards.size()];
			Arrays.fill(newOwners, NOBODY);
			Map<MemberId, Integer> places = places(this.members);
			current.forEach((shard, tenure) -> {
				int number = this.shards.indexOf(shard);
				if (number >= 0) {
					newOwners[number] = places.getOrDefault(tenure.owner(), NOBODY);
					newSince[number] = tenure.since();
					newSinceMillis[number] = tenure.sinceMillis();
				}
			});
			return owners(newOwners, newSince, newSinceMillis);
		}

		/**
		 * Sets the traits of the shards.
		 * @param newTraits by shard its traits; {@code null} if all are alike
		 * @return this
		 * @throws IllegalArgumentException if a weight is out of bounds
		 */
		public Builder traits(ShardTraits @Nullable [] newTraits) {
			requireForAll((newTraits != null) ? newTraits.length : this.shards.size());
			for (int shard = 0; newTraits != null && shard < newTraits.length; shard++) {
				if (!newTraits[shard].isValid()) {
					throw new IllegalArgumentException("%s has a weight of %d: it is 1 to %d"
						.formatted(this.shards.get(shard), newTraits[shard].weight(), ShardTraits.MOST_WEIGHT));
				}
			}
			this.traits = newTraits;
			return this;
		}

		/**
		 * Pins shards for an operator, instead of what their traits say.
		 * @param newPins by number of the shard the id of the instance
		 * @return this
		 */
		public Builder pins(Map<Integer, String> newPins) {
			Objects.requireNonNull(newPins, "newPins must not be null");
			this.pins = Map.copyOf(newPins);
			return this;
		}

		/**
		 * Sets the measured loads.
		 * @param newLoads by shard its load, or NaN; {@code null} if all are unknown
		 * @return this
		 */
		public Builder loads(double @Nullable [] newLoads) {
			requireForAll((newLoads != null) ? newLoads.length : this.shards.size());
			this.loads = newLoads;
			return this;
		}

		/**
		 * Sets the number of moves under way.
		 * @param newMovesUnderWay the number of shards that staying members are releasing
		 * @return this
		 */
		public Builder movesUnderWay(int newMovesUnderWay) {
			this.movesUnderWay = newMovesUnderWay;
			return this;
		}

		/**
		 * Sets the time of the request.
		 * @param newNowMillis milliseconds of the store's time
		 * @return this
		 */
		public Builder now(long newNowMillis) {
			this.nowMillis = newNowMillis;
			return this;
		}

		private void requireForAll(int length) {
			if (length != this.shards.size()) {
				throw new IllegalArgumentException(
						"There are %d shards, but values for %d".formatted(this.shards.size(), length));
			}
		}

		public AssignmentRequest build() {
			if (this.owners == null) {
				owners(Map.of());
			}
			return new AssignmentRequest(this);
		}

	}

}
