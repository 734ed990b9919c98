package io.github.shardkeeper.assignment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/** Owners of all shards of a request, with the reason for each. Immutable. */
public final class Assignment {

	private static final Reason[] REASONS = Reason.values();

	private static final int MOST_NAMED = 5;

	private final AssignmentRequest request;

	private final int[] owners;

	private final byte[] reasons;

	private final Map<Integer, String> texts;

	private final boolean unfinished;

	private Assignment(AssignmentRequest request, int[] owners, byte[] reasons, Map<Integer, String> texts,
			boolean unfinished) {
		this.request = request;
		this.owners = owners;
		this.reasons = reasons;
		this.texts = texts;
		this.unfinished = unfinished;
	}

	/**
	 * Returns a builder of an assignment in which no shard has an owner.
	 * @param request the members and shards
	 * @return a builder
	 */
	public static Builder builder(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		return new Builder(request);
	}

	/**
	 * Returns an assignment of arrays that are neither copied nor checked. For strategies
	 * that assign large groups; {@link #builder} refuses what is not valid.
	 * @param request the members and shards
	 * @param owners by shard the place of its owner, or {@link AssignmentRequest#NOBODY}
	 * @param reasons by shard the ordinal of its {@link Reason}
	 * @return the assignment
	 */
	public static Assignment unchecked(AssignmentRequest request, int[] owners, byte[] reasons) {
		return unchecked(request, owners, reasons, Map.of(), false);
	}

	/**
	 * Returns an assignment of arrays that are neither copied nor checked, with texts.
	 * @param request the members and shards
	 * @param owners by shard the place of its owner, or {@link AssignmentRequest#NOBODY}
	 * @param reasons by shard the ordinal of its {@link Reason}
	 * @param texts the texts of shards that have their own, by number; not copied either
	 * @param unfinished whether the assignment {@linkplain #isUnfinished is a step}
	 * @return the assignment
	 */
	public static Assignment unchecked(AssignmentRequest request, int[] owners, byte[] reasons,
			Map<Integer, String> texts, boolean unfinished) {
		Objects.requireNonNull(request, "request must not be null");
		Objects.requireNonNull(owners, "owners must not be null");
		Objects.requireNonNull(reasons, "reasons must not be null");
		Objects.requireNonNull(texts, "texts must not be null");
		return new Assignment(request, owners, reasons, texts, unfinished);
	}

	/**
	 * Returns the request that this assignment was made for.
	 * @return the request
	 */
	public AssignmentRequest request() {
		return this.request;
	}

	/**
	 * Returns the owner of a shard.
	 * @param shard the number of the shard
	 * @return the place of the member, or {@link AssignmentRequest#NOBODY}
	 */
	public int owner(int shard) {
		return this.owners[shard];
	}

	/**
	 * Returns the reason for the owner of a shard.
	 * @param shard the number of the shard
	 * @return the reason; without meaning for a shard that no member can own
	 */
	public Reason reason(int shard) {
		return REASONS[this.reasons[shard]];
	}

	/**
	 * Returns the number of shards that move from one staying member to another.
	 * @return the number
	 */
	public int moves() {
		int moves = 0;
		for (int shard = 0; shard < this.owners.length; shard++) {
			if (isMove(shard)) {
				moves++;
			}
		}
		return moves;
	}

	private boolean isMove(int shard) {
		return this.request.owner(shard) != AssignmentRequest.NOBODY && this.request.owner(shard) != this.owners[shard];
	}

	/**
	 * Returns whether this is a step: the strategy is asked again after each move.
	 * @return whether more steps follow
	 */
	public boolean isUnfinished() {
		return this.unfinished;
	}

	/**
	 * Returns the same assignment with other owners and texts of some shards, as an
	 * operator wants it.
	 * @param placed by number of the shard the place of its owner, which consumes it
	 * @param words by number of the shard why it has its owner
	 * @return the assignment
	 */
	public Assignment with(Map<Integer, Integer> placed, Map<Integer, String> words) {
		Objects.requireNonNull(placed, "placed must not be null");
		Objects.requireNonNull(words, "words must not be null");
		if (placed.isEmpty() && words.isEmpty()) {
			return this;
		}
		int[] newOwners = this.owners.clone();
		byte[] newReasons = this.reasons.clone();
		placed.forEach((shard, owner) -> {
			newOwners[shard] = owner;
			newReasons[shard] = (byte) Reason.PINNED.ordinal();
		});
		Map<Integer, String> newTexts = new HashMap<>(this.texts);
		newTexts.putAll(words);
		return new Assignment(this.request, newOwners, newReasons, Map.copyOf(newTexts), this.unfinished);
	}

	/**
	 * Returns the texts that replace the reasons of single shards.
	 * @return an unmodifiable map by number of the shard
	 */
	public Map<Integer, String> texts() {
		return this.texts;
	}

	/**
	 * Returns a sentence that says why a shard has its owner.
	 * @param shard the number of the shard
	 * @return the sentence
	 */
	public String why(int shard) {
		int owner = this.owners[shard];
		if (owner == AssignmentRequest.NOBODY) {
			return "%s has no owner: no remaining instance consumes its topic"
				.formatted(this.request.shards().get(shard));
		}
		MemberId to = this.request.members().get(owner).id();
		String reason = this.texts.getOrDefault(shard, reason(shard).text());
		if (isMove(shard)) {
			return "%s moves from %s to %s: %s".formatted(this.request.shards().get(shard),
					this.request.members().get(this.request.owner(shard)).id(), to, reason);
		}
		boolean kept = this.request.owner(shard) == owner;
		return "%s %s %s: %s".formatted(this.request.shards().get(shard), kept ? "stays with" : "goes to", to, reason);
	}

