package io.github.shardkeeper.handover;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handover.HandoverRules.OnTimeout;
import io.github.shardkeeper.handover.Holding.Phase;
import io.github.shardkeeper.handover.HoldingAction.Abandon;
import io.github.shardkeeper.handover.HoldingAction.Attend;
import io.github.shardkeeper.handover.HoldingAction.CancelDrain;
import io.github.shardkeeper.handover.HoldingAction.Drain;
import io.github.shardkeeper.handover.HoldingAction.Forfeit;
import io.github.shardkeeper.handover.HoldingAction.Interrupt;
import io.github.shardkeeper.handover.HoldingAction.Prepare;
import io.github.shardkeeper.handover.HoldingAction.Release;
import io.github.shardkeeper.handover.HoldingAction.Start;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The member's half of the protocol: which shards it holds, and what to do when the store
 * or a worker tells something new about one of them, or a drain is overdue.
 *
 * <pre>
 *              OWNED by me             REVOKING               drained              released
 *   (nothing) ────────────▶ HELD ────────────────▶ DRAINING ──────────▶ DRAINED ─────────────▶ (nothing)
 *                            │ ◀──────────────────── │                    ▲
 *                            │   OWNED again: the    └── overdue: force ──┤
 *                            │   move was cancelled                       │
 *                            │   refused: a newer token exists            │
 *                            └────────────────────────────────────────────┘
 * </pre>
 *
 * A shard is released only after its worker said that it has drained (or was never
 * started); that is what keeps a stuck handler from getting a second owner, unless the
 * user has chosen {@link OnTimeout#FORCE}. Not thread-safe: confined to the coordinator's
 * loop.
 */
public final class ShardHoldings {

	private final Map<ShardId, Holding> holdings = new TreeMap<>();

	/**
	 * The last token of each shard that was given up: what comes late about it is old
	 * news.
	 */
	private final Map<ShardId, Token> givenUp = new HashMap<>();

	/** The last owner's token of each shard that was prepared for. */
	private final Map<ShardId, Token> prepared = new HashMap<>();

	private final Confirmations confirmations = new Confirmations();

	private final DrainDeadlines deadlines;

	private final OnTimeout onTimeout;

	/** Whether everything is given up without being asked. */
	private boolean leaving;

	/**
	 * Creates a member's holdings: none.
	 * @param rules how shards change hands
	 */
	public ShardHoldings(HandoverRules rules) {
		this.deadlines = new DrainDeadlines(rules.timeout());
		this.onTimeout = rules.onTimeout();
	}

	/**
	 * The store told about a shard.
	 * @param ownership what it told
	 * @param self this member
	 * @param now the time
	 * @return what to do
	 */
	public List<HoldingAction> ownershipChanged(Ownership ownership, MemberId self, MonotonicTime now) {
		if (!self.equals(ownership.owner())) {
			List<HoldingAction> actions = new ArrayList<>(displaced(ownership));
			actions.addAll(prepare(ownership, self));
			return actions;
		}
		ShardId shard = ownership.shard();
		Token token = ownership.token();
		Holding holding = this.holdings.get(shard);
		Token lastGivenUp = this.givenUp.getOrDefault(shard, Token.NONE);
		if (token.compareTo((holding != null) ? holding.token() : lastGivenUp) < 0) {
			// Either old news, and the release is stale, or the store has lost all that
			// came after: then nobody else would ever take it from here.
			return (holding != null && holding.runs()) ? List.of()
					: release(shard, token, (holding != null) ? holding.token() : lastGivenUp);
		}
		this.confirmations.confirm(shard);
		if (holding == null && token.equals(lastGivenUp)) {
			// Either old news, and the release is stale, or the store has lost the first
			// one.
			return release(shard, token, Token.NONE);
		}
		return switch (ownership.phase()) {
			case OWNED -> owned(shard, token, holding, now);
			case REVOKING -> revoke(shard, token, holding, now);
			case FREE, QUIET, COMPLETED -> List.of();
		};
	}

	/**
	 * Somebody else has a shard that is held here, or had it, under a newer token: the
	 * store was back to before that, and has learned of it. No fence tells who never
	 * commits.
	 */
	private List<HoldingAction> displaced(Ownership ownership) {
		ShardId shard = ownership.shard();
		Holding holding = this.holdings.get(shard);
		if (holding == null || !holding.runs() || ownership.token().compareTo(holding.token()) <= 0) {
			return List.of();
		}
		this.holdings.remove(shard);
		this.deadlines.over(shard);
		this.confirmations.confirm(shard);
		giveUp(shard, holding.token());
		return List.of(new Forfeit(shard, Forfeit.Cause.TAKEN_OVER));
	}

	private List<HoldingAction> prepare(Ownership ownership, MemberId self) {
		boolean comes = ownership.phase() == ShardPhase.REVOKING || ownership.phase() == ShardPhase.QUIET;
		if (!comes || !self.equals(ownership.target())
				|| ownership.token().equals(this.prepared.put(ownership.shard(), ownership.token()))) {
			return List.of();
		}
		return List.of(new Prepare(ownership.shard()));
	}

	private List<HoldingAction> owned(ShardId shard, Token token, @Nullable Holding holding, MonotonicTime now) {
		if (holding != null && holding.token().equals(token)) {
			return keep(shard, holding);
		}
		if (this.leaving) {
			return revoke(shard, token, holding, now);
		}
		this.prepared.remove(shard);
		this.deadlines.over(shard);
		this.holdings.put(shard, Holding.started(token));
		return List.of(new Start(shard, token));
	}

	/**
	 * The store tells again what it told before: because somebody wants the owner to look
	 * at the data plane, or because it begins anew. A request that came during a move
	 * that is cancelled now was not told.
	 */
	private List<HoldingAction> keep(ShardId shard, Holding holding) {
		if (holding.phase() == Phase.HELD) {
			return List.of(new Attend(shard));
		}
		if (holding.phase() != Phase.DRAINING || this.leaving) {
			return List.of();
		}
		return List.of(new CancelDrain(shard), new Attend(shard));
	}

	/**
	 * A {@link CancelDrain} was in time: the worker goes on. Otherwise the shard drains
	 * as before, and may get overdue.
	 * @param shard the shard
	 */
	public void drainCancelled(ShardId shard) {
		this.deadlines.over(shard);
		this.holdings.computeIfPresent(shard, (s, holding) -> holding.in(Phase.HELD));
	}

	private List<HoldingAction> revoke(ShardId shard, Token token, @Nullable Holding holding, MonotonicTime now) {
		if (holding == null || (!holding.runs() && !holding.token().equals(token))) {
			return release(shard, token, Token.NONE);
		}
		if (!holding.runs()) {
			return List.of();
		}
		// Also under a newer token than the one it was started with: whatever still runs
		// must have ended before the release.
		this.holdings.put(shard, new Holding(token, holding.worker(), Phase.DRAINING));
		this.deadlines.began(shard, now);
		return (holding.phase() == Phase.HELD) ? List.of(new Drain(shard)) : List.of();
	}

	/** Gives a shard up that no worker runs for. */
	private List<HoldingAction> release(ShardId shard, Token token, Token floor) {
		this.holdings.put(shard, Holding.drained(token));
		return List.of(new Release(shard, token, floor, false));
	}

	/**
	 * A worker has ended: nothing is consumed or written any more.
	 * @param shard its shard
	 * @param token the token it was started under
	 * @param fence a newer token that it was refused with, or {@link Token#NONE}
	 * @param completed whether the shard has come to its end
	 * @return what to do
	 */
	public List<HoldingAction> workerEnded(ShardId shard, Token token, Token fence, boolean completed) {
		Holding holding = this.holdings.get(shard);
		if (holding == null || !holding.runs()) {
			return List.of();
		}
		if (!holding.worker().equals(token)) {
			// An older worker; another was started meanwhile and has not ended.
			return List.of();
		}
		this.deadlines.over(shard);
		this.holdings.put(shard, holding.in(Phase.DRAINED));
		return List.of(new Release(shard, holding.token(), fence, completed));
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
		giveUp(shard, token);
		this.holdings.computeIfPresent(shard, (s, holding) -> holding.token().equals(token) ? null : holding);
	}

	private void giveUp(ShardId shard, Token token) {
		this.givenUp.merge(shard, token, (one, other) -> (one.compareTo(other) > 0) ? one : other);
	}

	/**
	 * Time has passed.
	 * @param now the time
	 * @return what to do about drains that are overdue
	 */
	public List<HoldingAction> timePassed(MonotonicTime now) {
		List<HoldingAction> actions = new ArrayList<>();
		this.deadlines.passed(now).forEach((shard, draining) -> {
			actions.add(new Interrupt(shard, draining));
			Holding holding = this.holdings.get(shard);
			if (this.onTimeout == OnTimeout.FORCE && holding != null) {
				this.deadlines.over(shard);
				actions.add(new Abandon(shard));
				actions.addAll(release(shard, holding.token(), Token.NONE));
			}
		});
		return actions;
	}

	/**
	 * When to tell that {@linkplain #timePassed time has passed} if nothing happens
	 * before.
	 * @return the time, or {@code null} for no need
	 */
	public @Nullable MonotonicTime wakeAt() {
		return this.deadlines.next();
	}

	/**
	 * The member wants to go and cannot wait for the leader's plan: everything is given
	 * up, and nothing more is taken.
	 * @param now the time
	 * @return what to do
	 */
	public List<HoldingAction> leaveWithoutPlan(MonotonicTime now) {
		this.leaving = true;
		List<HoldingAction> actions = new ArrayList<>();
		this.holdings.replaceAll((shard, holding) -> {
			if (holding.phase() != Phase.HELD) {
				return holding;
			}
			this.deadlines.began(shard, now);
			actions.add(new Drain(shard));
			return holding.in(Phase.DRAINING);
		});
		return actions;
	}

	/**
	 * The store has lost writes that this member saw: what runs here has to be confirmed,
	 * by what the store tells next or by a claim.
	 */
	public void writesLost() {
		this.confirmations.require(this.holdings);
	}

	/**
	 * The store does not know the session any more: what runs here has to be claimed in a
	 * new session, or presented if the lease has ended. What was drained is nobody's now.
	 */
	public void sessionForgotten() {
		this.holdings.values().removeIf((holding) -> !holding.runs());
		this.givenUp.clear();
		this.prepared.clear();
		this.confirmations.require(this.holdings);
	}

	/**
	 * What is to be claimed: it runs here, and the store has not confirmed it.
	 * @return the shards, with their tokens
	 */
	public SortedMap<ShardId, Token> unconfirmed() {
		return this.confirmations.missing(this.holdings);
	}

	/**
	 * The store has answered a claim of what was {@linkplain #unconfirmed() unconfirmed}.
	 * What it granted is confirmed only when it tells so by itself: from then on the
	 * store knows that it has told it, and notices if it loses the claim, too.
	 * @param granted the shards that are the member's
	 * @param superseded others that were given to somebody else because the store had
	 * lost that they were the member's
	 * @return what to do
	 */
	public List<HoldingAction> claimed(Set<ShardId> granted, Set<ShardId> superseded) {
		List<HoldingAction> actions = new ArrayList<>();
		unconfirmed().forEach((shard, token) -> {
			if (!granted.contains(shard)) {
				this.holdings.remove(shard);
				this.deadlines.over(shard);
				// If the store knows better, another token is needed: another worker
				// would number its commits anew.
				giveUp(shard, token);
				actions.add(new Forfeit(shard,
						superseded.contains(shard) ? Forfeit.Cause.SUPERSEDED : Forfeit.Cause.TAKEN_OVER));
			}
		});
		this.confirmations.retain(granted);
		return actions;
	}

	/**
	 * The session is over, and its lease too.
	 * @return what to do
	 */
	public List<HoldingAction> sessionLost() {
		return loseAll(Abandon::new);
	}

	/**
	 * The member stops without a lease, so nothing of what runs can be written any more.
	 * @return what to do
	 */
	public List<HoldingAction> stopped() {
		return loseAll((shard) -> new Forfeit(shard, Forfeit.Cause.STOPPED));
	}

	private List<HoldingAction> loseAll(Function<ShardId, HoldingAction> loss) {
		List<HoldingAction> actions = new ArrayList<>();
		this.holdings.forEach((shard, holding) -> {
			if (holding.runs()) {
				actions.add(loss.apply(shard));
			}
		});
		this.holdings.clear();
		this.givenUp.clear();
		this.prepared.clear();
		this.confirmations.clear();
		this.deadlines.clear();
		this.leaving = false;
		return actions;
	}

	/**
	 * Whether the member holds nothing.
	 * @return whether it could leave without anybody noticing
	 */
	public boolean isEmpty() {
		return this.holdings.isEmpty();
	}

}
