package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handovers during failures. Each test names issues of other products. The checker sees
 * every call and every commit, as in {@link SimulatedOwnershipTests}.
 */
class SimulatedHandoverTests {

	private static final Duration AT_ONCE = Duration.ofMillis(200);

	private final Story story = new Story(6);

	@AfterEach
	void end() {
		this.story.close();
	}

	/**
	 * amazon-kinesis-client#1452: a worker that is stopping still gets leases. Here it
	 * gets none from the moment it has said so, though it still works on what it has.
	 */
	@Test
	void stoppingMemberGetsNoMoreShards() {
		SimulatedInstance a = this.story.start();
		SimulatedInstance b = this.story.start();
		SimulatedInstance c = this.story.start();
		this.story.settle(a, b, c);
		Set<ShardId> ofC = this.story.ownedBy(c);
		this.story.callsTake(c, Duration.ofSeconds(20));
		this.story.feed();
		this.story.pass(Duration.ofSeconds(1));
		this.story.stop(c, Duration.ofMinutes(1));
		this.story.pass(AT_ONCE);
		Set<ShardId> ofB = this.story.ownedBy(b);
		b.die();

		this.story.until(SimulatedGroup.LEASE.plus(AT_ONCE), () -> this.story.lastHandledBy(a).containsAll(ofB));
		assertThat(this.story.ownedBy(c)).isEqualTo(ofC);
		this.story.until(Duration.ofSeconds(20), () -> this.story.lastHandledBy(a).size() == 6);
	}

	/**
	 * amazon-kinesis-client#265, azure-sdk-for-net#17651, RocketMQ#2837: the next owner
	 * starts while the last one still works. Here it waits until the call has returned
	 * and its result is committed, however long that takes.
	 */
	@Test
	void nextOwnerWaitsForTheCallOfTheLastOne() {
		SimulatedInstance a = this.story.start();
		this.story.settle(a);
		this.story.callsTake(a, Duration.ofSeconds(40));
		this.story.feed();
		this.story.pass(Duration.ofSeconds(1));
		SimulatedInstance b = this.story.start();
		this.story.pass(Duration.ofSeconds(38));
		assertThat(this.story.lastHandledBy(b)).isEmpty();
		assertThat(this.story.ownedBy(a)).hasSize(6);

		this.story.until(Duration.ofSeconds(2), () -> this.story.lastHandledBy(b).size() == 3);
	}

	/** Not of others' users: a shard whose drain takes long holds up no other. */
	@Test
	@Promise("Other shards continue")
	void otherShardsAreConsumedDuringALongDrain() {
		SimulatedInstance a = this.story.start();
		this.story.settle(a);
		this.story.feed();
		SimulatedInstance b = this.story.start();
		this.story.settle(a, b);
		ShardId slow = this.story.ownedBy(b).iterator().next();
		this.story.stop(b, Duration.ofMinutes(1));
		this.story.settle(a);
		this.story.callsTake(slow, Duration.ofSeconds(20));
		this.story.pass(AT_ONCE);
		// The last shard moves first.
		SimulatedInstance c = this.story.start();
		this.story.until(Duration.ofSeconds(2), () -> this.story.isBeingRevoked(slow));
		this.story.pass(AT_ONCE.multipliedBy(2));
		assertThat(this.story.ownedBy(c)).as("some have moved already").isNotEmpty();
		Set<ShardId> others = new TreeSet<>(this.story.tokens().keySet());
		others.remove(slow);
		for (int look = 0; look < 60; look++) {
			Duration before = this.story.now();
			this.story.pass(AT_ONCE);
			assertThat(this.story.isBeingRevoked(slow)).isTrue();
			assertThat(others).allMatch((shard) -> this.story.handledSince(before, Set.of(shard)));
		}
	}

