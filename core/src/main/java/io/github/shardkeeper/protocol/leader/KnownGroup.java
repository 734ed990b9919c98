package io.github.shardkeeper.protocol.leader;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ListedShards;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The group as the leader has read it, and when it has to be read again: the picture, the
 * load reports, the moves found in the changes, and the shards that nobody consumes.
 * Confined to the coordinator's loop.
 */
final class KnownGroup {

	private final LoadReports loads;

	private final MoveDetector moves;

	private final UnattendedShards.Finder unattended;

	private Map<String, TopicShards> ownTopics = Map.of();

	private Set<String> drained = Set.of();

	private GroupPicture picture = new GroupPicture();

	/** The last picture that was read in this leadership. */
	private GroupPicture lastRead = this.picture;

	private boolean readDue;

	KnownGroup(Duration lease, HandoverRules rules, Requests requests, @Nullable LoadReporting loads) {
		this.loads = new LoadReports(loads);
		this.moves = new MoveDetector(rules, requests::askedBy);
		this.unattended = new UnattendedShards.Finder(lease, rules.timeout());
	}

	GroupPicture picture() {
		return this.picture;
	}

	LoadReports loads() {
		return this.loads;
	}

	void elected(long storeMillis) {
		this.unattended.elected(storeMillis);
		this.loads.reset();
		this.moves.reset();
	}

	void deposed() {
		this.readDue = false;
		this.loads.reset();
	}

	/** Has the whole group read. */
	void forget() {
		this.picture = newPicture();
		this.readDue = true;
	}

	private GroupPicture newPicture() {
		GroupPicture created = new GroupPicture();
		created.drain(this.drained);
		return created;
	}

	/** Has the changes of the group read. */
	void readChanges() {
		this.readDue = true;
	}

	boolean isReadDue() {
		return this.readDue;
	}

	LeaderAction read() {
		return new LeaderAction.ReadGroup(this.picture.generation(), this.picture.membership());
	}

	void heartbeatAnswered(HeartbeatReply.Alive reply, MonotonicTime sentAt) {
		this.loads.told(reply.loads(), sentAt);
		this.readDue |= !this.picture.isRead() || reply.generation() > this.picture.generation()
				|| reply.membership() > this.picture.membership();
	}

	/** Takes in changes; returns the moves in them. */
	List<ShardMove> changesRead(GroupChanges changes, boolean claiming, long storeMillis) {
		List<ShardMove> found = this.moves.groupRead(this.lastRead, changes, claiming, storeMillis);
		if (changes.whole()) {
			this.picture = newPicture();
		}
		this.picture.apply(changes);
		this.lastRead = this.picture;
		this.picture.update(this.ownTopics);
		this.readDue = false;
		return found;
	}

	void movesPlanned(LeaderEvent.MovesPlanned planned) {
		this.moves.planned(planned.reasons());
	}

	void reaped(ReapReply.Looked looked) {
		this.moves.reaped(looked.dead());
		this.moves.reaped(looked.timedOut());
	}

	void shardsChanged(Map<String, TopicShards> topics) {
		this.ownTopics = topics;
	}

	/** Sets the instances whose members get no shards. */
	void drain(Set<String> instances) {
		this.drained = instances;
		this.picture.drain(instances);
	}

	/** Returns the picture for a plan: with this member's topics, at a time. */
	GroupPicture pictureAt(long storeMillis) {
		this.picture.update(this.ownTopics);
		this.picture.timePassed(storeMillis);
		return this.picture;
	}

	void listed(Map<String, ListedShards> listed) {
		this.unattended.listed(listed);
	}

	UnattendedShards unattended(StoreContinuity continuity) {
		return this.unattended.find(this.picture, continuity.lastStoreMillis(), continuity.lastAnswered());
	}

}
