package io.github.shardkeeper.protocol.leader;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.directive.DirectedAssignment;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.Transition.Assign;
import io.github.shardkeeper.protocol.Transition.Cancel;
import io.github.shardkeeper.protocol.Transition.Retarget;
import io.github.shardkeeper.protocol.Transition.Revoke;
import io.github.shardkeeper.protocol.leader.GroupPicture.Roster;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

/** Computes the transitions from the picture of a group to an assignment. Immutable. */
public final class Planner {

	private final HandoverRules rules;

	public Planner(HandoverRules rules) {
		this.rules = rules;
	}

	/**
	 * Builds the request to the strategy.
	 * @param nowMillis the store's time, or a little earlier
	 */
	public AssignmentRequest request(GroupPicture picture, LoadReports loads, Directives directives, long nowMillis) {
		Roster roster = picture.roster();
		int[] places = picture.places();
		int[] owners = new int[picture.shards().size()];
		int movesUnderWay = 0;
		for (int shard = 0; shard < owners.length; shard++) {
			int owner = picture.owner(shard);
			if (owner != GroupPicture.UNSETTLED) {
				owners[shard] = places[owner];
			}
			else {
				owners[shard] = unsettled(picture.ownership(shard), roster);
				movesUnderWay += isMove(picture.ownership(shard), owners[shard], roster, nowMillis) ? 1 : 0;
			}
		}
		return AssignmentRequest.builder(roster.assignees(), picture.shards())
			.owners(owners, picture.since(), isRebalanced(directives) ? new long[owners.length] : picture.sinceMillis())
			.pins(DirectedAssignment.pins(directives, picture.shards()))
			.loads(loads.of(picture))
			.movesUnderWay(movesUnderWay)
			.now(nowMillis)
			.build();
	}

	/** Then no shard has come to its owner too recently to move. */
	private static boolean isRebalanced(Directives directives) {
		return directives.find(Kind.REBALANCE, "") != null;
	}

	/**
	 * Returns the moves that a leader with this picture would make, or make first, with
	 * the built-in balance if the group's own strategy cannot be asked here.
	 * @param changes the whole group
	 * @param strategy the strategy, with the traits of the shards; {@code null} for the
	 * built-in balance
	 */
	public List<ExpectedMove> expectedMoves(GroupChanges changes, Map<String, TopicShards> topics,
			Directives directives, @Nullable AssignmentStrategy strategy) {
		GroupPicture picture = new GroupPicture();
		picture.drain(directives.drained());
		picture.apply(changes);
		picture.update(topics);
		long nowMillis = changes.ownerships().stream().mapToLong(Ownership::sinceMillis).max().orElse(0);
		picture.timePassed(nowMillis);
		AssignmentRequest request = request(picture, new LoadReports(null), directives, nowMillis);
		Assignment assignment = ((strategy != null) ? strategy : new StickyAssignment()).assign(request);
		assignment = direct(assignment, picture, directives).assignment();
		List<ExpectedMove> moves = new ArrayList<>();
		for (int shard = 0; shard < picture.shards().size(); shard++) {
			Ownership ownership = picture.ownership(shard);
			MemberId from = (ownership != null) ? ownership.destination() : null;
			int wanted = assignment.owner(shard);
			MemberId to = (wanted != AssignmentRequest.NOBODY) ? assignment.request().members().get(wanted).id() : null;
			if (to != null && !to.equals(from)) {
				moves.add(new ExpectedMove(picture.shards().get(shard), from, to));
			}
		}
		return moves;
	}

	/** Applies the directives to an assignment for the picture. */
	static DirectedAssignment direct(Assignment assignment, GroupPicture picture, Directives directives) {
		DirectedAssignment directed = DirectedAssignment.of(assignment, directives, (shard) -> {
			Ownership ownership = picture.ownership(shard);
			return (ownership != null) ? ownership.owner() : null;
		});
		return new DirectedAssignment(withoutRestarting(directed.assignment(), picture), directed.asked());
	}

	/**
	 * Gives nothing new to members that restart: what they would get stays where it is,
	 * or goes to the other member with the fewest shards.
	 */
	private static Assignment withoutRestarting(Assignment assignment, GroupPicture picture) {
		Roster roster = picture.roster();
		if (!roster.hasRestarting()) {
			return assignment;
		}
		List<Assignee> members = assignment.request().members();
		int[] loads = new int[members.size()];
		List<Integer> unplaced = new ArrayList<>();
		Map<Integer, Integer> placed = new HashMap<>();
		for (int shard = 0; shard < picture.shards().size(); shard++) {
			int wanted = assignment.owner(shard);
			if (wanted == AssignmentRequest.NOBODY) {
				continue;
			}
			Ownership ownership = picture.ownership(shard);
			MemberId member = members.get(wanted).id();
			if (!roster.restarts(member) || isKeptBy(member, ownership)) {
				loads[wanted]++;
				continue;
			}
			int owner = (ownership != null) ? roster.place(ownership.owner()) : AssignmentRequest.NOBODY;
			if (owner != AssignmentRequest.NOBODY && !roster.restarts(members.get(owner).id())) {
				placed.put(shard, owner);
				loads[owner]++;
			}
			else {
				unplaced.add(shard);
			}
		}
		for (int shard : unplaced) {
			int other = leastLoaded(picture.shards().get(shard).topic(), members, roster, loads);
			if (other != AssignmentRequest.NOBODY) {
				placed.put(shard, other);
				loads[other]++;
			}
		}
		Map<Integer, String> words = new HashMap<>();
		placed.keySet()
			.forEach((shard) -> words.put(shard,
					"instead of %s, which restarts".formatted(members.get(assignment.owner(shard)).id().instance())));
		return assignment.with(placed, words);
	}

