package io.github.shardkeeper.operations;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.directive.DirectiveStore.Change;
import io.github.shardkeeper.directive.DirectiveStore.Outcome;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableText;

/**
 * Drains instances, pins, moves and pauses shards, and has the group rebalanced, from any
 * instance: stores what is wanted as a {@link Directive}, which leader and members follow
 * within a second. Concurrent acts do not fight: the later one replaces the earlier one,
 * and says so.
 * <p>
 * All methods wait for the store, and throw
 * {@link io.github.shardkeeper.StoreUnavailableException} if it does not answer, and
 * {@link IllegalArgumentException} for names that are not valid. What a result expects of
 * the leader is no promise: the leader's plan decides. Thread-safe.
 */
public final class GroupSteering {

	private static final int MOST_NAMED = 10;

	private static final int MOST_NAME = 100;

	private final ShardCoordinator coordinator;

	private final CoordinationStore store;

	private final Set<String> broadcastTopics;

	/**
	 * Creates the operations.
	 * @param broadcastTopics the topics that every instance consumes alone
	 */
	public GroupSteering(ShardCoordinator coordinator, CoordinationStore store, Set<String> broadcastTopics) {
		this.coordinator = coordinator;
		this.store = store;
		this.broadcastTopics = Set.copyOf(broadcastTopics);
	}

	/** Moves all shards away from an instance, which stays a member. */
	public Result drain(String instance, Ask ask) {
		String id = instance(instance);
		Situation now = read();
		if (!now.isMember(id)) {
			return unknownInstance(id, now);
		}
		Directive wanted = ask.directive(Kind.DRAIN, id, null);
		List<String> effects = new ArrayList<>();
		Directive before = now.directives.find(Kind.DRAIN, id);
		if (before != null) {
			return unchanged(ask, "%s is already drained %s".formatted(id, before.byWhom()));
		}
		long owned = now.ownedBy(id);
		Directives then = now.directives.with(wanted);
		long moving = this.coordinator.expectedMoves(now.changes, then)
			.stream()
			.filter((move) -> move.from() != null && move.from().instance().equals(id))
			.count();
		effects.add("%s stays a member and gets no shards until it is undrained".formatted(id));
		if (owned == 0) {
			effects.add("it owns no shards");
		}
		else {
			effects.add("%d of its %d shards move to other instances".formatted(moving, owned));
		}
		if (moving < owned) {
			effects.add("%d shards stay, because no other instance can take them".formatted(owned - moving));
		}
		return put(wanted, ask, effects);
	}

	/** Lets an instance get shards again. */
	public Result undrain(String instance, Ask ask) {
		String id = instance(instance);
		Situation now = read();
		if (now.directives.find(Kind.DRAIN, id) == null) {
			return now.isMember(id) ? unchanged(ask, "%s is already without a drain".formatted(id))
					: unknownInstance(id, now);
		}
		int moves = this.coordinator.expectedMoves(now.changes, now.directives.without(Kind.DRAIN, id)).size();
		return clear(Kind.DRAIN, id, ask,
				List.of("%s gets shards again".formatted(id), "%d shards are expected to move".formatted(moves)));
	}

	/** Has a shard owned by an instance while that is a member. */
	public Result pin(ShardId shard, String instance, Ask ask) {
		return place(Kind.PIN, shard, instance, ask);
	}

	/** Lets a shard be assigned by the usual rules again. */
	public Result unpin(ShardId shard, Ask ask) {
		Situation now = read();
		if (now.directives.pinOf(shard) == null) {
			return now.knows(shard) ? unchanged(ask, "%s is already without a pin of an operator".formatted(shard))
					: unknownShard(shard);
		}
		boolean moves = this.coordinator.expectedMoves(now.changes, now.directives.without(Kind.PIN, shard.toString()))
			.stream()
			.anyMatch((move) -> move.shard().equals(shard));
		return clear(Kind.PIN, shard.toString(), ask, List.of("%s is assigned by the usual rules again, and %s"
			.formatted(shard, moves ? "is expected to move" : "stays where it is for now")));
	}

