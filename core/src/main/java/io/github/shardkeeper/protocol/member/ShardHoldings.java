package io.github.shardkeeper.protocol.member;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HandoverRules.OnTimeout;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Step;
import io.github.shardkeeper.protocol.member.HoldingAction.Abandon;
import io.github.shardkeeper.protocol.member.HoldingAction.Attend;
import io.github.shardkeeper.protocol.member.HoldingAction.CancelDrain;
import io.github.shardkeeper.protocol.member.HoldingAction.Drain;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.protocol.member.HoldingAction.Interrupt;
import io.github.shardkeeper.protocol.member.HoldingAction.Prepare;
import io.github.shardkeeper.protocol.member.HoldingAction.Release;
import io.github.shardkeeper.protocol.member.HoldingAction.Start;
import io.github.shardkeeper.protocol.member.HoldingEvent.ClaimAnswered;
import io.github.shardkeeper.protocol.member.HoldingEvent.ClaimFailed;
import io.github.shardkeeper.protocol.member.HoldingEvent.DrainCancelled;
import io.github.shardkeeper.protocol.member.HoldingEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.member.HoldingEvent.LeaveTimedOut;
import io.github.shardkeeper.protocol.member.HoldingEvent.MemberStopped;
import io.github.shardkeeper.protocol.member.HoldingEvent.OwnershipChanged;
import io.github.shardkeeper.protocol.member.HoldingEvent.SessionForgotten;
import io.github.shardkeeper.protocol.member.HoldingEvent.SessionJoined;
import io.github.shardkeeper.protocol.member.HoldingEvent.SessionLost;
import io.github.shardkeeper.protocol.member.HoldingEvent.ShardReleased;
import io.github.shardkeeper.protocol.member.HoldingEvent.StartFailed;
import io.github.shardkeeper.protocol.member.HoldingEvent.TimePassed;
import io.github.shardkeeper.protocol.member.HoldingEvent.WorkerEnded;
import io.github.shardkeeper.protocol.member.HoldingEvent.WritesLost;
import io.github.shardkeeper.protocol.member.HoldingEvent.WrittenBack;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The member's machine: which shards the member holds, and what to do when the store or a
 * worker reports something about one of them, or a drain is overdue.
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
 * Invariant: a shard is released only after its worker has drained, or if it was never
 * started. So a hanging handler never gets a second owner, unless the user has chosen
 * {@link OnTimeout#FORCE}. Not thread-safe: confined to the coordinator's loop.
 */
public final class ShardHoldings {

	private final Map<ShardId, Holding> holdings = new TreeMap<>();

	/** What arrives under such a token, or a lower one, is outdated. */
	private final Map<ShardId, Token> givenUp = new HashMap<>();

	private final Map<ShardId, Token> prepared = new HashMap<>();

	private final LostWrites lostWrites = new LostWrites(this::unconfirmed);

	private final DrainDeadlines deadlines;

	private final OnTimeout onTimeout;

	/** Whether the member gives everything up without being asked. */
	private boolean leaving;

	public ShardHoldings(HandoverRules rules) {
		this.deadlines = new DrainDeadlines(rules.timeout());
		this.onTimeout = rules.onTimeout();
	}

	/** Returns the actions after an event, and the next wake-up. */
	public Step<HoldingAction> handle(HoldingEvent event, MonotonicTime now) {
		List<HoldingAction> actions = actions(event, now);
		return new Step<>(actions, wakeAt());
	}

	private List<HoldingAction> actions(HoldingEvent event, MonotonicTime now) {
		if (event instanceof OwnershipChanged changed) {
			return ownershipChanged(changed.ownership(), changed.self(), now);
		}
		if (event instanceof WorkerEnded ended) {
			return workerEnded(ended);
		}
		if (event instanceof ShardReleased released) {
			return released(released.shard(), released.token());
		}
		if (event instanceof StartFailed failed) {
			this.holdings.remove(failed.shard());
			return List.of();
		}
		if (event instanceof DrainCancelled cancelled) {
			return drainCancelled(cancelled.shard());
		}
		if (event instanceof TimePassed passed) {
			return timePassed(passed, now);
		}
		if (event instanceof LeaveTimedOut) {
			return drainAll(now);
		}
		if (event instanceof SessionLost) {
			return loseAll(Abandon::new);
		}
		if (event instanceof MemberStopped) {
			return loseAll((shard) -> new Forfeit(shard, Forfeit.Cause.STOPPED));
		}
		return actionsAfterLostWrites(event, now);
	}

	private List<HoldingAction> actionsAfterLostWrites(HoldingEvent event, MonotonicTime now) {
		if (event instanceof WritesLost) {
			requireConfirmation();
			this.lostWrites.writesLost();
		}
		else if (event instanceof HeartbeatAnswered reply) {
			this.lostWrites.heartbeatAnswered(reply, now);
		}
		else if (event instanceof SessionForgotten) {
			sessionForgotten();
		}
		else if (event instanceof SessionJoined joined) {
			return sessionJoined(joined.leaseHeld());
		}
		else if (event instanceof ClaimAnswered reply) {
			return claimAnswered(reply);
		}
		else if (event instanceof WrittenBack) {
			return writtenBack(now);
		}
		else if (event instanceof ClaimFailed) {
			this.lostWrites.claimFailed(now);
		}
		return List.of();
	}

	private List<HoldingAction> ownershipChanged(Ownership ownership, MemberId self, MonotonicTime now) {
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
			// Outdated, or the store has lost everything since: then only this release
			// frees the shard.
			return (holding != null && holding.runs()) ? List.of()
					: release(shard, token, (holding != null) ? holding.token() : lastGivenUp);
		}
		if (holding != null) {
			holding = holding.confirmed();
			this.holdings.put(shard, holding);
		}
		if (holding == null && token.equals(lastGivenUp)) {
			// Outdated, or the store has lost the first release.
			return release(shard, token, Token.NONE);
		}
		return switch (ownership.phase()) {
			case OWNED -> owned(shard, token, holding, now);
			case REVOKING -> revoke(shard, token, holding, now);
			case FREE, QUIET, COMPLETED -> List.of();
		};
	}

	/**
	 * Gives up a held shard that another member has, or had, under a newer token. The
	 * fence alone would not stop an owner that never commits.
	 */
	private List<HoldingAction> displaced(Ownership ownership) {
		ShardId shard = ownership.shard();
		Holding holding = this.holdings.get(shard);
		if (holding == null || !holding.runs() || ownership.token().compareTo(holding.token()) <= 0) {
			return List.of();
		}
		this.holdings.remove(shard);
		this.deadlines.over(shard);
		giveUp(shard, holding.token());
		return List.of(new Forfeit(shard, Forfeit.Cause.TAKEN_OVER));
	}

	private List<HoldingAction> prepare(Ownership ownership, MemberId self) {
		boolean incoming = ownership.phase() == Phase.REVOKING || ownership.phase() == Phase.QUIET;
		if (!incoming || !self.equals(ownership.target())
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

	/** Looks for a request, perhaps one made during a cancelled move. */
	private List<HoldingAction> keep(ShardId shard, Holding holding) {
		if (holding.state() == State.HELD) {
			return List.of(new Attend(shard));
		}
		if (holding.state() != State.DRAINING || this.leaving) {
			return List.of();
		}
		return List.of(new CancelDrain(shard), new Attend(shard));
	}

	private List<HoldingAction> drainCancelled(ShardId shard) {
		this.deadlines.over(shard);
		this.holdings.computeIfPresent(shard, (s, holding) -> holding.in(State.HELD));
		return List.of();
	}

	private List<HoldingAction> revoke(ShardId shard, Token token, @Nullable Holding holding, MonotonicTime now) {
		if (holding == null || (!holding.runs() && !holding.token().equals(token))) {
			return release(shard, token, Token.NONE);
		}
		if (!holding.runs()) {
			return List.of();
		}
		// Even under a newer token, the running worker must end before the release.
		this.holdings.put(shard, new Holding(token, holding.worker(), State.DRAINING, true));
		this.deadlines.began(shard, now);
		return (holding.state() == State.HELD) ? List.of(new Drain(shard)) : List.of();
	}

	private List<HoldingAction> release(ShardId shard, Token token, Token floor) {
		this.holdings.put(shard, Holding.drained(token));
		return List.of(new Release(shard, token, floor, false));
	}

	private List<HoldingAction> workerEnded(WorkerEnded ended) {
		ShardId shard = ended.shard();
		Holding holding = this.holdings.get(shard);
		if (holding == null || !holding.runs()) {
			return List.of();
		}
		if (!holding.worker().equals(ended.token())) {
			// An older worker.
			return List.of();
		}
		this.deadlines.over(shard);
		this.holdings.put(shard, holding.in(State.DRAINED));
		return List.of(new Release(shard, holding.token(), ended.fence(), ended.completed()));
	}

	private List<HoldingAction> released(ShardId shard, Token token) {
		giveUp(shard, token);
		this.holdings.computeIfPresent(shard, (s, holding) -> holding.token().equals(token) ? null : holding);
		return List.of();
	}

	private List<HoldingAction> writtenBack(MonotonicTime now) {
		boolean inSession = !this.lostWrites.isJoining();
		List<HoldingAction> actions = new ArrayList<>(this.lostWrites.writtenBack());
		if (inSession) {
			actions.addAll(overdue(now));
		}
		return actions;
	}

	private void giveUp(ShardId shard, Token token) {
		this.givenUp.merge(shard, token, (one, other) -> (one.compareTo(other) > 0) ? one : other);
	}

	/** A claim is the only action of its step: its reply decides what else is due. */
	private List<HoldingAction> timePassed(TimePassed passed, MonotonicTime now) {
		List<HoldingAction> actions = new ArrayList<>();
		if (this.lostWrites.isDue(now)) {
			if (this.lostWrites.needsClaim()) {
				return List.of(this.lostWrites.claim(passed.leaseHeld()));
			}
			actions.addAll(this.lostWrites.confirm());
		}
		actions.addAll(overdue(now));
		return actions;
	}

	private List<HoldingAction> overdue(MonotonicTime now) {
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

	private @Nullable MonotonicTime wakeAt() {
		return MonotonicTime.earliestOf(this.deadlines.next(), this.lostWrites.wakeAt());
	}

	private List<HoldingAction> drainAll(MonotonicTime now) {
		this.leaving = true;
		List<HoldingAction> actions = new ArrayList<>();
		this.holdings.replaceAll((shard, holding) -> {
			if (holding.state() != State.HELD) {
				return holding;
			}
			this.deadlines.began(shard, now);
			actions.add(new Drain(shard));
			return holding.in(State.DRAINING);
		});
		return actions;
	}

	private void requireConfirmation() {
		this.holdings.replaceAll((shard, holding) -> holding.unconfirmed());
	}

	/** Keeps running shards for a claim or presentation; drained ones have no owner. */
	private void sessionForgotten() {
		this.holdings.values().removeIf((holding) -> !holding.runs());
		this.givenUp.clear();
		this.prepared.clear();
		this.lostWrites.reset();
		requireConfirmation();
	}

	private List<HoldingAction> sessionJoined(boolean leaseHeld) {
		if (this.holdings.isEmpty()) {
			this.lostWrites.reset();
			return List.of();
		}
		return List.of(this.lostWrites.sessionJoined(leaseHeld));
	}

	/** Returns the running shards that the store has not confirmed. */
	SortedMap<ShardId, Token> unconfirmed() {
		SortedMap<ShardId, Token> unconfirmed = new TreeMap<>();
		this.holdings.forEach((shard, holding) -> {
			if (holding.runs() && !holding.isConfirmed()) {
				unconfirmed.put(shard, holding.token());
			}
		});
		return unconfirmed;
	}

	/** Forfeits refused shards; granted ones stay unconfirmed until reported. */
	private List<HoldingAction> claimAnswered(ClaimAnswered reply) {
		List<HoldingAction> actions = new ArrayList<>();
		unconfirmed().forEach((shard, token) -> {
			if (!reply.granted().contains(shard)) {
				this.holdings.remove(shard);
				this.deadlines.over(shard);
				// Another worker under this token would reuse the numbers of commits.
				giveUp(shard, token);
				actions.add(new Forfeit(shard,
						reply.superseded().contains(shard) ? Forfeit.Cause.SUPERSEDED : Forfeit.Cause.TAKEN_OVER));
			}
		});
		actions.add(this.lostWrites.claimAnswered(!reply.granted().isEmpty()));
		return actions;
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
		this.lostWrites.reset();
		this.deadlines.clear();
		this.leaving = false;
		return actions;
	}

	/** Returns whether shards are unconfirmed: heartbeats must not renew the lease. */
	public boolean isUnconfirmed() {
		return this.lostWrites.isUnconfirmed();
	}

	/** Returns whether held shards were presented, and are not consumed yet. */
	public boolean isPresenting() {
		return this.lostWrites.isPresenting();
	}

	/** Returns whether the member holds nothing. */
	public boolean isEmpty() {
		return this.holdings.isEmpty();
	}

	/**
	 * A shard that the member holds. Immutable.
	 *
	 * @param worker the token under which the last worker was started, at most the token
	 * @param isConfirmed whether the store has reported the ownership since it last lost
	 * writes
	 */
	private record Holding(Token token, Token worker, State state, boolean isConfirmed) {

		static Holding started(Token token) {
			return new Holding(token, token, State.HELD, true);
		}

		static Holding drained(Token token) {
			return new Holding(token, token, State.DRAINED, true);
		}

		Holding in(State state) {
			return new Holding(this.token, this.worker, state, this.isConfirmed);
		}

		Holding confirmed() {
			return new Holding(this.token, this.worker, this.state, true);
		}

		Holding unconfirmed() {
			return new Holding(this.token, this.worker, this.state, false);
		}

		boolean runs() {
			return this.state != State.DRAINED;
		}

	}

	private enum State {

		HELD,

		/** Given up as soon as its worker has ended. */
		DRAINING,

		/** Its worker has ended; the store has not accepted the release yet. */
		DRAINED

	}

	/** Deadlines of drains: a timeout after the start, and after each further one. */
	private static final class DrainDeadlines {

		private final Duration timeout;

		/** In the order of the deadlines, because the timeout is the same for all. */
		private final Map<ShardId, Deadline> deadlines = new LinkedHashMap<>();

		DrainDeadlines(Duration timeout) {
			this.timeout = timeout;
		}

		void began(ShardId shard, MonotonicTime now) {
			this.deadlines.putIfAbsent(shard, new Deadline(now, now.plus(this.timeout)));
		}

		void over(ShardId shard) {
			this.deadlines.remove(shard);
		}

		void clear() {
			this.deadlines.clear();
		}

		Map<ShardId, Duration> passed(MonotonicTime now) {
			Map<ShardId, Duration> passed = new LinkedHashMap<>();
			List<Map.Entry<ShardId, Deadline>> next = new ArrayList<>();
			Iterator<Map.Entry<ShardId, Deadline>> earliestFirst = this.deadlines.entrySet().iterator();
			while (earliestFirst.hasNext()) {
				Map.Entry<ShardId, Deadline> entry = earliestFirst.next();
				if (now.isBefore(entry.getValue().at)) {
					break;
				}
				MonotonicTime since = entry.getValue().since;
				passed.put(entry.getKey(), since.until(now));
				next.add(Map.entry(entry.getKey(), new Deadline(since, now.plus(this.timeout))));
				earliestFirst.remove();
			}
			next.forEach((entry) -> this.deadlines.put(entry.getKey(), entry.getValue()));
			return passed;
		}

		@Nullable MonotonicTime next() {
			Iterator<Deadline> earliestFirst = this.deadlines.values().iterator();
			return earliestFirst.hasNext() ? earliestFirst.next().at : null;
		}

		private record Deadline(MonotonicTime since, MonotonicTime at) {

		}

	}

}
