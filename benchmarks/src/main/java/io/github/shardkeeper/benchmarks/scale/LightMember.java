package io.github.shardkeeper.benchmarks.scale;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * A member of a group that is all an application's instance is but for workers: it joins,
 * beats, leads if elected, and takes and releases shards, at the defaults of all
 * settings. Thread-safe.
 */
final class LightMember {

	static final Duration LEASE = Duration.ofSeconds(3);

	static final Duration TIMEOUT = Duration.ofSeconds(15);

	private static final Duration HEARTBEAT_INTERVAL = Duration.ofMillis(500);

	private static final Duration SETTLE_TIME = Duration.ofMillis(100);

	/** It hurries after this time, as an application does that is stopped. */
	private static final Duration PATIENCE_WHEN_LEAVING = Duration.ofSeconds(15);

	private static final SecureRandom RANDOM = new SecureRandom();

	private final int number;

	private final ShardHolders board;

	private final Holdings holdings;

	private final ShardCoordinator coordinator;

	private final List<Loops.Loop> loops = new CopyOnWriteArrayList<>();

	/**
	 * Creates a member that is not started.
	 * @param number its number on the board
	 * @param group the group's name
	 * @param store the control plane
	 * @param holdings takes its shards
	 * @param strategy assigns shards while it leads
	 * @param threads runs its loops
	 * @param board where it is to be seen
	 */
	LightMember(int number, String group, CoordinationStore store, Holdings holdings, AssignmentStrategy strategy,
			Loops threads, ShardHolders board) {
		this.number = number;
		this.board = board;
		this.holdings = holdings;
		MemberRuntime runtime = new MemberRuntime(MonotonicClock.SYSTEM, new OwnLoops(threads), RANDOM);
		Lease lease = new Lease(LEASE, MonotonicClock.SYSTEM.now());
		CoordinationSettings settings = new CoordinationSettings(group, "instance-" + number, HEARTBEAT_INTERVAL, LEASE,
				TIMEOUT, SETTLE_TIME, ApplicationVersion.UNKNOWN, HandoverRules.DEFAULT, 1, null);
		this.coordinator = new ShardCoordinator(settings, store,
				new HeartbeatScheduler(store, lease, HEARTBEAT_INTERVAL, runtime), lease,
				AssignmentSettings.builtIn("sticky", strategy), runtime);
		holdings.report(this.coordinator.consumptionListener());
	}

	int number() {
		return this.number;
	}

	MemberId id() {
		return this.coordinator.member().orElseThrow();
	}

	boolean leads() {
		return this.coordinator.isLeader();
	}

	void start(Map<String, TopicShards> topics) {
		this.board.memberJoined(this.number);
		this.coordinator.start(topics, this.holdings);
	}

	/** Leaves in order; the returned future completes when it is gone. */
	CompletableFuture<Void> leave() {
		this.board.memberLeaves(this.number);
		return this.coordinator.leave(PATIENCE_WHEN_LEAVING);
	}

	/** Is gone at once, and with it its connection, without a word to anybody. */
	void crash() {
		this.board.memberLeaves(this.number);
		this.coordinator.close();
		this.holdings.died();
	}

	/** Does nothing any more, while its connections stand. */
	void freeze() {
		this.board.memberLeaves(this.number);
		this.loops.forEach(Loops.Loop::close);
		this.holdings.died();
	}

	void close() {
		this.coordinator.close();
	}

	/** Remembers them, to freeze them. */
	private final class OwnLoops implements Loops {

		private final Loops threads;

		private OwnLoops(Loops threads) {
			this.threads = threads;
		}

		@Override
		public Loop start(String name, Step step) {
			Loop loop = this.threads.start(name, step);
			LightMember.this.loops.add(loop);
			return loop;
		}

		@Override
		public Loop startForeground(String name, Step step) {
			return start(name, step);
		}

	}

}
