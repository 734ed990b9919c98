package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.consumer.SimulatedConsumers;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.member.SessionListener;
import io.github.shardkeeper.coordination.member.ShardConsumption;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.Lease;

/** One instance of an application: the real thing in a simulated process. */
final class SimulatedInstance {

	/**
	 * How long a call to the store may take, as with the real one: a third of the lease.
	 */
	private static final int LEASE_PER_TIMEOUT = 3;

	final SimulatedProcess process;

	final SimulatedNetwork.Link link;

	final Lease lease;

	private final ShardCoordinator coordinator;

	private final ShardConsumption consumption;

	private final SimulatedTopic topic;

	private final Tampering tampering;

	/** Its sessions so far. */
	private final Set<MemberId> members = new HashSet<>();

	private boolean started;

	private boolean leaving;

	SimulatedInstance(SimulatedProcess process, SimulatedNetwork network, CoordinationSettings settings,
			CoordinationStore coordinationStore, CheckpointStore checkpointStore, SimulatedTopic topic,
			SimulatedConsumers consumers, SimulatedSettings consuming, Tampering tampering) {
		this.process = process;
		this.link = network.link(process);
		MemberRuntime runtime = process.runtime();
		Duration timeout = settings.lease().dividedBy(LEASE_PER_TIMEOUT);
		CoordinationStore coordination = this.link.reach(tampering.coordination(coordinationStore), timeout);
		CheckpointStore checkpoints = this.link.reach(tampering.checkpoints(checkpointStore), timeout);
		this.lease = new Lease(tampering.lease(settings.lease()), runtime.clock().now());
		HeartbeatScheduler heartbeats = new HeartbeatScheduler(coordination, this.lease, settings.heartbeatInterval(),
				runtime);
		this.coordinator = new ShardCoordinator(settings, coordination, heartbeats, this.lease,
				AssignmentSettings.builtIn("sticky", new StickyAssignment()), runtime);
		ShardConsumption.Listener listener = this.coordinator.consumptionListener();
		this.consumption = tampering.consumption(consumers.workers(consuming.consumer(), checkpoints,
				topic.reader(process), this.lease, runtime.clock(), process.wallClock(), process.executor(),
				process.timer(), List.of(process.migration()), listener), listener);
		this.coordinator.addSessionListener(new Sessions());
		this.topic = topic;
		this.tampering = tampering;
	}

	void start() {
		this.coordinator.start(topics(), this.consumption);
		this.started = true;
		// Changes during its start, as the runner reads them.
		look();
	}

	/** The source tells that there are other shards now. */
	void look() {
		if (this.started && isMember()) {
			this.coordinator.shardsChanged(topics());
		}
	}

	private Map<String, TopicShards> topics() {
		return Map.of(SimulatedTopic.NAME, this.tampering.shards(this.topic.shards()));
	}

	CompletableFuture<Void> leave(Duration patience) {
		this.leaving = true;
		return this.coordinator.leave(patience);
	}

	void die() {
		this.process.crash();
		this.link.processDied();
	}

	boolean isMember() {
		return !this.leaving && !this.process.isCrashed();
	}

	boolean isAlive() {
		return !this.process.isCrashed();
	}

	/** Whether that is, or was, one of its sessions. */
	boolean hasBeen(MemberId member) {
		return this.members.contains(member) || this.coordinator.member().filter(member::equals).isPresent();
	}

	boolean isLeader() {
		return this.coordinator.isLeader();
	}

	boolean holdsLease() {
		return this.lease.isHeld(this.process.clock().now());
	}

	/** Whether nothing but the store itself has kept it from the store since. */
	boolean isUndisturbedSince(long nanos) {
		return isMember() && !this.process.wasFrozenSince(nanos) && !this.link.wasDisturbedSince(nanos);
	}

	/** Whether a heartbeat was answered in the last half of the lease. */
	boolean heardLately() {
		return this.lease.isHeld(this.process.clock().now().plus(SimulatedGroup.LEASE.dividedBy(2)));
	}

	@Override
	public String toString() {
		return this.process.name();
	}

	private final class Sessions implements SessionListener {

		@Override
		public void heartbeatAnswered(MemberId member, long membership, boolean lost) {
			SimulatedInstance.this.members.add(member);
		}

		@Override
		public void leaseEnded() {
		}

		@Override
		public void leaseResumed() {
		}

		@Override
		public void sessionEnded(MemberId member) {
		}

	}

}
