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
 * What an assignment is computed from. Members are known by their place in
 * {@link #members()} and shards by their number in {@link #shards()}, so that a hundred
 * thousand of them are handled in arrays. Immutable.
 */
public final class AssignmentRequest {

	/** Stands for no member. */
	public static final int NOBODY = -1;

	private final List<Assignee> members;

	private final Shards shards;

	private final int[] owners;

	private final long[] since;

	private final long[] sinceMillis;

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
		this.traits = builder.traits;
		this.loads = builder.loads;
		this.movesUnderWay = builder.movesUnderWay;
		this.nowMillis = builder.nowMillis;
	}

	/**
	 * Begins a request.
	 * @param members the members that may own shards, in any order
	 * @param shards the shards to be owned
	 * @return a builder of a request in which nobody owns anything
	 */
	public static Builder builder(Collection<Assignee> members, Shards shards) {
		Objects.requireNonNull(members, "members must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		return new Builder(members, shards);
	}

	/**
	 * The members that may own shards.
	 * @return an unmodifiable list, ordered by id
	 */
	public List<Assignee> members() {
		return this.members;
	}

	/**
	 * The shards to be owned.
	 * @return them
	 */
	public Shards shards() {
		return this.shards;
	}

	/**
	 * The members that consume a topic.
	 * @param topic the topic
	 * @return a list, ordered by id
	 */
	public List<Assignee> consumersOf(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return this.members.stream().filter((member) -> member.topics().contains(topic)).toList();
	}

	/**
	 * Whether a member may own a shard.
	 * @param member its place
	 * @param shard the shard's number
	 * @return whether the member consumes the shard's topic
	 */
	public boolean consumes(int member, int shard) {
		return this.members.get(member).topics().contains(this.shards.get(shard).topic());
	}

	/** The members' places by their ids. Made at each call. */
	Map<MemberId, Integer> places() {
		return places(this.members);
	}

	private static Map<MemberId, Integer> places(List<Assignee> members) {
		Map<MemberId, Integer> places = new HashMap<>();
		members.forEach((member) -> places.put(member.id(), places.size()));
		return places;
	}

	/**
	 * Who owns a shard today, or is about to.
	 * @param shard its number
	 * @return the member's place, {@link #NOBODY} when there is no owner that stays. The
	 * owner may have ceased to consume the shard's topic
	 */
	public int owner(int shard) {
		return this.owners[shard];
	}

	/**
	 * The group's generation at the last change of a shard's ownership.
	 * @param shard its number
	 * @return the generation: the higher, the later it came to its owner
	 */
	public long since(int shard) {
		return this.since[shard];
	}

	/**
	 * When a shard's ownership changed last.
	 * @param shard its number
	 * @return milliseconds of the store's time
	 */
	public long sinceMillis(int shard) {
		return this.sinceMillis[shard];
	}

	/**
	 * What is known of a shard.
	 * @param shard its number
	 * @return its traits
	 */
	public ShardTraits traits(int shard) {
		return (this.traits != null) ? this.traits[shard] : ShardTraits.NONE;
	}

	/**
	 * Whether all shards are alike: each of weight 1, in no zone, not pinned.
	 * @return whether {@link #traits} need not be asked
	 */
	public boolean hasPlainShards() {
		return this.traits == null;
	}

	/**
	 * The same request with what is known of the shards.
	 * @param newTraits by shard its traits; {@code null} when all are alike
	 * @return it
	 */
	public AssignmentRequest withTraits(ShardTraits @Nullable [] newTraits) {
		return new Builder(this.members, this.shards).owners(this.owners, this.since, this.sinceMillis)
			.loads(this.loads)
			.movesUnderWay(this.movesUnderWay)
			.now(this.nowMillis)
			.traits(newTraits)
			.build();
	}

	/**
	 * The same request with what another one knows of its shards.
	 * @param other the other one; ignored when its shards are not the same
	 * @return it
	 */
	public AssignmentRequest withTraitsOf(AssignmentRequest other) {
		Objects.requireNonNull(other, "other must not be null");
		return (other.traits != null && other.shards == this.shards) ? withTraits(other.traits) : this;
	}

	/**
	 * The measured load of a shard.
	 * @param shard its number
	 * @return a number that is not negative, in a unit that is the same for all shards;
	 * NaN when nothing was reported
	 */
	public double load(int shard) {
		return (this.loads != null) ? this.loads[shard] : Double.NaN;
	}

	/**
	 * How many shards are being released by members that stay, for who is named as their
	 * owner here. For a strategy that goes in steps.
	 * @return the number
	 */
	public int movesUnderWay() {
		return this.movesUnderWay;
	}

	/**
	 * The time of the request.
	 * @return milliseconds of the store's time, comparable with {@link #sinceMillis}
	 */
	public long nowMillis() {
		return this.nowMillis;
	}

	/**
	 * Today's owners, for who prefers names to numbers. Made at each call.
	 * @return the owners; a shard that nobody owns is not in it
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
	 * Puts a request together. Arrays that it is given are not copied: they must not be
	 * changed any more. Confined to its thread.
	 */
	public static final class Builder {

		private final List<Assignee> members;

		private final Shards shards;

		private int @Nullable [] owners;

		private long[] since = {};

		private long[] sinceMillis = {};

		private ShardTraits @Nullable [] traits;

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
		 * The members, as the request numbers them.
		 * @return an unmodifiable list, ordered by id
		 */
		public List<Assignee> members() {
			return this.members;
		}

		/**
		 * Sets today's owners by number.
		 * @param newOwners by shard the member's place, or {@link #NOBODY}
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
		 * Sets today's owners by name.
		 * @param current by shard its owner; shards that are not the request's and owners
		 * that are not its members are ignored
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
		 * Sets what is known of the shards.
		 * @param newTraits by shard its traits; {@code null} when all are alike
		 * @return this
		 * @throws IllegalArgumentException when a weight is out of bounds
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
		 * Sets the measured loads.
		 * @param newLoads by shard its load, NaN where nothing was reported; {@code null}
		 * when nothing was reported at all
		 * @return this
		 */
		public Builder loads(double @Nullable [] newLoads) {
			requireForAll((newLoads != null) ? newLoads.length : this.shards.size());
			this.loads = newLoads;
			return this;
		}

		/**
		 * Sets how many shards are on their way.
		 * @param newMovesUnderWay the number of those that are being released by members
		 * that stay
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
