package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.simulation.SimulatedNetwork.Way;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Ownership of shards during failures. Each test names issues of other products. The
 * checker sees every call and every commit: a second consumer, a token that decreases, a
 * commit of an old owner, and a record that is lost or counted twice fail the test.
 */
class SimulatedOwnershipTests {

	private final Story story = new Story(4);

	@AfterEach
	void end() {
		this.story.close();
	}

	/**
	 * Locks with a lease (ShedLock#132, Redisson#3636): a pause of the garbage collector,
	 * and two believe that they hold the lock, and both write. Here the one that was
	 * paused finds its lease ended and begins no call; what it commits is refused, as
	 * {@code CheckpointStoreContract} shows. The one call per shard in which it was
	 * paused runs on beside the next owner: that the docs say.
	 */
	@Test
	void pausedMemberBeginsNoCallAfterItsLease() {
		SimulatedInstance a = this.story.start();
		SimulatedInstance b = this.story.start();
		this.story.settle(a, b);
		this.story.callsTake(a, Duration.ofMillis(50));
		this.story.feed();
		this.story.pass(Duration.ofSeconds(1));
		int before = this.story.group().checker().excused();
		a.process.freeze(SimulatedGroup.TIMEOUT.multipliedBy(2));
		this.story.until(SimulatedGroup.TIMEOUT.plusSeconds(1), () -> this.story.lastHandledBy(b).size() == 4);

		this.story.pass(SimulatedGroup.TIMEOUT);
		this.story.settle(a, b);
		this.story.until(Duration.ofSeconds(1), () -> this.story.lastHandledBy(a).size() == 2);
		assertThat(this.story.group().checker().excused() - before).as("calls that were under way").isLessThan(3);
	}

	/**
	 * ElasticJob#507, #114 and others: after a disconnection two nodes run the same item;
	 * a consumer notices the loss at its next checkpoint (amazon-kinesis-client#108), and
	 * where the lock's store fails, a shard is consumed without a lock. Here only the
	 * heartbeats are cut, records and commits are not: the call that runs is interrupted
	 * at the end of the lease, and nobody else has begun before.
	 */
	@Test
	void memberThatIsCutOffStopsBeforeAnotherBegins() {
		SimulatedInstance a = this.story.start();
		SimulatedInstance b = this.story.start();
		this.story.settle(a, b);
		Set<ShardId> ofA = this.story.ownedBy(a);
		this.story.callsTake(a, Duration.ofMinutes(1));
		this.story.feed();
		this.story.until(Duration.ofSeconds(1), () -> this.story.group().checker().running(a) == 2);
		Duration cut = this.story.now();
		a.link.cut(Way.CONTROL, Duration.ofSeconds(20));
		a.link.cut(Way.EVENTS, Duration.ofSeconds(20));

		this.story.until(SimulatedGroup.LEASE, () -> this.story.group().checker().running(a) == 0);
		assertThat(this.story.lastHandledBy(a)).as("no other instance has begun").isEqualTo(ofA);
		this.story.until(Duration.ofSeconds(1), () -> this.story.handledSince(cut, ofA));
		assertThat(this.story.lastHandledBy(b)).hasSize(4);
	}

	/**
	 * ElasticJob#1857, #543, #2194: jobs shut themselves down when the store is back, or
	 * the only instance sees an empty list of shards. Here it has all of them again.
	 */
	@Test
	void onlyMemberResumesAfterAnOutage() {
		SimulatedInstance a = this.story.start();
		this.story.settle(a);
		this.story.feed();
		for (Way way : Way.values()) {
			a.link.cut(way, SimulatedGroup.TIMEOUT.multipliedBy(3));
		}
		this.story.pass(SimulatedGroup.TIMEOUT.multipliedBy(3));

		Duration reconnected = this.story.now();
		this.story.until(Duration.ofSeconds(3),
				() -> this.story.handledSince(reconnected, this.story.ownedBy(a)) && this.story.ownedBy(a).size() == 4);
	}

	/**
	 * Kinesis in Spring (spring-cloud-stream#2392, binder#148): the lock's store fails,
	 * and all instances stop for ever, or several consume the same shard. Here all stop,
	 * and each goes on with what it had, under the same tokens.
	 */
	@Test
	void outageForAllMembersNeitherDuplicatesNorStopsConsumption() {
		SimulatedInstance a = this.story.start();
		SimulatedInstance b = this.story.start();
		this.story.settle(a, b);
		this.story.feed();
		Map<ShardId, Token> before = this.story.tokens();
		this.story.group().network().restartStore(SimulatedGroup.TIMEOUT.multipliedBy(2));
		this.story.pass(SimulatedGroup.LEASE);
		int calls = this.story.group().checker().calls();
		this.story.pass(SimulatedGroup.TIMEOUT);
		assertThat(this.story.group().checker().calls()).as("nothing is consumed without a lease").isEqualTo(calls);

		this.story.pass(SimulatedGroup.TIMEOUT.minus(SimulatedGroup.LEASE));
		Duration back = this.story.now();
		this.story.until(Duration.ofSeconds(2), () -> this.story.handledSince(back, before.keySet()));
		this.story.pass(SimulatedGroup.TIMEOUT);
		assertThat(this.story.tokens()).isEqualTo(before);
	}

	/**
	 * ShedLock#9, spring-integration#3272: a lock cannot be renewed, so it is given for
	 * as long as the longest work might take, and a crash blocks the shard for as long.
	 * Here the lease is short and renewed, however long one call takes.
	 */
	@Test
	void callCanOutlastManyLeases() {
		SimulatedInstance a = this.story.start();
		SimulatedInstance b = this.story.start();
		this.story.settle(a, b);
		this.story.callsTake(a, SimulatedGroup.LEASE.multipliedBy(8));
		this.story.feed();
		Map<ShardId, Token> before = this.story.tokens();
		Set<ShardId> ofA = this.story.ownedBy(a);
		this.story.pass(SimulatedGroup.LEASE.multipliedBy(12));
		assertThat(this.story.tokens()).isEqualTo(before);
		assertThat(ofA).allSatisfy((shard) -> assertThat(this.story.group().committed(shard)).isEqualTo(1));

		a.die();
		Duration dead = this.story.now();
		this.story.until(SimulatedGroup.LEASE.plusMillis(500), () -> this.story.handledSince(dead, ofA));
	}

	/**
	 * amazon-kinesis-client#1814, azure-sdk-for-java#13597: members steal shards from
	 * each other for ever, because tiny loads differ, or because each decides for itself.
	 * Here one decides, by counts, and what is even stays as it is.
	 */
	@Test
	void evenLoadsDoNotMove() {
		SimulatedInstance a = this.story.start();
		SimulatedInstance b = this.story.start();
		SimulatedInstance c = this.story.start();
		this.story.settle(a, b, c);
		Map<ShardId, Token> before = this.story.tokens();
		this.story.pass(Duration.ofMinutes(15));
		assertThat(this.story.tokens()).isEqualTo(before);

		this.story.start();
		this.story.pass(Duration.ofSeconds(5));
		assertThat(this.story.tokens().entrySet()).as("one of four moves")
			.filteredOn((shard) -> !shard.getValue().equals(before.get(shard.getKey())))
			.hasSize(1);
	}

}