	/** Moves a shard to an instance once. */
	public Result move(ShardId shard, String instance, Ask ask) {
		return place(Kind.MOVE, shard, instance, ask);
	}

	private Result place(Kind kind, ShardId shard, String instance, Ask ask) {
		String id = instance(instance);
		Situation now = read();
		if (!now.knows(shard)) {
			return unknownShard(shard);
		}
		if (!now.isMember(id)) {
			return unknownInstance(id, now);
		}
		Ownership ownership = now.ownership(shard);
		if (ownership != null && ownership.phase() == Phase.COMPLETED) {
			return Result.refused("%s is completed: nobody owns it again".formatted(shard));
		}
		if (!now.consumes(id, shard.topic())) {
			return Result.refused("%s does not consume the topic '%s'".formatted(id, shard.topic()));
		}
		Directive drained = now.directives.find(Kind.DRAIN, id);
		if (drained != null) {
			return Result.refused("%s is drained %s; undrain it first".formatted(id, drained.byWhom()));
		}
		Directive pin = now.directives.pinOf(shard);
		if (kind == Kind.PIN && pin != null && id.equals(pin.to())) {
			return unchanged(ask, "%s is already pinned to %s %s".formatted(shard, id, pin.byWhom()));
		}
		MemberId destination = (ownership != null) ? ownership.destination() : null;
		boolean isThere = destination != null && destination.instance().equals(id);
		if (kind == Kind.MOVE && pin != null && !id.equals(pin.to())) {
			return Result.refused(
					"%s is pinned to %s %s; unpin it, or pin it to %s".formatted(shard, pin.to(), pin.byWhom(), id));
		}
		if (kind == Kind.MOVE && isThere) {
			return unchanged(ask, "%s is already with %s, or on its way there".formatted(shard, id));
		}
		Directive wanted = ask.directive(kind, shard.toString(), id);
		List<String> effects = new ArrayList<>();
		effects.add(isThere ? "%s stays with %s".formatted(shard, id)
				: "%s moves %sto %s".formatted(shard, (destination != null) ? "from " + destination + " " : "", id));
		long others = this.coordinator.expectedMoves(now.changes, now.directives.with(wanted))
			.stream()
			.filter((move) -> !move.shard().equals(shard))
			.count();
		if (others > 0) {
			effects.add("%d other %s expected to move, to restore the balance".formatted(others,
					(others == 1) ? "shard is" : "shards are"));
		}
		effects.add((kind == Kind.PIN)
				? "it stays there while %s is a member, and is assigned by the usual rules otherwise".formatted(id)
				: "from then on the usual rules apply: pin it if it has to stay");
		return put(wanted, ask, effects);
	}

	/** Has the leader read the group again and plan at once, without waiting. */
	public Result rebalance(Ask ask) {
		Situation now = read();
		Directive wanted = ask.directive(Kind.REBALANCE, "", null);
		int moves = this.coordinator.expectedMoves(now.changes, now.directives.with(wanted)).size();
		return put(wanted, ask,
				List.of("the leader plans at once, and gives up cool-downs",
						(moves == 0) ? "no shard is expected to move: the group is balanced"
								: "%d shards are expected to move".formatted(moves)));
	}

	/**
	 * Stops the handling of records of all shards of a topic, which keep their owners.
	 */
	public Result pause(String topic, Ask ask) {
		Situation now = read();
		Result refused = refuse(topic, now);
		return (refused != null) ? refused
				: pause(topic, "all %d shards of %s".formatted(now.shardsOf(topic), topic), now, ask);
	}

	/** Stops the handling of records of a shard, which keeps its owner. */
	public Result pause(ShardId shard, Ask ask) {
		Situation now = read();
		if (this.broadcastTopics.contains(shard.topic())) {
			return broadcast(shard.topic());
		}
		return now.knows(shard) ? pause(shard.toString(), shard.toString(), now, ask) : unknownShard(shard);
	}

