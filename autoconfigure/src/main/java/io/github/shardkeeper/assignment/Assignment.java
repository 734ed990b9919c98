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

/**
 * Who shall own which shard, and why. Immutable.
 */
public final class Assignment {

	private static final Reason[] REASONS = Reason.values();

	private static final int MOST_NAMED = 5;

	private final AssignmentRequest request;

	private final int[] owners;

	private final byte[] reasons;

	private final Map<Integer, String> texts;

	private final boolean unfinished;

	/** Trusts its arrays; {@link #builder} is for who does not. */
	Assignment(AssignmentRequest request, int[] owners, byte[] reasons, Map<Integer, String> texts) {
		this(request, owners, reasons, texts, false);
	}

	Assignment(AssignmentRequest request, int[] owners, byte[] reasons, Map<Integer, String> texts,
			boolean unfinished) {
		this.request = request;
		this.owners = owners;
		this.reasons = reasons;
		this.texts = texts;
		this.unfinished = unfinished;
	}

	/**
	 * Begins an assignment in which nobody owns anything.
	 * @param request what it is for
	 * @return a builder
	 */
	public static Builder builder(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		return new Builder(request);
	}

	/**
	 * What it was made for.
	 * @return the request
	 */
	public AssignmentRequest request() {
		return this.request;
	}

	/**
	 * Who shall own a shard.
	 * @param shard its number
	 * @return the member's place, {@link AssignmentRequest#NOBODY} when nobody consumes
	 * its topic
	 */
	public int owner(int shard) {
		return this.owners[shard];
	}

	/**
	 * The reason of a shard's place.
	 * @param shard its number
	 * @return the reason; without meaning for a shard that nobody can own
	 */
	public Reason reason(int shard) {
		return REASONS[this.reasons[shard]];
	}

	/**
	 * How many shards move from one member that stays to another one.
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
	 * Whether this is a step on the way: its strategy wants to be asked again when one of
	 * the moves that are under way then has been made.
	 * @return whether there is more to come
	 */
	public boolean isUnfinished() {
		return this.unfinished;
	}

	/** What was said about single shards, by their numbers. */
	Map<Integer, String> texts() {
		return this.texts;
	}

	/**
	 * Says in a sentence why a shard is to be where it is.
	 * @param shard its number
	 * @return the sentence
	 */
	public String why(int shard) {
		int owner = this.owners[shard];
		if (owner == AssignmentRequest.NOBODY) {
			return "%s has no owner: no instance that stays consumes its topic"
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
	 * The owners, for who prefers names to numbers. Made at each call.
	 * @return the owners; a shard that nobody shall own is not in it
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

	/**
	 * Puts an assignment together, and refuses what cannot be. Confined to its thread.
	 */
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
		 * Gives a shard to a member.
		 * @param shard the shard
		 * @param member the member
		 * @return this
		 * @throws IllegalArgumentException when one of them is not the request's, or the
		 * member does not consume the shard's topic
		 * @throws IllegalStateException when somebody else has the shard already
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
		 * @throws IllegalArgumentException when one of them is not the request's, or the
		 * member does not consume the shard's topic
		 * @throws IllegalStateException when somebody else has the shard already
		 */
		public Builder give(ShardId shard, MemberId member, String why) {
			Objects.requireNonNull(shard, "shard must not be null");
			Objects.requireNonNull(member, "member must not be null");
			Objects.requireNonNull(why, "why must not be null");
			int number = this.request.shards().indexOf(shard);
			Integer place = this.places.get(member);
			if (number < 0) {
				throw new IllegalArgumentException(
						"The assignment strategy gives away %s, which is not among the request's shards()"
							.formatted(shard));
			}
			if (place == null) {
				throw new IllegalArgumentException(
						"The assignment strategy gives %s to %s, who is not among the request's members()"
							.formatted(shard, member));
			}
			this.texts.put(number, why);
			return give(number, place, Reason.CHOSEN);
		}

		/**
		 * Gives a shard to a member.
		 * @param shard the shard's number
		 * @param member the member's place
		 * @param reason the reason
		 * @return this
		 * @throws IllegalArgumentException when the member does not consume the shard's
		 * topic
		 * @throws IllegalStateException when somebody else has the shard already
		 */
		public Builder give(int shard, int member, Reason reason) {
			Objects.requireNonNull(reason, "reason must not be null");
			ShardId id = this.request.shards().get(shard);
			MemberId taker = this.request.members().get(member).id();
			if (!this.request.consumes(member, shard)) {
				throw new IllegalArgumentException(
						"The assignment strategy gives %s to %s, who does not consume that topic: ".formatted(id, taker)
								+ "use the request's consumersOf(topic)");
			}
			int before = this.owners[shard];
			if (before != AssignmentRequest.NOBODY && before != member) {
				throw new IllegalStateException(
						"The assignment strategy gives %s to %s and to %s: a shard has one owner".formatted(id,
								this.request.members().get(before).id(), taker));
			}
			this.owners[shard] = member;
			this.reasons[shard] = (byte) reason.ordinal();
			return this;
		}

		/**
		 * Leaves every shard that was not given to anybody yet to its owner of today, if
		 * that still consumes its topic.
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
		 * Says that this is a step on the way: the strategy wants to be asked again when
		 * one of the moves that are under way then has been made. Where none is, nothing
		 * reminds of it.
		 * @return this
		 */
		public Builder unfinished() {
			this.unfinished = true;
			return this;
		}

		/**
		 * Completes the assignment.
		 * @return it
		 * @throws IllegalStateException when a shard was not given to anybody although
		 * somebody consumes its topic
		 */
		public Assignment build() {
			List<ShardId> forgotten = new ArrayList<>();
			Shards shards = this.request.shards();
			for (int topic = 0; topic < shards.topics().size(); topic++) {
				if (!this.request.consumersOf(shards.topics().get(topic)).isEmpty()) {
					for (int shard = shards.begin(topic); shard < shards.end(topic); shard++) {
						if (this.owners[shard] == AssignmentRequest.NOBODY) {
							forgotten.add(shards.get(shard));
						}
					}
				}
			}
			if (!forgotten.isEmpty()) {
				throw new IllegalStateException(
						"The assignment strategy forgets %d shards that somebody consumes, the first of them %s. "
							.formatted(forgotten.size(), forgotten.stream().limit(MOST_NAMED).toList())
								+ "Give each to somebody, or call keepCurrent() before build()");
			}
			return new Assignment(this.request, this.owners.clone(), this.reasons.clone(), Map.copyOf(this.texts),
					this.unfinished);
		}

	}

}
