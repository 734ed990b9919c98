package io.github.shardkeeper.history;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.history.MoveHistory.Entry;
import io.github.shardkeeper.history.MoveHistory.Page;
import io.github.shardkeeper.report.MoveReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

/** Reports the last moves of a group, read from its history on demand. Thread-safe. */
public final class MoveReporter {

	/** Entries of the history that one report looks at, whatever it looks for. */
	private static final int MOST_LOOKED_AT = 10_000;

	private static final int MOST_OF_ONE = 10;

	/** The same of a report about one shard. */
	private static final int MOST_LOOKED_AT_FOR_ONE = 2_000;

	private static final int READ_AT_ONCE = 500;

	/** Position before all entries. */
	private static final String NO_ENTRY = "0";

	private final MoveHistory history;

	/** Creates a reporter. */
	public MoveReporter(MoveHistory history) {
		this.history = history;
	}

	/**
	 * Returns moves, the newest first.
	 * @param before the id of a move before which to begin; {@code null} for the newest
	 * @param most the maximum number of moves
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not reply
	 */
	public Moves moves(Filter filter, @Nullable String before, int most) {
		return moves(filter, before, most, MOST_LOOKED_AT);
	}

	/**
	 * Returns the last moves of a shard, the newest first. Looks only at the newest
	 * entries, so that it is cheap.
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not reply
	 */
	public List<MoveReport> lastMoves(ShardId shard) {
		return moves(new Filter(shard.topic(), shard.id(), null, null), null, MOST_OF_ONE, MOST_LOOKED_AT_FOR_ONE)
			.moves();
	}

	private Moves moves(Filter filter, @Nullable String before, int most, int mostLookedAt) {
		Findings found = new Findings();
		String newest = (before == null) ? NO_ENTRY : null;
		if (before != null) {
			// The owners write phases after the leader has written the move.
			found.addPhases(this.history.readAfter(before, READ_AT_ONCE));
		}
		String next = before;
		int lookedAt = 0;
		do {
			Page page = this.history.read(next, READ_AT_ONCE);
			if (NO_ENTRY.equals(newest) && page.first() != null) {
				newest = page.first();
			}
			found.addPhases(page);
			for (Entry entry : page.entries()) {
				if (filter.matches(entry.move()) && !found.add(entry, most)) {
					return new Moves(found.reports(), found.lastId(), newest);
				}
			}
			next = page.next();
			lookedAt += READ_AT_ONCE;
		}
		while (next != null && lookedAt < mostLookedAt);
		return new Moves(found.reports(), next, newest);
	}

	/**
	 * Returns the position from which to follow what comes. Cheaper than a report.
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not reply
	 */
	String newest() {
		String first = this.history.read(null, 1).first();
		return (first != null) ? first : NO_ENTRY;
	}

	/**
	 * Returns what is new in the history, the oldest first, to follow it at little cost.
	 * A move comes again, with the same id, when more of its phases are known.
	 * @param after the {@link Moves#newest()} of the last reply
	 * @param most the maximum number of entries to look at, at least 1
	 * @return the moves; its {@link Moves#next()} is not {@code null} if there may be
	 * more
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not reply
	 */
	public Moves movesAfter(Filter filter, String after, int most) {
		Page page = this.history.readAfter(after, most);
		String first = page.first();
		if (first == null) {
			return new Moves(List.of(), null, after);
		}
		Page earlier = this.history.read(first, READ_AT_ONCE);
		Findings found = new Findings();
		found.addPhases(page);
		List<Entry> entries = new ArrayList<>(earlier.entries());
		entries.removeIf((entry) -> !found.hasPhasesOf(entry.move()));
		Collections.reverse(entries);
		entries.addAll(page.entries());
		found.addPhases(earlier);
		entries.stream()
			.filter((entry) -> filter.matches(entry.move()))
			.forEach((entry) -> found.add(entry, Integer.MAX_VALUE));
		return new Moves(found.reports(), page.next(), page.last());
	}

	/** Moves that were found, and phases of any. Confined to a call. */
	private static final class Findings {

