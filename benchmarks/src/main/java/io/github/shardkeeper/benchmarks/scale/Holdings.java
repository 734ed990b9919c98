package io.github.shardkeeper.benchmarks.scale;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import io.github.shardkeeper.coordination.member.ShardConsumption;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit.Cause;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Replaces a member's workers: a shard is consumed at once when it is started, and drains
 * at once. Thread-safe.
 */
final class Holdings implements ShardConsumption {

	private final int member;

	private final ShardHolders board;

	private final AtomicLong suspensions;

	private final Map<ShardId, Token> tokens = new ConcurrentHashMap<>();

	private volatile Listener listener;

	/** A dead member's shards are not consumed, whatever still happens here. */
	private boolean dead;

	/**
	 * Creates the holdings of one member.
	 * @param member its number on the board
	 * @param board receives its acquisitions and releases
	 * @param suspensions counts ends of leases
	 */
	Holdings(int member, ShardHolders board, AtomicLong suspensions) {
		this.member = member;
		this.board = board;
		this.suspensions = suspensions;
	}

	void report(Listener listener) {
		this.listener = listener;
	}

	synchronized void died() {
		this.dead = true;
		this.board.memberDied(this.member);
	}

	@Override
	public synchronized void start(ShardId shard, Token token, MemberId self) {
		if (!this.dead && this.tokens.put(shard, token) == null) {
			this.board.shardTaken(ShardId.number(shard.id()), this.member);
		}
	}

	@Override
	public void drain(ShardId shard) {
		Token token = gave(shard);
		if (token != null) {
			this.listener.workerEnded(shard, token, Token.NONE, false);
		}
	}

	private synchronized Token gave(ShardId shard) {
		Token token = this.tokens.remove(shard);
		if (token != null && !this.dead) {
			this.board.shardReleased(ShardId.number(shard.id()), this.member);
		}
		return token;
	}

	@Override
	public boolean cancelDrain(ShardId shard) {
		return false;
	}

	@Override
	public void abandon(ShardId shard) {
		gave(shard);
	}

	@Override
	public void forfeit(ShardId shard, Cause cause) {
		gave(shard);
	}

	@Override
	public Set<ShardId> restorable() {
		return Set.copyOf(this.tokens.keySet());
	}

	@Override
	public void suspend() {
		this.suspensions.incrementAndGet();
	}

	@Override
	public void attend(ShardId shard) {
	}

	@Override
	public void interrupt(ShardId shard, Duration draining) {
	}

	@Override
	public void prepare(ShardId shard, MemberId self) {
	}

	@Override
	public void resume() {
	}

	@Override
	public void writeBack() {
	}

	@Override
	public Map<ShardId, String> problems() {
		return Map.of();
	}

}
