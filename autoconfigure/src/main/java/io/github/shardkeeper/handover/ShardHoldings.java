package io.github.shardkeeper.handover;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handover.HoldingAction.Abandon;
import io.github.shardkeeper.handover.HoldingAction.Drain;
import io.github.shardkeeper.handover.HoldingAction.Release;
import io.github.shardkeeper.handover.HoldingAction.Start;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The member's half of the protocol: which shards it holds, and what to do when the store
 * or a worker tells something new about one of them.
 *
 * <pre>
 *              OWNED by me             REVOKING               drained              released
 *   (nothing) ────────────▶ HELD ────────────────▶ DRAINING ──────────▶ DRAINED ─────────────▶ (nothing)
 *                            │   refused: a newer token exists            ▲
 *                            └────────────────────────────────────────────┘
 * </pre>
 *
 * A shard is released only after its worker said that it has drained (or was never
 * started); that is what keeps a stuck handler from getting a second owner. Not
 * thread-safe: confined to the coordinator's loop.
 */
public final class ShardHoldings {

	private final Map<ShardId, Holding> holdings = new TreeMap<>();

	/**
	 * The last token of each shard that was given up: what comes late about it is old
	 * news.
	 */
	private final Map<ShardId, Token> givenUp = new HashMap<>();

	/**
	 * The store told about a shard.
	 * @param ownership what it told
	 * @param self this member
	 * @return what to do
	 */
	public List<HoldingAction> ownershipChanged(Ownership ownership, MemberId self) {
		if (!self.equals(ownership.owner())) {
			return List.of();
		}
		ShardId shard = ownership.shard();
		Token token = ownership.token();
		Holding holding = this.holdings.get(shard);
		Token lastGivenUp = this.givenUp.getOrDefault(shard, Token.NONE);
		if (token.compareTo((holding != null) ? holding.token : lastGivenUp) < 0) {
			return List.of();
		}
		if (holding == null && token.equals(lastGivenUp)) {
			// Either old news, and the release is stale, or the store has lost the first
			// one.
			this.holdings.put(shard, new Holding(token, token, Phase.DRAINED));
			return List.of(new Release(shard, token, Token.NONE, false));
		}
		boolean sameToken = holding != null && holding.token.equals(token);
		return switch (ownership.phase()) {
			case OWNED -> sameToken ? List.of() : start(shard, token);
			case REVOKING -> revoke(shard, token, holding);
			case FREE, QUIET, COMPLETED -> List.of();
		};
	}

	private List<HoldingAction> start(ShardId shard, Token token) {
		this.holdings.put(shard, new Holding(token, token, Phase.HELD));
		return List.of(new Start(shard, token));
	}

	private List<HoldingAction> revoke(ShardId shard, Token token, @Nullable Holding holding) {
		if (holding == null || (holding.phase == Phase.DRAINED && !holding.token.equals(token))) {
			this.holdings.put(shard, new Holding(token, token, Phase.DRAINED));
			return List.of(new Release(shard, token, Token.NONE, false));
		}
		if (holding.phase == Phase.DRAINED) {
			return List.of();
		}
		// Also under a newer token than the one it was started with: whatever still runs
		// must have ended before the release.
		this.holdings.put(shard, new Holding(token, holding.worker, Phase.DRAINING));
		return (holding.phase == Phase.HELD) ? List.of(new Drain(shard)) : List.of();
	}

	/**
	 * A worker has ended: nothing is consumed or written any more.
	 * @param shard its shard
	 * @param token the token it was started under
	 * @param fence a newer token that it was refused with, or {@link Token#NONE}
	 * @return what to do
	 */
	public List<HoldingAction> workerEnded(ShardId shard, Token token, Token fence) {
		Holding holding = this.holdings.get(shard);
		if (holding == null || holding.phase == Phase.DRAINED) {
			return List.of();
		}
		if (!holding.worker.equals(token)) {
			// An older worker; another was started meanwhile and has not ended.
			return List.of();
		}
		this.holdings.put(shard, new Holding(holding.token, holding.worker, Phase.DRAINED));
		return List.of(new Release(shard, holding.token, fence, false));
	}

	/**
	 * A {@link Start} could not even be begun; when the store tells of the shard again,
	 * it is tried again.
	 * @param shard the shard
	 */
	public void notStarted(ShardId shard) {
		this.holdings.remove(shard);
	}

	/**
	 * The store has taken a release, or said that the shard was not ours any more.
	 * @param shard the shard
	 * @param token the token it was released under
	 */
	public void released(ShardId shard, Token token) {
		this.givenUp.merge(shard, token, (one, other) -> (one.compareTo(other) > 0) ? one : other);
		this.holdings.computeIfPresent(shard, (s, holding) -> holding.token.equals(token) ? null : holding);
	}

	/**
	 * The member wants to go and cannot wait for the leader's plan.
	 * @return what to do
	 */
	public List<HoldingAction> leaveWithoutPlan() {
		List<HoldingAction> actions = new ArrayList<>();
		this.holdings.replaceAll((shard, holding) -> {
			if (holding.phase != Phase.HELD) {
				return holding;
			}
			actions.add(new Drain(shard));
			return new Holding(holding.token, holding.worker, Phase.DRAINING);
		});
		return actions;
	}

	/**
	 * The session is over.
	 * @return what to do
	 */
	public List<HoldingAction> sessionLost() {
		List<HoldingAction> actions = new ArrayList<>();
		this.holdings.forEach((shard, holding) -> {
			if (holding.phase != Phase.DRAINED) {
				actions.add(new Abandon(shard));
			}
		});
		this.holdings.clear();
		this.givenUp.clear();
		return actions;
	}

	/**
	 * Whether the member holds nothing.
	 * @return whether it could leave without anybody noticing
	 */
	public boolean isEmpty() {
		return this.holdings.isEmpty();
	}

	private enum Phase {

		HELD, DRAINING, DRAINED

	}

	/** Worker: the token that the last worker was started under, at most the token. */
	private record Holding(Token token, Token worker, Phase phase) {

	}

}