		private final List<Entry> moves = new ArrayList<>();

		/** Place of each move: one may be stored twice. */
		private final Map<Stored, Integer> places = new HashMap<>();

		private final Map<Owner, Map<MovePhase, Long>> phases = new HashMap<>();

		void addPhases(Page page) {
			page.phases().forEach((times) -> {
				Map<MovePhase, Long> known = this.phases.computeIfAbsent(new Owner(times.shard(), times.token()),
						(owner) -> new EnumMap<>(MovePhase.class));
				// A shard that is acquired again after a seek has not moved.
				times.millis().forEach((phase, millis) -> known.merge(phase, millis, Math::min));
			});
		}

		boolean hasPhasesOf(ShardMove move) {
			return this.phases.containsKey(new Owner(move.shard(), move.token()))
					|| this.phases.containsKey(new Owner(move.shard(), move.formerToken()));
		}

		/** Returns {@code false} if it is one move more than the maximum number. */
		boolean add(Entry entry, int most) {
			ShardMove move = entry.move();
			Stored key = new Stored(move.shard(), move.token(), move.to());
			Integer place = this.places.get(key);
			if (place == null) {
				if (this.moves.size() == most) {
					return false;
				}
				this.places.put(key, this.moves.size());
				this.moves.add(entry);
			}
			else if (this.moves.get(place).move().cause() == MoveCause.UNKNOWN) {
				// The leader before has seen more of it.
				this.moves.set(place, new Entry(this.moves.get(place).id(), move));
			}
			return true;
		}

		String lastId() {
			return this.moves.get(this.moves.size() - 1).id();
		}

		List<MoveReport> reports() {
			return this.moves.stream()
				.map((entry) -> report(entry, phases(entry.move().formerToken(), entry.move()),
						phases(entry.move().token(), entry.move())))
				.toList();
		}

		private Map<MovePhase, Long> phases(Token token, ShardMove move) {
			return this.phases.getOrDefault(new Owner(move.shard(), token), Map.of());
		}

	}

	/** Returns a move as people see it. */
	private static MoveReport report(Entry entry, Map<MovePhase, Long> former, Map<MovePhase, Long> owner) {
		ShardMove move = entry.move();
		boolean completed = move.cause() == MoveCause.COMPLETED;
		Long acquired = completed ? null : owner.get(MovePhase.ACQUIRED);
		return new MoveReport(entry.id(), move.shard().topic(), move.shard().id(), text(move.from()), text(move.to()),
				move.token().value(), move.cause().name(), move.why(), move.by(),
				Instant.ofEpochMilli(move.plannedMillis()), duration(move.plannedMillis(), move.releasedMillis()),
				completed ? null : durationFrom(former.get(MovePhase.DRAINED), move.releasedMillis()),
				duration(move.releasedMillis(), move.assignedMillis()), durationTo(move.assignedMillis(), acquired),
				(acquired != null) ? durationTo(acquired, owner.get(MovePhase.FIRST_RECORD)) : null);
	}

	private static Duration duration(long fromMillis, long toMillis) {
		return Duration.ofMillis(Math.max(0, toMillis - fromMillis));
	}

	private static @Nullable Duration durationFrom(@Nullable Long fromMillis, long toMillis) {
		return (fromMillis != null) ? duration(fromMillis, toMillis) : null;
	}

	private static @Nullable Duration durationTo(long fromMillis, @Nullable Long toMillis) {
		return (toMillis != null) ? duration(fromMillis, toMillis) : null;
	}

	private static @Nullable String text(@Nullable MemberId member) {
		return (member != null) ? member.value() : null;
	}

	private record Owner(ShardId shard, Token token) {

	}

	private record Stored(ShardId shard, Token token, @Nullable MemberId to) {

	}

	/**
	 * Moves in the order of the request. Immutable.
	 *
	 * @param next the id at which to continue; {@code null} if there are no more
	 * @param newest the position from which to follow what comes; {@code null} if older
	 * moves were requested
	 */
	public record Moves(List<MoveReport> moves, @Nullable String next, @Nullable String newest) {

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