	private Result pause(String subject, String what, Situation now, Ask ask) {
		Directive before = now.directives.find(Kind.PAUSE, subject);
		if (before != null) {
			return unchanged(ask, "%s is already paused %s".formatted(subject, before.byWhom()));
		}
		return put(ask.directive(Kind.PAUSE, subject, null), ask, List.of(
				"%s: running calls return, what is done is committed, and no further record is handled".formatted(what),
				"owners and state stay; records wait in the source until it is resumed"));
	}

	/** Resumes a topic, except shards that are paused themselves. */
	public Result resume(String topic, Ask ask) {
		Situation now = read();
		if (now.directives.find(Kind.PAUSE, topic) == null) {
			Result refused = refuse(topic, now);
			return (refused != null) ? refused : unchanged(ask, "%s is already running".formatted(topic));
		}
		List<String> effects = new ArrayList<>(
				List.of("the shards of %s continue where they stopped".formatted(topic)));
		long own = now.directives.of(Kind.PAUSE)
			.stream()
			.filter((pause) -> pause.subject().startsWith(topic + "/"))
			.count();
		if (own > 0) {
			effects.add("%d of them stay paused, because they are paused themselves".formatted(own));
		}
		return clear(Kind.PAUSE, topic, ask, effects);
	}

	/** Resumes a shard, unless its topic is paused. */
	public Result resume(ShardId shard, Ask ask) {
		Situation now = read();
		Directive ofTopic = now.directives.find(Kind.PAUSE, shard.topic());
		String still = (ofTopic != null)
				? "%s stays paused, because its topic is paused %s".formatted(shard, ofTopic.byWhom()) : null;
		if (now.directives.find(Kind.PAUSE, shard.toString()) == null) {
			if (!now.knows(shard)) {
				return unknownShard(shard);
			}
			return (still != null) ? Result.refused(still + "; resume the topic")
					: unchanged(ask, "%s is already running".formatted(shard));
		}
		return clear(Kind.PAUSE, shard.toString(), ask,
				List.of((still != null) ? still : "%s continues where it stopped".formatted(shard)));
	}

	private @Nullable Result refuse(String topic, Situation now) {
		if (!Names.isValid(topic)) {
			throw new IllegalArgumentException("Not a topic: '%s'. %s".formatted(printable(topic), Names.RULE));
		}
		if (this.broadcastTopics.contains(topic)) {
			return broadcast(topic);
		}
		return now.knowsTopic(topic) ? null : Result.unknown("The group has no topic '%s'".formatted(topic));
	}

	private static Result broadcast(String topic) {
		return Result.refused(
				"The topic '%s' is consumed by every instance alone, so the group cannot pause it".formatted(topic));
	}

	private Result put(Directive wanted, Ask ask, List<String> expected) {
		if (ask.dryRun()) {
			return new Result(Status.DRY_RUN, expected, null);
		}
		Change change = this.store.directives().put(wanted);
		Directive before = change.before();
		List<String> effects = new ArrayList<>(expected);
		if (change.outcome() == Outcome.FULL) {
			return Result
				.refused("The group has %d directives already; clear some first".formatted(DirectiveStore.MOST));
		}
		if (change.outcome() == Outcome.UNCHANGED) {
			return unchanged(ask, "this was already asked for" + ((before != null) ? " " + before.byWhom() : ""));
		}
		if (before != null) {
			effects.add("this replaces what was asked for %s".formatted(before.byWhom()));
		}
		return new Result(Status.DONE, effects, null);
	}

	private Result clear(Kind kind, String subject, Ask ask, List<String> expected) {
		if (ask.dryRun()) {
			return new Result(Status.DRY_RUN, expected, null);
		}
		boolean changed = this.store.directives().clear(kind, subject).outcome() == Outcome.CHANGED;
		return changed ? new Result(Status.DONE, expected, null)
				: unchanged(ask, "somebody else has already done this");
	}

	private static Result unchanged(Ask ask, String effect) {
		return new Result(ask.dryRun() ? Status.DRY_RUN : Status.DONE, List.of(effect), null);
	}