	/**
	 * Returns the owners by name. Computed at each call.
	 * @return the owners; without shards that have none
	 */
	public SortedMap<ShardId, MemberId> toMap() {
		SortedMap<ShardId, MemberId> map = new TreeMap<>();
		for (int shard = 0; shard < this.owners.length; shard++) {
			if (this.owners[shard] != AssignmentRequest.NOBODY) {
				map.put(this.request.shards().get(shard), this.request.members().get(this.owners[shard]).id());
			}
		}
		return map;
	}

	@Override
	public String toString() {
		return toMap().toString();
	}

	/** Builder of an assignment. Refuses what is not valid. Confined to its thread. */
	public static final class Builder {

		private final AssignmentRequest request;

		private final int[] owners;

		private final byte[] reasons;

		private final Map<Integer, String> texts = new HashMap<>();

		private final Map<MemberId, Integer> places;

		private boolean unfinished;

		private Builder(AssignmentRequest request) {
			this.request = request;
			this.owners = new int[request.shards().size()];
			this.reasons = new byte[this.owners.length];
			Arrays.fill(this.owners, AssignmentRequest.NOBODY);
			this.places = request.places();
		}

		/**
		 * Gives a shard to a member; throws as {@link #give(ShardId, MemberId, String)}.
		 * @param shard the shard
		 * @param member the member
		 * @return this
		 */
		public Builder give(ShardId shard, MemberId member) {
			return give(shard, member, Reason.CHOSEN.text());
		}

		/**
		 * Gives a shard to a member.
		 * @param shard the shard
		 * @param member the member
		 * @param why the reason, for people: the second half of a sentence
		 * @return this
		 * @throws IllegalArgumentException if one of them is not in the request, or the
		 * member does not consume the topic of the shard
		 * @throws IllegalStateException if another member has the shard already
		 */
		public Builder give(ShardId shard, MemberId member, String why) {
			Objects.requireNonNull(shard, "shard must not be null");
			Objects.requireNonNull(member, "member must not be null");
			Objects.requireNonNull(why, "why must not be null");
			int number = this.request.shards().indexOf(shard);
			Integer place = this.places.get(member);
			if (number < 0) {
				throw new IllegalArgumentException(
						"The assignment strategy assigns %s, which is not among the request's shards()"
							.formatted(shard));
			}
			if (place == null) {
				throw new IllegalArgumentException(
						"The assignment strategy assigns %s to %s, which is not among the request's members()"
							.formatted(shard, member));
			}
			this.texts.put(number, why);
			return give(number, place, Reason.CHOSEN);
		}

		/**
		 * Gives a shard to a member.
		 * @param shard the number of the shard
		 * @param member the place of the member
		 * @param reason the reason
		 * @return this
		 * @throws IllegalArgumentException if the member does not consume its topic
		 * @throws IllegalStateException if another member has the shard already
		 */
		public Builder give(int shard, int member, Reason reason) {
			Objects.requireNonNull(reason, "reason must not be null");
			ShardId id = this.request.shards().get(shard);
			MemberId taker = this.request.members().get(member).id();
			if (!this.request.consumes(member, shard)) {
				throw new IllegalArgumentException(
						"The assignment strategy assigns %s to %s, which does not consume that topic: ".formatted(id,
								taker) + "use the request's consumersOf(topic)");
			}
			int before = this.owners[shard];
			if (before != AssignmentRequest.NOBODY && before != member) {
				throw new IllegalStateException(
						"The assignment strategy assigns %s to %s and to %s: a shard has one owner".formatted(id,
								this.request.members().get(before).id(), taker));
			}
			this.owners[shard] = member;
			this.reasons[shard] = (byte) reason.ordinal();
			return this;
		}

		/**
		 * Leaves shards without an owner with their current one if it consumes them.
		 * @return this
		 */
		public Builder keepCurrent() {
			for (int shard = 0; shard < this.owners.length; shard++) {
				int owner = this.request.owner(shard);
				if (this.owners[shard] == AssignmentRequest.NOBODY && owner != AssignmentRequest.NOBODY
						&& this.request.consumes(owner, shard)) {
					give(shard, owner, Reason.KEPT);
				}
			}
			return this;
		}

		/**
		 * Marks the assignment as a {@linkplain Assignment#isUnfinished() step}. Without
		 * a move its strategy is not asked again.
		 * @return this
		 */
		public Builder unfinished() {
			this.unfinished = true;
			return this;
		}

		/**
		 * Returns the assignment.
		 * @return the assignment
		 * @throws IllegalStateException if a shard that a member consumes has no owner
		 */
		public Assignment build() {
			List<ShardId> unassigned = new ArrayList<>();
			Shards shards = this.request.shards();
			for (int topic = 0; topic < shards.topics().size(); topic++) {
				if (!this.request.consumersOf(shards.topics().get(topic)).isEmpty()) {
					for (int shard = shards.begin(topic); shard < shards.end(topic); shard++) {
						if (this.owners[shard] == AssignmentRequest.NOBODY) {
							unassigned.add(shards.get(shard));
						}
					}
				}
			}
			if (!unassigned.isEmpty()) {
				throw new IllegalStateException(
						"The assignment strategy leaves %d consumed shards without an owner, beginning with %s. "
							.formatted(unassigned.size(), unassigned.stream().limit(MOST_NAMED).toList())
								+ "Assign each to a member, or call keepCurrent() before build()");
			}
			return new Assignment(this.request, this.owners.clone(), this.reasons.clone(), Map.copyOf(this.texts),
					this.unfinished);
		}

	}

}
