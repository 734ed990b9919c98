package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.github.shardkeeper.coordination.store.CoordinationStore.ClaimReply;
import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A member in a test: makes the calls of a coordinator, one by one.
 */
public final class TestMember {

	/** Steady time of a leader that was always answered, without a clock step. */
	static final SteadyTime STEADY = new SteadyTime(0, Long.MAX_VALUE, 0);

	private final TestGroup group;

	private final MemberId id;

	private final MemberDescription description;

	/** One permit per notification that no story has looked at yet. */
	private final Semaphore bell = new Semaphore(0);

	private final CoordinationStore.Subscription subscription;

	private long epoch;

	/** From the last reply. */
	private long setBacks;

	private Seen seen = Seen.NOTHING;

	TestMember(TestGroup group, MemberId id, MemberDescription description) {
		this.group = group;
		this.id = id;
		this.description = description;
		this.subscription = store().subscribe(id, this.bell::release);
	}

	public MemberId id() {
		return this.id;
	}

	/** Its entry in the list of members. */
	GroupMember entry(boolean leaving) {
		return new GroupMember(this.id, this.description, leaving);
	}

	void join(Duration lease, Duration timeout) {
		store().joinGroup(this.id, this.description, lease, timeout);
	}

	/** Its entry in the list of members while it leaves for a restart. */
	GroupMember restartingEntry() {
		return new GroupMember(this.id, this.description, true, true);
	}

	MemberDescription description() {
		return this.description;
	}

	/** Says that the store does not see its subscription. */
	void describeSubscriptionAsHidden() {
		store().updateDescription(this.id,
				new MemberDescription(this.description.topicShards(), this.description.version(),
						this.description.capacity(), this.description.zone(), this.description.strategy(), true));
	}

	void describeAsBefore() {
		store().updateDescription(this.id, this.description);
	}

	/** Joins, and knows of a lease in the group that is longer than its own. */
	void join(Duration lease, Duration timeout, Duration longestLease) {
		store().joinGroup(this.id, this.description, lease, timeout, longestLease);
	}

	/** Beats, fit to lead if it leads already. */
	public HeartbeatReply.Alive beat() {
		return beat(this.epoch > 0);
	}

	HeartbeatReply.Alive beat(boolean candidate) {
		return beat(this.seen, candidate);
	}

	HeartbeatReply.Alive beat(Seen asIfSeen, boolean candidate) {
		HeartbeatReply reply = store().heartbeat(this.id, asIfSeen, candidate, LoadReport.NONE);
		assertThat(reply).isInstanceOf(HeartbeatReply.Alive.class);
		this.setBacks = ((HeartbeatReply.Alive) reply).setBacks();
		return (HeartbeatReply.Alive) reply;
	}

	void assertExpired() {
		assertThat(store().heartbeat(this.id, this.seen, true, LoadReport.NONE))
			.isEqualTo(new HeartbeatReply.Expired());
	}

	/** Beats, and reports its load. */
	HeartbeatReply.Alive report(String load) {
		return (HeartbeatReply.Alive) store().heartbeat(this.id, this.seen, this.epoch > 0, new LoadReport(load));
	}

	/** Beats until it knows all of its own news. */
	public List<Ownership> news() {
		List<Ownership> news = new ArrayList<>();
		while (hear(news).hasMore()) {
			assertThat(this.seen.generation()).isPositive();
		}
		return news;
	}

	/** Beats once, and keeps in mind what it was told. */
	HeartbeatReply.Alive hear(List<Ownership> news) {
		HeartbeatReply.Alive reply = beat();
		news.addAll(reply.changes());
		assertThat(reply.through()).isBetween(reply.lost() ? 0 : this.seen.generation(), reply.generation());
		this.seen = reply.seen();
		return reply;
	}

	Seen seen() {
		return this.seen;
	}

	/** Beats as a candidate and is elected. */
	TestMember elected() {
		HeartbeatReply.Alive reply = beat(true);
		assertThat(reply.leader()).isEqualTo(this.id);
		this.epoch = reply.epoch();
		return this;
	}

	/**
	 * Is elected, and ends a claim period that may end, as if it had watched it.
	 */
	public TestMember lead() {
		HeartbeatReply.Alive reply = elected().beat();
		if (reply.claimsUntilMillis() <= reply.serverTimeMillis()) {
			assertThat(endClaims(reply.claimsUntilMillis())).isEqualTo(EndClaimsReply.ENDED);
		}
		return this;
	}

	/** As if it had been answered all that time. */
	public void endsClaims() {
		assertThat(endClaims(beat().claimsUntilMillis())).isEqualTo(EndClaimsReply.ENDED);
	}

	EndClaimsReply endClaims(long untilMillis) {
		return store().endClaims(this.id, this.epoch, untilMillis);
	}

	HeartbeatReply.Alive resign() {
		return beat(false);
	}

	long epoch() {
		return this.epoch;
	}

	public PlanReply plan(Transition... transitions) {
		return store().applyPlan(this.id, this.epoch, List.of(transitions));
	}

	/** Gives a free or new shard to a member. */
	public Ownership assign(ShardId shard, TestMember owner) {
		long generation = this.group.generationOf(shard);
		assertThat(plan(new Transition.Assign(shard, generation, owner.id))).isEqualTo(new PlanReply.Applied(1, 0));
		return this.group.shard(shard);
	}

