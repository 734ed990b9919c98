package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.coordination.member.ShardConsumption;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/** Consumption of a member that consumes no topic, so that it never gets a shard. */
final class NoShards implements ShardConsumption {

	@Override
	public void start(ShardId shard, Token token, MemberId member) {
		throw new IllegalStateException("The shard " + shard + " was assigned to a member that consumes no topic");
	}

	@Override
	public void drain(ShardId shard) {
	}

	@Override
	public boolean cancelDrain(ShardId shard) {
		return false;
	}

	@Override
	public void attend(ShardId shard) {
	}

	@Override
	public void interrupt(ShardId shard, Duration draining) {
	}

	@Override
	public void prepare(ShardId shard, MemberId member) {
	}

	@Override
	public void abandon(ShardId shard) {
	}

	@Override
	public void forfeit(ShardId shard, Forfeit.Cause cause) {
	}

	@Override
	public Set<ShardId> restorable() {
		return Set.of();
	}

	@Override
	public void suspend() {
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
