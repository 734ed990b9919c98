package io.github.shardkeeper.coordination.member;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.MeasuredLoads.ShardWork;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Records the calls of the coordinator, also in a ledger that all members share.
 * Thread-safe.
 */
public final class TestConsumption implements ShardConsumption {

	private final Ledger ledger;

	private final Map<ShardId, Token> consumed = new TreeMap<>();

	private final Map<ShardId, Double> shares = new TreeMap<>();

	private final Map<ShardId, Forfeit.Cause> forfeited = new TreeMap<>();

	private final Set<ShardId> empty = new TreeSet<>();

	private final TreeSet<ShardId> draining = new TreeSet<>();

	private final List<ShardId> cancelled = new ArrayList<>();

	private final List<ShardId> interrupted = new ArrayList<>();

	private final List<ShardId> prepared = new ArrayList<>();

	private final List<ShardId> attended = new ArrayList<>();

	private @Nullable Directives directives;

	private int writesBack;

	private ShardConsumption.Listener listener;

	private boolean answersDrains = true;

	/** Runs when a suspension begins. */
	public volatile Runnable onSuspend = () -> {
	};

	private int suspensions;

	private int resumptions;

	private boolean suspended;

	public TestConsumption(Ledger ledger) {
		this.ledger = ledger;
	}

	public void reportTo(ShardConsumption.Listener listener) {
		this.listener = listener;
	}

	public synchronized void setAnswersDrains(boolean answersDrains) {
		this.answersDrains = answersDrains;
	}

	/** Finishes all drains that were asked for, and each one from now on at once. */
	public synchronized void answerDrains() {
		this.answersDrains = true;
		draining().forEach(this::finishDrain);
	}

	@Override
	public synchronized void directivesChanged(Directives changed) {
		this.directives = changed;
	}

	/** Returns {@code null} if it was told none. */
	public synchronized @Nullable Directives directives() {
		return this.directives;
	}

	@Override
	public synchronized void start(ShardId shard, Token token, MemberId member) {
		this.ledger.started(shard, token, this);
		this.consumed.put(shard, token);
		this.draining.remove(shard);
	}

	@Override
	public synchronized void drain(ShardId shard) {
		this.draining.add(shard);
		if (this.answersDrains) {
			finishDrain(shard);
		}
	}

	/** Ends a drain, as a handler that returns does. */
	public synchronized void finishDrain(ShardId shard) {
		end(shard, Token.NONE, false);
	}

	/** Completes a shard, as after its last record. */
	public synchronized void complete(ShardId shard) {
		end(shard, Token.NONE, true);
	}

	/** Ends a worker as if a newer token had refused it. */
	public synchronized void refuse(ShardId shard, Token fence) {
		end(shard, fence, false);
	}

	private void end(ShardId shard, Token fence, boolean completed) {
		Token token = this.consumed.remove(shard);
		this.draining.remove(shard);
		this.ledger.ended(shard, this);
		this.listener.workerEnded(shard, token, fence, completed);
	}

	@Override
	public synchronized boolean cancelDrain(ShardId shard) {
		this.cancelled.add(shard);
		return this.draining.remove(shard);
	}

	@Override
	public synchronized void attend(ShardId shard) {
		this.attended.add(shard);
	}

	@Override
	public synchronized void interrupt(ShardId shard, Duration draining) {
		this.interrupted.add(shard);
	}

	@Override
	public synchronized void prepare(ShardId shard, MemberId member) {
		this.prepared.add(shard);
	}

	@Override
	public synchronized void writeBack() {
		this.writesBack++;
	}

	@Override
	public synchronized void abandon(ShardId shard) {
		this.consumed.remove(shard);
		this.draining.remove(shard);
		this.ledger.ended(shard, this);
	}

	@Override
	public synchronized void forfeit(ShardId shard, Forfeit.Cause cause) {
		this.forfeited.put(shard, cause);
		abandon(shard);
	}

	public synchronized Map<ShardId, Forfeit.Cause> forfeited() {
		return new TreeMap<>(this.forfeited);
	}

	/** From now on a shard's state is not here. */
	public synchronized void setEmpty(ShardId shard) {
		this.empty.add(shard);
	}

	@Override
	public synchronized Set<ShardId> restorable() {
		Set<ShardId> restorable = new TreeSet<>(this.consumed.keySet());
		restorable.removeAll(this.empty);
		return restorable;
	}

	/** Everything ends at once, as in a process that is killed. */
	public synchronized void die() {
		List.copyOf(this.consumed.keySet()).forEach(this::abandon);
	}

	@Override
	public void suspend() {
		this.onSuspend.run();
		synchronized (this) {
			this.suspensions++;
			this.suspended = true;
		}
	}

	@Override
	public synchronized void resume() {
		this.resumptions++;
		this.suspended = false;
	}

	/** Last notification. */
	public synchronized boolean isSuspended() {
		return this.suspended;
	}

	@Override
	public Map<ShardId, String> problems() {
		return Map.of();
	}

	/**
	 * From now on, and ever since, a shard keeps its handler busy for a share of time.
	 */
	public synchronized void keepBusy(ShardId shard, double share) {
		this.shares.put(shard, share);
	}

	@Override
	public synchronized List<ShardWork> work(MonotonicTime now) {
		List<ShardWork> work = new ArrayList<>();
		this.consumed.forEach((shard, token) -> work
			.add(new ShardWork(shard, token, (long) (now.nanos() * this.shares.getOrDefault(shard, 0.0)), 0)));
		return work;
	}

	public synchronized Map<ShardId, Token> consumed() {
		return new TreeMap<>(this.consumed);
	}

	public synchronized List<ShardId> draining() {
		return List.copyOf(this.draining);
	}

	public synchronized List<ShardId> cancelled() {
		return List.copyOf(this.cancelled);
	}

	public synchronized List<ShardId> attended() {
		return List.copyOf(this.attended);
	}

	public synchronized List<ShardId> interrupted() {
		return List.copyOf(this.interrupted);
	}

	public synchronized List<ShardId> prepared() {
		return List.copyOf(this.prepared);
	}

	public synchronized int writesBack() {
		return this.writesBack;
	}

	public synchronized int suspensions() {
		return this.suspensions;
	}

	public synchronized int resumptions() {
		return this.resumptions;
	}

	/** Consumers by shard; records violations of "one consumer, rising tokens". */
	public static final class Ledger {

		private final Map<ShardId, TestConsumption> consumers = new TreeMap<>();

		private final Map<ShardId, Token> tokens = new TreeMap<>();

		private final List<String> breaches = new ArrayList<>();

		synchronized void started(ShardId shard, Token token, TestConsumption consumer) {
			TestConsumption other = this.consumers.put(shard, consumer);
			if (other != null && other != consumer) {
				this.breaches.add(shard + " was started while another still consumed it");
			}
			Token last = this.tokens.put(shard, token);
			if (last != null && last.compareTo(token) >= 0) {
				this.breaches.add(shard + " got token " + token + " after " + last);
			}
		}

		synchronized void ended(ShardId shard, TestConsumption consumer) {
			this.consumers.remove(shard, consumer);
		}

		public synchronized List<String> breaches() {
			return List.copyOf(this.breaches);
		}

	}

}