	/** Asks the owner to release a shard, in favour of a target or of nobody. */
	public Ownership revoke(ShardId shard, TestMember target) {
		long generation = this.group.generationOf(shard);
		assertThat(plan(new Transition.Revoke(shard, generation, (target != null) ? target.id : null)))
			.isEqualTo(new PlanReply.Applied(1, 0));
		return this.group.shard(shard);
	}

	PlanReply retarget(ShardId shard, TestMember target) {
		return plan(
				new Transition.Retarget(shard, this.group.generationOf(shard), (target != null) ? target.id : null));
	}

	PlanReply cancel(ShardId shard) {
		return plan(new Transition.Cancel(shard, this.group.generationOf(shard)));
	}

	ReleaseReply release(ShardId shard) {
		return release(this.group.shard(shard), Token.NONE);
	}

	public ReleaseReply release(ShardId shard, Duration quietPeriod) {
		Ownership released = this.group.shard(shard);
		return release(new HoldingAction.Release(shard, released.token(), Token.NONE, false), quietPeriod);
	}

	/** Gives a shard up for ever. */
	ReleaseReply complete(ShardId shard) {
		Ownership completed = this.group.shard(shard);
		return release(new HoldingAction.Release(shard, completed.token(), Token.NONE, true), Duration.ZERO);
	}

	ReleaseReply release(HoldingAction.Release release, Duration quietPeriod) {
		return store().releaseShards(this.id, List.of(release), quietPeriod).get(0);
	}

	Set<ShardId> claim(Ownership... held) {
		return store().claimShards(this.id, tokens(held)).granted();
	}

	/** Presents what it held before its lease ended. */
	ClaimReply present(Ownership... held) {
		return store().presentShards(this.id, tokens(held));
	}

	private static Map<ShardId, Token> tokens(Ownership... held) {
		Map<ShardId, Token> tokens = new LinkedHashMap<>();
		for (Ownership shard : held) {
			tokens.put(shard.shard(), shard.token());
		}
		return tokens;
	}

	ReleaseReply release(Ownership shard, Token tokenFloor) {
		return release(new HoldingAction.Release(shard.shard(), shard.token(), tokenFloor, false), Duration.ZERO);
	}

	/** Searches for dead members as a leader that was always answered. */
	ReapReply.Looked reap() {
		return reap(0);
	}

	ReapReply.Looked reap(long steadySinceMillis) {
		return reap(new SteadyTime(steadySinceMillis, Long.MAX_VALUE, this.setBacks));
	}

	ReapReply.Looked reap(SteadyTime steady) {
		ReapReply reply = store().reapMembers(this.id, this.epoch, steady, Duration.ZERO);
		assertThat(reply).isInstanceOf(ReapReply.Looked.class);
		return (ReapReply.Looked) reply;
	}

	/**
	 * Searches for dead members until one is found: that a subscription was closed may
	 * take a moment to be known.
	 */
	ReapReply.Looked reapDead() {
		ReapReply.Looked reply = reap();
		for (int looks = 0; reply.dead().isEmpty() && looks < 5_000; looks++) {
			this.group.advance(Duration.ofMillis(1));
			reply = reap();
		}
		return reply;
	}

	/** Searches until nothing is left to do; returns the members that timed out. */
	List<MemberId> reapToTheEnd() {
		List<MemberId> timedOut = new ArrayList<>();
		ReapReply.Looked reply;
		do {
			reply = reap();
			timedOut.addAll(reply.timedOut());
		}
		while (reply.nextLookMillis() != 0);
		return timedOut;
	}

	ReapReply.Looked reapWithQuietPeriod(Duration crashQuietPeriod) {
		return (ReapReply.Looked) store().reapMembers(this.id, this.epoch,
				new SteadyTime(0, Long.MAX_VALUE, this.setBacks), crashQuietPeriod);
	}

	void announceLeave() {
		store().announceLeave(this.id);
	}

	void announceRestart() {
		store().announceRestart(this.id);
	}

	void leaveForRestart(Duration awayTimeout) {
		store().leaveForRestart(this.id, Duration.ZERO, awayTimeout);
	}

	/** Joins only if no other process runs under its instance id. */
	void joinAlone(Duration lease) {
		store().joinGroup(this.id, this.description, lease, lease.multipliedBy(2), Duration.ZERO, true);
	}

	public void leave() {
		leave(Duration.ZERO);
	}

	void leave(Duration quietPeriod) {
		store().leaveGroup(this.id, quietPeriod);
	}

	/** Closes its subscription, as the kernel does for a dead process. */
	void disconnect() {
		this.subscription.close();
	}

	void assertNotified() {
		assertNotified(1);
	}

	/**
	 * Waits for notifications. Stories count each one of a member that they watch, so
	 * that none is on its way when they claim that there was none.
	 */
	void assertNotified(int times) {
		try {
			assertThat(this.bell.tryAcquire(times, 10, TimeUnit.SECONDS)).as("%s was notified", this.id).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
		assertNotNotified();
	}

	void assertNotNotified() {
		assertThat(this.bell.availablePermits()).as("further notifications of %s", this.id).isZero();
	}

	private CoordinationStore store() {
		return this.group.store();
	}

}