	/**
	 * amazon-kinesis-client#1718, #1729: a lease stays in its handover for ever when the
	 * worker that is to give it up restarts meanwhile. Here its death ends its part in it
	 * after the lease, and the target gets the shard.
	 */
	@Test
	void restartOfTheOwnerDoesNotBlockAHandover() {
		SimulatedInstance a = this.story.start();
		this.story.settle(a);
		this.story.callsTake(a, Duration.ofMinutes(10));
		this.story.feed();
		this.story.pass(Duration.ofSeconds(1));
		SimulatedInstance b = this.story.start();
		this.story.pass(Duration.ofSeconds(1));
		assertThat(this.story.ownedBy(b)).isEmpty();
		Duration died = this.story.now();
		a.die();
		SimulatedInstance again = this.story.start();

		this.story.until(SimulatedGroup.LEASE.plusSeconds(1),
				() -> this.story.handledSince(died, this.story.tokens().keySet()));
		this.story.settle(again, b);
	}

	/**
	 * amazon-kinesis-client#1765: a handover is stuck when a worker expires in the middle
	 * of it. Here a leader that dies then is not needed any more: the owner gives the
	 * shard straight to its target.
	 */
	@Test
	void handoverNeedsNoLeader() {
		SimulatedInstance leader = this.story.start();
		this.story.settle(leader);
		SimulatedInstance owner = this.story.start();
		this.story.settle(leader, owner);
		this.story.callsTake(owner, Duration.ofSeconds(2));
		this.story.feed();
		this.story.pass(AT_ONCE);
		SimulatedInstance target = this.story.start();
		this.story.pass(Duration.ofSeconds(1));
		assertThat(this.story.group().leader()).isSameAs(leader);
		Set<ShardId> fromLeader = this.story.lastHandledBy(target);
		leader.die();

		this.story.until(Duration.ofSeconds(1).plus(AT_ONCE),
				() -> this.story.lastHandledBy(target).size() > fromLeader.size());
		assertThat(this.story.group().leader()).as("before another member leads").isSameAs(leader);
	}

	/**
	 * akka-core#29034, #27259: a rebalance is stuck waiting for a node that has crashed.
	 * Here a machine without power, which passes for slow, holds up its own shards only.
	 */
	@Test
	void vanishedMemberDelaysOnlyItsOwnShards() {
		SimulatedInstance a = this.story.start();
		SimulatedInstance b = this.story.start();
		this.story.settle(a, b);
		this.story.feed();
		Set<ShardId> ofB = this.story.ownedBy(b);
		b.process.crash();
		SimulatedInstance c = this.story.start();

		this.story.until(Duration.ofSeconds(1), () -> !this.story.lastHandledBy(c).isEmpty());
		Duration joined = this.story.now();
		assertThat(this.story.ownedBy(b)).as("its machine has no power").isNotEmpty();
		this.story.until(SimulatedGroup.TIMEOUT, () -> this.story.handledSince(joined, ofB));
		this.story.settle(a, c);
	}

	/**
	 * aliyun-log-python-sdk#117, PR#264: a consumer that shuts down ends its heartbeats
	 * before its last checkpoint is written, so another one begins, and both handle the
	 * same. Here it beats until it has given up its last shard.
	 */
	@Test
	void stoppingMemberKeepsItsShardsUntilTheyAreCommitted() {
		SimulatedInstance a = this.story.start();
		SimulatedInstance b = this.story.start();
		this.story.settle(a, b);
		Set<ShardId> ofA = this.story.ownedBy(a);
		this.story.callsTake(a, SimulatedGroup.TIMEOUT.multipliedBy(3));
		this.story.feed();
		this.story.pass(AT_ONCE);
		this.story.stop(a, Duration.ofMinutes(1));

		this.story.pass(SimulatedGroup.TIMEOUT.multipliedBy(2));
		assertThat(this.story.ownedBy(a)).as("still at work").isEqualTo(ofA);
		this.story.until(SimulatedGroup.TIMEOUT, () -> this.story.lastHandledBy(b).size() == 6);
		// As the leader it reads its last moves before it leaves.
		this.story.until(AT_ONCE, () -> !a.isAlive());
	}

}