	private static boolean isKeptBy(MemberId member, @Nullable Ownership ownership) {
		return ownership != null && (member.equals(ownership.owner()) && ownership.phase() == Phase.OWNED
				|| member.instance().equals(RestartingInstance.keptFor(ownership)));
	}

	private static int leastLoaded(String topic, List<Assignee> members, Roster roster, int[] loads) {
		int least = AssignmentRequest.NOBODY;
		for (int place = 0; place < members.size(); place++) {
			Assignee member = members.get(place);
			if (member.topics().contains(topic) && !roster.restarts(member.id()) && (least == AssignmentRequest.NOBODY
					|| loads[place] * members.get(least).capacity() < loads[least] * member.capacity())) {
				least = place;
			}
		}
		return least;
	}

	/** Returns the destination of a move; the owner if the target is a former member. */
	private static int unsettled(@Nullable Ownership ownership, Roster roster) {
		if (ownership == null) {
			return AssignmentRequest.NOBODY;
		}
		String kept = RestartingInstance.keptFor(ownership);
		int destination = (kept != null) ? roster.heir(kept) : roster.place(ownership.destination());
		boolean reachable = destination != AssignmentRequest.NOBODY
				&& roster.assignees().get(destination).topics().contains(ownership.shard().topic());
		return (!reachable && ownership.phase() == Phase.REVOKING) ? roster.place(ownership.owner()) : destination;
	}

	/**
	 * {@return whether a remaining member releases the shard for another one, and is not
	 * overdue: a few hanging moves must not block all others}
	 */
	private boolean isMove(@Nullable Ownership ownership, int destination, Roster roster, long nowMillis) {
		if (ownership == null || ownership.phase() != Phase.REVOKING
				|| nowMillis >= ownership.sinceMillis() + this.rules.timeout().toMillis()) {
			return false;
		}
		int owner = roster.place(ownership.owner());
		return owner != AssignmentRequest.NOBODY && owner != destination;
	}

	/**
	 * Finds the transitions from the current owners to an assignment.
	 * @param picture the group, with the members and shards of the request
	 * @param nowMillis the store's time, or a little earlier
	 */
	public Plan plan(GroupPicture picture, Assignment assignment, long nowMillis, long claimsUntilMillis) {
		List<Assignee> members = assignment.request().members();
		Set<MemberId> staying = picture.roster().members();
		int[] places = picture.places();
		Builder plan = new Builder(this.rules, nowMillis, claimsUntilMillis);
		for (int shard = 0; shard < picture.shards().size(); shard++) {
			int wanted = assignment.owner(shard);
			int owner = picture.owner(shard);
			boolean settled = owner != GroupPicture.UNSETTLED && places[owner] == wanted
					&& wanted != AssignmentRequest.NOBODY;
			MemberId member = (wanted != AssignmentRequest.NOBODY) ? members.get(wanted).id() : null;
			if (!settled && (member == null || !picture.roster().restarts(member))) {
				plan.add(picture.shards().get(shard), picture.ownership(shard), member, staying);
			}
		}
		plan.wakeAt(picture.nextReturnMillis());
		picture.withdrawn().forEach((ownership) -> plan.add(ownership.shard(), ownership, null, staying));
		return plan.build(assignment.isUnfinished());
	}

	/**
	 * The result of planning. Immutable.
	 *
	 * @param transitions the transitions that are possible now
	 * @param nextMillis the earliest time at which another shard can be assigned, in the
	 * store's time; 0 for none
	 * @param movesHeldBack whether moves wait for others
	 */
	public record Plan(List<Transition> transitions, long nextMillis, boolean movesHeldBack) {

	}

	/**
	 * A move that is expected. Immutable.
	 *
	 * @param from the owner, or the one that it moves to now; {@code null} for none
	 */
	public record ExpectedMove(ShardId shard, @Nullable MemberId from, MemberId to) {

	}

	private static final class Builder {

		private final HandoverRules rules;

		private final long nowMillis;

		private final long claimsUntilMillis;

