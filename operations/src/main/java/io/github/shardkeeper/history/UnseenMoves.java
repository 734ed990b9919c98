package io.github.shardkeeper.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.coordination.store.GroupDiagnostics.Kind;
import io.github.shardkeeper.history.MoveHistory.Entry;
import io.github.shardkeeper.history.MoveHistory.Page;
import io.github.shardkeeper.protocol.MoveReason;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

/**
 * Explains moves that a leader has not seen begin, with what earlier leaders have left:
 * the plan, and the history. Drops those that are recorded already. Thread-safe.
 */
final class UnseenMoves {

	/** Entries of the history that are looked at. */
	private static final int MOST_LOOKED_AT = 2_000;

	private static final int READ_AT_ONCE = 500;

	private final MoveHistory history;

	private final GroupDiagnostics plans;

	UnseenMoves(MoveHistory history, GroupDiagnostics plans) {
		this.history = history;
		this.plans = plans;
	}

	/** Returns whether a move has to be explained. */
	static boolean isUnseen(ShardMove move) {
		return move.cause() == MoveCause.UNKNOWN && move.from() == null;
	}

	/**
	 * Returns the moves that are not recorded yet, as far as known with their origin.
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not reply
	 */
	List<ShardMove> explain(List<ShardMove> moves) {
		Map<ShardId, ShardMove> wanted = new HashMap<>();
		moves.forEach((move) -> wanted.put(move.shard(), move));
		Map<ShardId, ShardMove> earlier = new HashMap<>();
		Set<Recorded> recorded = new HashSet<>();
		String before = null;
		int lookedAt = 0;
		do {
			Page page = this.history.read(before, READ_AT_ONCE);
			for (Entry entry : page.entries()) {
				ShardMove stored = entry.move();
				ShardMove move = wanted.get(stored.shard());
				if (move != null) {
					recorded.add(new Recorded(stored.shard(), stored.token()));
					if (stored.token().compareTo(move.token()) < 0) {
						earlier.merge(stored.shard(), stored,
								(one, other) -> (one.token().compareTo(other.token()) < 0) ? other : one);
					}
				}
			}
			before = page.next();
			lookedAt += READ_AT_ONCE;
		}
		while (before != null && lookedAt < MOST_LOOKED_AT);
		List<ShardMove> unrecorded = moves.stream()
			.filter((move) -> !recorded.contains(new Recorded(move.shard(), move.token())))
			.toList();
		Map<String, String> planned = this.plans.read(Kind.REASONS,
				unrecorded.stream().map((move) -> move.shard().toString()).toList());
		List<ShardMove> explained = new ArrayList<>();
		unrecorded.forEach((move) -> {
			MoveReason reason = MoveReason.parse(planned.getOrDefault(move.shard().toString(), ""))
				.filter((last) -> last.owner().equals(move.to()))
				.orElse(null);
			ShardMove last = earlier.get(move.shard());
			explained.add(explain(move, reason, (last != null) ? last.to() : null));
		});
		return explained;
	}

	private static ShardMove explain(ShardMove move, @Nullable MoveReason reason, @Nullable MemberId former) {
		if (reason == null) {
			return move.withOrigin(former, MoveCause.UNKNOWN, null);
		}
		MoveCause cause = reason.cause();
		return move.withOrigin((reason.from() != null) ? reason.from() : former,
				(cause != null) ? cause : MoveCause.UNKNOWN, reason.why());
	}

	private record Recorded(ShardId shard, Token token) {

	}

}
