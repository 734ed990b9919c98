package io.github.shardkeeper.worker.shard;

import java.time.Instant;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.loop.MeterGuard;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.shard.ConsumerMeters.TopicMeters;

/**
 * Owned shard as its handler sees it. Thread-safe, except for {@link #reached}.
 */
public final class OwnedShard implements ShardContext {

	private final String group;

	private final ShardId shard;

	private final Token token;

	private final MemberId member;

	private final Lease lease;

	private final MonotonicClock clock;

	private final WorkerContext context;

	private final ConsumerSettings settings;

	private final MeterGuard<TopicMeters> meters;

	private final ShardLifecycle lifecycle = new ShardLifecycle();

	private final Runnable wake;

	/** Confined to the worker. */
	private final Set<MovePhase> reached = EnumSet.noneOf(MovePhase.class);

	/** Number of times that records were put aside. */
	private final AtomicLong setAside = new AtomicLong();

	private volatile boolean lost;

	/** Time of the run that is under way, {@code null} for none. */
	private volatile @Nullable Instant scheduledTime;

	/** Creates a shard; {@code wake} requests a turn of its worker. */
	public OwnedShard(ShardId shard, Token token, MemberId member, WorkerContext context, Runnable wake) {
		this.group = context.group();
		this.shard = shard;
		this.token = token;
		this.member = member;
		this.lease = context.lease();
		this.clock = context.clock();
		this.context = context;
		this.settings = context.settings(shard.topic());
		this.meters = context.meters(shard.topic());
		this.wake = wake;
	}

	/** Returns what it shares with other shards of this instance. */
	public WorkerContext context() {
		return this.context;
	}

	/** Returns the settings of its topic. */
	public ConsumerSettings settings() {
		return this.settings;
	}

	/** Returns the meters of its topic. */
	public MeterGuard<TopicMeters> meters() {
		return this.meters;
	}

	public ShardLifecycle lifecycle() {
		return this.lifecycle;
	}

	/** Requests a turn of its worker. Never throws. */
	public void wake() {
		this.wake.run();
	}

	public void lose() {
		this.lost = true;
	}

	public boolean isLost() {
		return this.lost;
	}

	/** Reports a phase of the move to this owner, or from it, the first time. */
	public void reached(MovePhase phase, MonotonicTime at) {
		if (this.reached.add(phase)) {
			this.context.reached(this, phase, at);
		}
	}

	/**
	 * Notes that the store may have more records in the retry queue, or more dead
	 * letters, than before.
	 */
	public void recordsSetAside() {
		this.setAside.incrementAndGet();
	}

	public long setAside() {
		return this.setAside.get();
	}

	public void runFor(@Nullable Instant time) {
		this.scheduledTime = time;
	}

	@Override
	public Optional<Instant> scheduledTime() {
		return Optional.ofNullable(this.scheduledTime);
	}

	@Override
	public String group() {
		return this.group;
	}

	@Override
	public ShardId shard() {
		return this.shard;
	}

	@Override
	public MemberId member() {
		return this.member;
	}

	@Override
	public Token token() {
		return this.token;
	}

	@Override
	public boolean isHeld() {
		return !this.lost && this.lease.isHeld(this.clock.now());
	}

	/** Returns whether it is held, and was since a time. */
	public boolean isHeldSince(MonotonicTime since) {
		return isHeld() && !since.isBefore(this.lease.heldSince());
	}

	@Override
	public String toString() {
		return this.shard.toString();
	}

}
