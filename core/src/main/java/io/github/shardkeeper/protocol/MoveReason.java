package io.github.shardkeeper.protocol;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableText;

/**
 * Reason for which a leader gave a shard to a member, as short text for other members.
 * Immutable.
 * <p>
 * The text is {@code reason|owner|former owner|own words of the strategy}; the last two
 * may be empty.
 *
 * @param reason the reason
 * @param owner the member that got the shard, or kept it
 * @param from the former owner; {@code null} if there was none, or it is the same
 * @param words the strategy's own words; {@code null} for those of the reason
 */
public record MoveReason(Reason reason, MemberId owner, @Nullable MemberId from, @Nullable String words) {

	private static final int MOST_WORDS = 200;

	private static final int PARTS = 4;

	private static final int LONGEST = 1_000;

	public MoveReason {
		words = (words != null) ? PrintableText.of(words, MOST_WORDS) : null;
	}

	/**
	 * Returns the reason of a planned transition; empty if it gives the shard to nobody,
	 * or the assignment does not explain it.
	 */
	public static Optional<MoveReason> of(Transition transition, Assignment assignment) {
		AssignmentRequest request = assignment.request();
		int shard = request.shards().indexOf(transition.shard());
		int owner = (shard >= 0) ? assignment.owner(shard) : AssignmentRequest.NOBODY;
		if (owner == AssignmentRequest.NOBODY) {
			return Optional.empty();
		}
		MemberId to = request.members().get(owner).id();
		if (!(transition instanceof Transition.Cancel) && !to.equals(destination(transition))) {
			return Optional.empty();
		}
		int before = request.owner(shard);
		MemberId from = (before != AssignmentRequest.NOBODY && before != owner) ? request.members().get(before).id()
				: null;
		return Optional.of(new MoveReason(assignment.reason(shard), to, from, assignment.texts().get(shard)));
	}

	/** Returns the reasons of those planned transitions that have one, by shard. */
	public static Map<ShardId, MoveReason> of(List<Transition> planned, Assignment assignment) {
		Map<ShardId, MoveReason> reasons = new LinkedHashMap<>();
		planned.forEach((transition) -> of(transition, assignment)
			.ifPresent((reason) -> reasons.put(transition.shard(), reason)));
		return reasons;
	}

	/**
	 * Returns the reason of a shard that stays with its owner; empty for other shards.
	 */
	public static Optional<MoveReason> ofKept(int shard, Assignment assignment) {
		int owner = assignment.owner(shard);
		return (owner != AssignmentRequest.NOBODY && owner == assignment.request().owner(shard))
				? Optional.of(new MoveReason(Reason.KEPT, assignment.request().members().get(owner).id(), null, null))
				: Optional.empty();
	}

	private static @Nullable MemberId destination(Transition transition) {
		if (transition instanceof Transition.Assign assign) {
			return assign.owner();
		}
		if (transition instanceof Transition.Revoke revoke) {
			return revoke.target();
		}
		return (transition instanceof Transition.Retarget retarget) ? retarget.target() : null;
	}

	/** Returns the text. */
	public String text() {
		return this.reason.name() + "|" + this.owner + "|" + ((this.from != null) ? this.from.value() : "") + "|"
				+ ((this.words != null) ? this.words : "");
	}

	/** Parses a text; empty if it is broken or of a later version. */
	public static Optional<MoveReason> parse(String text) {
		String[] parts = text.split("\\|", PARTS);
		if (parts.length != PARTS || text.length() > LONGEST) {
			return Optional.empty();
		}
		try {
			return Optional.of(new MoveReason(Reason.valueOf(parts[0]), new MemberId(parts[1]),
					parts[2].isEmpty() ? null : new MemberId(parts[2]), parts[3].isEmpty() ? null : parts[3]));
		}
		catch (IllegalArgumentException ex) {
			return Optional.empty();
		}
	}

	/** Returns the reason in words, the second half of a sentence. */
	public String why() {
		return (this.words != null) ? this.words : this.reason.text();
	}

	/**
	 * Returns the cause of a move for this reason; {@code null} if it only says that the
	 * shard had no owner, or had to leave it.
	 */
	public @Nullable MoveCause cause() {
		return switch (this.reason) {
			case KEPT, PLACED, LAST -> null;
			case NEWER_VERSION -> MoveCause.DEPLOY;
			case SHARE, PINNED, ZONE, ROOM, LOAD, RULE, CHOSEN -> MoveCause.REBALANCE;
		};
	}

	/** Returns the sentence that {@link Assignment#why} would say. */
	public String sentence(ShardId shard) {
		String how = (this.from != null) ? "moves from " + this.from + " to"
				: ((this.reason == Reason.KEPT) ? "stays with" : "goes to");
		return "%s %s %s: %s".formatted(shard, how, this.owner, why());
	}

}
