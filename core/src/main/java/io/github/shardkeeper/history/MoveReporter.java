package io.github.shardkeeper.history;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.history.MoveHistory.Entry;
import io.github.shardkeeper.history.MoveHistory.Page;
import io.github.shardkeeper.report.MoveReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

/** Reports the last moves of a group, read from its history on demand. Thread-safe. */
public final class MoveReporter {

	/** Entries of the history that one report looks at, whatever it looks for. */
	private static final int MOST_LOOKED_AT = 10_000;

	private static final int READ_AT_ONCE = 500;

	private final MoveHistory history;

	/** Creates a reporter. */
	public MoveReporter(MoveHistory history) {
		this.history = history;
	}

	/**
	 * Returns moves, the newest first.
	 * @param before the id of a move before which to begin; {@code null} for the newest
	 * @param most the maximum number of moves
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * answer
	 */
	public Moves moves(Filter filter, @Nullable String before, int most) {
		List<MoveReport> found = new ArrayList<>();
		Set<Stored> seen = new HashSet<>();
		String next = before;
		int lookedAt = 0;
		do {
			Page page = this.history.read(next, READ_AT_ONCE);
			for (Entry entry : page.entries()) {
				if (filter.matches(entry.move())
						&& seen.add(new Stored(entry.move().shard(), entry.move().token(), entry.move().to()))) {
					if (found.size() == most) {
						return new Moves(found, found.get(most - 1).id());
					}
					found.add(report(entry));
				}
			}
			next = page.next();
			lookedAt += READ_AT_ONCE;
		}
		while (next != null && lookedAt < MOST_LOOKED_AT);
		return new Moves(found, next);
	}

	/** Returns a move as people see it. */
	public static MoveReport report(Entry entry) {
		ShardMove move = entry.move();
		return new MoveReport(entry.id(), move.shard().topic(), move.shard().id(), text(move.from()), text(move.to()),
				move.token().value(), move.cause().name(), Instant.ofEpochMilli(move.plannedMillis()),
				Duration.ofMillis(Math.max(0, move.releasedMillis() - move.plannedMillis())),
				Duration.ofMillis(Math.max(0, move.assignedMillis() - move.releasedMillis())));
	}

	private static @Nullable String text(@Nullable MemberId member) {
		return (member != null) ? member.value() : null;
	}

	/** One move may be stored twice. */
	private record Stored(ShardId shard, Token token, @Nullable MemberId to) {

	}

	/**
	 * Moves, the newest first. Immutable.
	 *
	 * @param next the id before which to continue; {@code null} if there are no more
	 */
	public record Moves(List<MoveReport> moves, @Nullable String next) {

	}

	/**
	 * Selection of moves. Immutable.
	 *
	 * @param topic the topic; {@code null} for all
	 * @param shard the id of the shard within its topic; {@code null} for all
	 * @param member the id of a member, or of its instance, from or to which the shard
	 * moved; {@code null} for all
	 * @param cause the cause; {@code null} for all
	 */
	public record Filter(@Nullable String topic, @Nullable String shard, @Nullable String member,
			@Nullable MoveCause cause) {

		/** All moves. */
		public static final Filter NONE = new Filter(null, null, null, null);

		boolean matches(ShardMove move) {
			return (this.topic == null || this.topic.equals(move.shard().topic()))
					&& (this.shard == null || this.shard.equals(move.shard().id()))
					&& (this.cause == null || this.cause == move.cause())
					&& (this.member == null || is(move.from(), this.member) || is(move.to(), this.member));
		}

		private static boolean is(@Nullable MemberId member, String wanted) {
			return member != null && (member.value().equals(wanted) || member.instance().equals(wanted));
		}

	}

}
