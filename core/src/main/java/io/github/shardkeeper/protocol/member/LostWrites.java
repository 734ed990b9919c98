package io.github.shardkeeper.protocol.member;

import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.member.HoldingAction.Claim;
import io.github.shardkeeper.protocol.member.HoldingAction.Confirm;
import io.github.shardkeeper.protocol.member.HoldingAction.Present;
import io.github.shardkeeper.protocol.member.HoldingAction.SendHeartbeat;
import io.github.shardkeeper.protocol.member.HoldingAction.WriteBack;
import io.github.shardkeeper.protocol.member.HoldingEvent.HeartbeatAnswered;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Brings a member and a store that has lost writes into agreement. After a loss, held
 * shards are <em>unconfirmed</em>:
 *
 * <pre>
 *               writes lost, or                            everything
 *               granted in a new session                   reported           nothing is unconfirmed
 *   confirmed ───────────────────────────▶ unconfirmed ──────────────▶ claim ────────────────────────▶ confirmed
 *                                               ▲                        │
 *                                               └────────────────────────┘
 *                                                granted: the store has to report it
 * </pre>
 *
 * The store reports everything that it knows, which confirms it. The rest is claimed, or
 * presented if the lease has ended. A granted shard stays unconfirmed until the store
 * reports it: only then does the store know that the member has seen it, and notice if it
 * loses the claim too.
 * <p>
 * Invariant: replies do not renew the lease before {@link Confirm}, so nothing is
 * consumed for longer than others wait for claims. Presented shards are not consumed
 * before the claim period has ended either, because other members may return with newer
 * tokens. Not thread-safe: confined to the coordinator's loop.
 */
final class LostWrites {

	private static final Duration RETRY_PAUSE = Duration.ofMillis(100);

	private final Supplier<SortedMap<ShardId, Token>> unconfirmedShards;

	private int losses;

	private boolean unconfirmed;

	/** Whether a claim has to follow, even if only to write back. */
	private boolean claimNeeded;

	/** {@code null} without a claim, or before everything was reported. */
	private @Nullable MonotonicTime claimAt;

	private boolean joining;

	/** Whether the current claim is made under a lease that has not ended. */
	private boolean claimedUnderLease;

	/** Whether the last answered claim was granted, at least in part. */
	private boolean granted;

	/** Whether shards were presented, and the lease is not held again yet. */
	private boolean presented;

	/** Whether members may claim, according to the last reply. */
	private boolean claimsOpen;

	LostWrites(Supplier<SortedMap<ShardId, Token>> unconfirmedShards) {
		this.unconfirmedShards = unconfirmedShards;
	}

	void reset() {
		this.losses = 0;
		this.unconfirmed = false;
		this.claimNeeded = false;
		this.claimAt = null;
		this.joining = false;
		this.presented = false;
		this.claimsOpen = false;
	}

	void writesLost() {
		this.losses++;
		this.unconfirmed = true;
		this.claimNeeded = true;
		this.claimAt = null;
	}

	void heartbeatAnswered(HeartbeatAnswered reply, MonotonicTime now) {
		this.claimsOpen = reply.claimsOpen();
		this.presented &= this.unconfirmed || !reply.leaseHeld();
		if (this.unconfirmed && this.claimAt == null && !reply.hasMore()) {
			this.claimAt = now;
		}
	}

	/** Claims the shards of a forgotten session before the new one begins. */
	HoldingAction sessionJoined(boolean leaseHeld) {
		reset();
		this.joining = true;
		return claim(leaseHeld);
	}

	/**
	 * {@return whether a claim is due, or the confirmation if there is nothing to claim}
	 */
	boolean isDue(MonotonicTime now) {
		return this.claimAt != null && !now.isBefore(this.claimAt);
	}

	boolean needsClaim() {
		return this.claimNeeded || !this.unconfirmedShards.get().isEmpty();
	}

	HoldingAction claim(boolean leaseHeld) {
		this.claimedUnderLease = leaseHeld;
		SortedMap<ShardId, Token> held = this.unconfirmedShards.get();
		return leaseHeld ? new Claim(held) : new Present(held);
	}

	HoldingAction claimAnswered(boolean granted) {
		this.granted = granted;
		return new WriteBack();
	}

	/** Ends a claim. If an earlier action fails, the claim is repeated. */
	List<HoldingAction> writtenBack() {
		if (this.granted && !this.claimedUnderLease) {
			this.presented = true;
			this.claimsOpen = true;
		}
		if (this.joining) {
			this.joining = false;
			this.unconfirmed = this.granted;
			this.losses = this.granted ? 1 : 0;
			return List.of();
		}
		this.claimNeeded = false;
		if (this.granted) {
			this.claimAt = null;
			return List.of(new SendHeartbeat());
		}
		return confirm();
	}

	void claimFailed(MonotonicTime now) {
		if (!this.joining) {
			this.claimAt = now.plus(RETRY_PAUSE);
		}
	}

	/** Ends the comparison, unless presented shards have to wait for others. */
	List<HoldingAction> confirm() {
		this.claimAt = null;
		if (this.presented && this.claimsOpen) {
			return List.of();
		}
		this.unconfirmed = false;
		return List.of(new Confirm(this.losses));
	}

	boolean isJoining() {
		return this.joining;
	}

	boolean isUnconfirmed() {
		return this.unconfirmed;
	}

	/** Returns whether held shards were presented, and are not consumed yet. */
	boolean isPresenting() {
		return this.presented;
	}

	@Nullable MonotonicTime wakeAt() {
		return this.claimAt;
	}

}