		/**
		 * By owner: a member that gets a hundred shards is notified two or three times.
		 */
		private final Map<MemberId, List<Transition>> assigned = new LinkedHashMap<>();

		private final List<Transition> transitions = new ArrayList<>();

		/** Moves from leaving members: they come first. */
		private final List<Transition> urgentMoves = new ArrayList<>();

		private final List<Transition> moves = new ArrayList<>();

		/** Without overdue ones: a few that hang must not block all others. */
		private int movesUnderWay;

		/** Time at which the first of these becomes overdue; 0 for none. */
		private long firstOverdueMillis;

		private long nextMillis;

		Builder(HandoverRules rules, long nowMillis, long claimsUntilMillis) {
			this.rules = rules;
			this.nowMillis = nowMillis;
			this.claimsUntilMillis = claimsUntilMillis;
		}

		/** Adds one shard; shards of members that leave move first. */
		void add(ShardId shard, @Nullable Ownership now, @Nullable MemberId wanted, Set<MemberId> staying) {
			if (now == null) {
				assign(shard, 0, wanted, 0);
				return;
			}
			switch (now.phase()) {
				case FREE -> assign(shard, now.generation(), wanted, 0);
				case OWNED -> {
					MemberId owner = now.owner();
					if (!Objects.equals(owner, wanted)) {
						boolean urgent = owner != null && !staying.contains(owner);
						(urgent ? this.urgentMoves : this.moves).add(new Revoke(shard, now.generation(), wanted));
					}
				}
				case REVOKING -> released(now, wanted);
				case QUIET -> quiet(now, wanted);
				case COMPLETED -> {
				}
			}
		}

		/** Has the next plan made by a time; 0 for never. */
		void wakeAt(long millis) {
			this.nextMillis = (millis != 0) ? earlier(this.nextMillis, millis) : this.nextMillis;
		}

		private void assign(ShardId shard, long generation, @Nullable MemberId wanted, long restEndsMillis) {
			if (wanted == null) {
				return;
			}
			long possibleMillis = Math.max(restEndsMillis, this.claimsUntilMillis);
			if (this.nowMillis >= possibleMillis) {
				this.assigned.computeIfAbsent(wanted, (owner) -> new ArrayList<>())
					.add(new Assign(shard, generation, wanted));
			}
			else {
				this.nextMillis = earlier(this.nextMillis, possibleMillis);
			}
		}

		private void released(Ownership now, @Nullable MemberId wanted) {
			if (wanted != null && wanted.equals(now.owner())) {
				this.transitions.add(new Cancel(now.shard(), now.generation()));
				return;
			}
			long overdueMillis = now.sinceMillis() + this.rules.timeout().toMillis();
			if (this.nowMillis < overdueMillis) {
				this.movesUnderWay++;
				this.firstOverdueMillis = earlier(this.firstOverdueMillis, overdueMillis);
			}
			if (!Objects.equals(now.target(), wanted)) {
				this.transitions.add(new Retarget(now.shard(), now.generation(), wanted));
			}
		}

		private void quiet(Ownership now, @Nullable MemberId wanted) {
			// A clock that was set back would prolong the quiet period: the store refuses
			// the assignment then, and restarts the period.
			boolean clockSetBack = this.nowMillis < now.sinceMillis() - GroupPicture.CLOCK_DISAGREEMENT_MILLIS;
			long restEndsMillis = clockSetBack ? 0 : now.untilMillis();
			assign(now.shard(), now.generation(), wanted, restEndsMillis);
			boolean rests = this.nowMillis < Math.max(restEndsMillis, this.claimsUntilMillis);
			if (rests && !Objects.equals(now.target(), wanted)) {
				// The target can prepare meanwhile.
				this.transitions.add(new Retarget(now.shard(), now.generation(), wanted));
			}
		}

		/** Returns the earlier time; 0 stands for never. */
		private static long earlier(long oneMillis, long otherMillis) {
			return (oneMillis != 0) ? Math.min(oneMillis, otherMillis) : otherMillis;
		}

		/**
		 * Completes the plan.
		 * @param isStep whether the strategy wants more moves after these: hanging moves
		 * must not block them forever
		 */
		Plan build(boolean isStep) {
			this.urgentMoves.addAll(this.moves);
			int most = this.rules.mostConcurrentMoves();
			int room = (most != 0) ? Math.max(most - this.movesUnderWay, 0) : this.urgentMoves.size();
			boolean heldBack = room < this.urgentMoves.size();
			if ((heldBack || isStep) && this.firstOverdueMillis != 0) {
				this.nextMillis = earlier(this.nextMillis, this.firstOverdueMillis);
			}
			List<Transition> all = new ArrayList<>();
			this.assigned.values().forEach(all::addAll);
			all.addAll(this.transitions);
			all.addAll(heldBack ? this.urgentMoves.subList(0, room) : this.urgentMoves);
			return new Plan(Collections.unmodifiableList(all), this.nextMillis, heldBack);
		}

	}

}