	private static Result unknownShard(ShardId shard) {
		return Result.unknown("The group has no shard '%s'".formatted(shard));
	}

	private static Result unknownInstance(String id, Situation now) {
		List<String> known = List.copyOf(now.instances());
		return Result.unknown("The group has no instance '%s'; its instances are %s%s".formatted(id,
				known.stream().limit(MOST_NAMED).toList(),
				(known.size() > MOST_NAMED) ? " and " + (known.size() - MOST_NAMED) + " more" : ""));
	}

	/** Returns the id of the instance that is named, also by the id of its member. */
	private static String instance(String named) {
		Objects.requireNonNull(named, "instance must not be null");
		String id = (named.indexOf('~') >= 0) ? new MemberId(named).instance() : named;
		if (!Names.isValid(id)) {
			throw new IllegalArgumentException("Not an instance: '%s'. %s".formatted(printable(named), Names.RULE));
		}
		return id;
	}

	private static String printable(String name) {
		return PrintableText.of(name, MOST_NAME);
	}

	private Situation read() {
		return new Situation(this.store.readChanges(0, -1), this.store.directives().read());
	}

	/** The group as it was read. */
	private record Situation(GroupChanges changes, Directives directives) {

		List<GroupMember> members() {
			List<GroupMember> members = this.changes.members();
			return (members != null) ? members : List.of();
		}

		Set<String> instances() {
			Set<String> instances = new TreeSet<>();
			members().forEach((member) -> instances.add(member.id().instance()));
			return instances;
		}

		boolean isMember(String instance) {
			return instances().contains(instance);
		}

		boolean consumes(String instance, String topic) {
			return members().stream()
				.anyMatch((member) -> member.id().instance().equals(instance)
						&& member.description().topicShards().containsKey(topic));
		}

		@Nullable Ownership ownership(ShardId shard) {
			return this.changes.ownerships()
				.stream()
				.filter((ownership) -> ownership.shard().equals(shard))
				.findFirst()
				.orElse(null);
		}

		boolean knows(ShardId shard) {
			return ownership(shard) != null;
		}

		long shardsOf(String topic) {
			return this.changes.ownerships()
				.stream()
				.filter((ownership) -> ownership.shard().topic().equals(topic) && ownership.phase() != Phase.COMPLETED)
				.count();
		}

		boolean knowsTopic(String topic) {
			return shardsOf(topic) > 0
					|| members().stream().anyMatch((member) -> member.description().topicShards().containsKey(topic));
		}

		long ownedBy(String instance) {
			return this.changes.ownerships().stream().filter((ownership) -> {
				MemberId owner = ownership.owner();
				return owner != null && owner.instance().equals(instance);
			}).count();
		}

	}

	/**
	 * How something is asked for. Immutable.
	 *
	 * @param by the person; empty if unknown
	 * @param reason the reason; empty for none
	 * @param dryRun whether to say what would happen instead of doing it
	 */
	public record Ask(String by, String reason, boolean dryRun) {

		private Directive directive(Kind kind, String subject, @Nullable String to) {
			return Directive.of(kind, subject, to, this.by, this.reason);
		}

	}

	/**
	 * The result of an act. Immutable.
	 *
	 * @param effects what happens, or would happen, in sentences without a full stop;
	 * "already" says that there was nothing to do
	 * @param refused why nothing was done; {@code null} unless it was refused or unknown
	 */
	public record Result(Status status, List<String> effects, @Nullable String refused) {

		public Result {
			effects = List.copyOf(effects);
		}

		private static Result refused(String why) {
			return new Result(Status.REFUSED, List.of(), why);
		}

		private static Result unknown(String why) {
			return new Result(Status.UNKNOWN, List.of(), why);
		}

	}

	/** Whether an act was done. */
	public enum Status {

		/** It is stored, or was before. */
		DONE,

		/** Nothing was changed, as asked for. */
		DRY_RUN,

		/** It conflicts with the state of the group. */
		REFUSED,

		/** The group has no such shard, topic or instance. */
		UNKNOWN

	}

}
