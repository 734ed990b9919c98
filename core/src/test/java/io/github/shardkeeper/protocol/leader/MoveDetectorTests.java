package io.github.shardkeeper.protocol.leader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HandoverRules.OnTimeout;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.MoveReason;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

class MoveDetectorTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private MoveDetector detector = new MoveDetector(HandoverRules.DEFAULT, (shard) -> this.asked);

	private final Map<MemberId, GroupMember> members = new LinkedHashMap<>();

	private GroupPicture picture = new GroupPicture();

	private long generation;

	private long membership;

	private long nowMillis = 1_000_000;

	private boolean claiming;

	private @Nullable String asked;

	@Test
	void newShardHasAFirstOwner() {
		join(A, "1");
		read();

		List<ShardMove> moves = read(owned(A, 10));

		assertThat(moves).containsExactly(new ShardMove(SHARD, null, A, new Token(10), MoveCause.FIRST_OWNER,
				this.nowMillis, this.nowMillis, this.nowMillis));
	}

	@Test
	void moveToANewMemberHasThePhasesOfItsHandover() {
		join(A, "1");
		read(owned(A, 10));
		long planned = pass(500);
		join(B, "1");
		assertThat(read(revoking(A, 10, B))).isEmpty();
		long released = pass(70);
		assertThat(read(quiet(10, B))).isEmpty();
		long assigned = pass(30);

		assertThat(read(owned(B, 20))).containsExactly(move(MoveCause.JOIN, planned, released, assigned));
	}

	@Test
	void newTargetOfAMoveDoesNotChangeWhenItWasPlanned() {
		join(A, "1");
		join(B, "1");
		read(owned(A, 10));
		long planned = pass(10);
		read(revoking(A, 10, B));
		pass(1000);
		read(revoking(A, 10, null));
		pass(10);

		assertThat(read(owned(B, 20))).extracting(ShardMove::plannedMillis).containsExactly(planned);
	}

	@Test
	void directMoveIsFoundToo() {
		join(A, "1");
		join(B, "1");
		read(owned(A, 10));
		pass(60_000);

		assertThat(read(owned(B, 20)))
			.containsExactly(move(MoveCause.REBALANCE, this.nowMillis, this.nowMillis, this.nowMillis));
	}

	@Test
	void memberThatJoinedLongAgoIsNoCause() {
		join(A, "1");
		read(owned(A, 10));
		join(B, "1");
		read();
		pass(60_000);

		assertThat(read(owned(B, 20))).extracting(ShardMove::cause).containsExactly(MoveCause.REBALANCE);
	}

	@Test
	void shardOfALeavingMemberMovesBecauseItLeaves() {
		join(A, "1");
		join(B, "1");
		read(owned(A, 10));
		this.members.put(A, new GroupMember(A, description("1"), true));
		this.membership++;
		read(revoking(A, 10, B));
		this.members.remove(A);
		this.membership++;

		assertThat(read(owned(B, 20))).extracting(ShardMove::cause).containsExactly(MoveCause.LEAVE);
	}

	@Test
	void shardOfAReapedMemberMovesBecauseItCrashed() {
		join(A, "1");
		join(B, "1");
		read(owned(A, 10));
		this.detector.reaped(List.of(A));
		this.members.remove(A);
		this.membership++;
		long lost = pass(3000);
		assertThat(read(free(10))).isEmpty();
		long assigned = pass(20);

		assertThat(read(owned(B, 20))).containsExactly(move(MoveCause.CRASH, lost, lost, assigned));
	}

	@Test
	void moveToANewerVersionIsADeployment() {
		join(A, "1.0");
		read(owned(A, 10));
		join(B, "1.1");
		this.members.put(A, new GroupMember(A, description("1.0"), true));
		read(revoking(A, 10, B));
		this.members.remove(A);
		this.membership++;

		assertThat(read(owned(B, 20))).extracting(ShardMove::cause).containsExactly(MoveCause.DEPLOY);
	}

	@Test
	void cancelledMoveAndAClaimAreNoMoves() {
		join(A, "1");
		join(B, "1");
		read(owned(A, 10));
		read(revoking(A, 10, B));
		assertThat(read(owned(A, 10))).isEmpty();
		MemberId again = MemberId.of("a", "2");
		join(again, "1");
		assertThat(read(owned(again, 10))).isEmpty();
	}

	@Test
	void completedShardHasNoNextOwnerAndIsReportedOnce() {
		join(A, "1");
		read(owned(A, 10));

		assertThat(read(completed(10))).extracting(ShardMove::from, ShardMove::to, ShardMove::cause)
			.containsExactly(tuple(A, null, MoveCause.COMPLETED));
		assertThat(read(completed(10))).isEmpty();
	}

	@Test
	void olderTokensAreNoMoves() {
		join(A, "1");
		join(B, "1");
		read(owned(B, 20));

		assertThat(read(owned(A, 10))).isEmpty();
	}

	@Test
	void whatANewLeaderReadsFirstIsNoMove() {
		join(A, "1");
		join(B, "1");
		read();
		assertThat(read(owned(A, 10))).hasSize(1);
		this.detector.reset();
		this.picture = new GroupPicture();
		assertThat(read(revoking(A, 10, B))).isEmpty();
		long released = pass(40);

		assertThat(read(owned(B, 20))).extracting(ShardMove::from, ShardMove::releasedMillis)
			.containsExactly(tuple(A, released));
	}

	@Test
	void ownerThatWasLostWhileNobodyLedIsUnknown() {
		join(B, "1");
		read(free(10));

		assertThat(read(owned(B, 20))).extracting(ShardMove::from, ShardMove::cause)
			.containsExactly(tuple(null, MoveCause.UNKNOWN));
	}

	@Test
	void whatHasChangedBeforeANewLeaderReadsMayBeAMoveThatNobodyHasSeen() {
		join(A, "1");
		Ownership old = owned(A, 10);
		long assigned = pass(60_001);

		List<ShardMove> moves = read(old, new Ownership(ShardId.of("orders", 1), Phase.OWNED, new Token(20), B, null,
				++this.generation, assigned, 0));

		assertThat(moves).containsExactly(new ShardMove(ShardId.of("orders", 1), null, B, new Token(20),
				MoveCause.UNKNOWN, assigned, assigned, assigned));
		assertThat(moves).allMatch(ShardMove::isUncertain);
	}

	@Test
	void shardsThatMembersClaimHaveNotMoved() {
		join(A, "1");
		this.claiming = true;
		assertThat(read(owned(A, 10))).isEmpty();
		assertThat(read(new Ownership(ShardId.of("orders", 1), Phase.OWNED, new Token(9), B, null, ++this.generation,
				this.nowMillis, 0)))
			.isEmpty();
		this.claiming = false;
		join(B, "1");

		assertThat(read(owned(B, 20))).extracting(ShardMove::from, ShardMove::formerToken)
			.containsExactly(tuple(A, new Token(10)));
	}

	@Test
	void plannedMoveHasTheReasonOfItsPlan() {
		join(A, "1");
		read(owned(A, 10));
		join(B, "1");
		read();
		plan(Reason.SHARE, B, null);
		read(revoking(A, 10, B));

		assertThat(read(owned(B, 20))).extracting(ShardMove::cause, ShardMove::why)
			.containsExactly(tuple(MoveCause.JOIN, Reason.SHARE.text()));
	}

	/** A newer version is not the reason, although the new owner has one. */
	@Test
	void planDecidesTheCauseAndNotWhatTheMembersAre() {
		join(A, "1.0");
		join(B, "1.1");
		read(owned(A, 10));
		pass(60_000);
		plan(Reason.ZONE, B, null);

		assertThat(read(owned(B, 20))).extracting(ShardMove::cause).containsExactly(MoveCause.REBALANCE);
		plan(Reason.NEWER_VERSION, A, "own words");
		assertThat(read(owned(A, 30))).extracting(ShardMove::cause, ShardMove::why)
			.containsExactly(tuple(MoveCause.DEPLOY, "own words"));
	}

	@Test
	void planForAnotherMemberIsNoReason() {
		join(A, "1");
		join(B, "1");
		read(owned(A, 10));
		plan(Reason.SHARE, A, null);

		assertThat(read(owned(B, 20))).extracting(ShardMove::why).containsOnlyNulls();
	}

	/** The plan only says that the shard had no owner. */
	@Test
	void crashIsTheCauseWhateverIsPlanned() {
		join(A, "1");
		join(B, "1");
		read(owned(A, 10));
		plan(Reason.SHARE, B, null);
		this.detector.reaped(List.of(A));
		this.members.remove(A);
		this.membership++;
		read(free(10));
		plan(Reason.PLACED, B, null);

		assertThat(read(owned(B, 20))).extracting(ShardMove::cause).containsExactly(MoveCause.CRASH);
	}

	@Test
	void shardThatIsReleasedAtTheTimeoutIsTakenByForce() {
		for (OnTimeout onTimeout : OnTimeout.values()) {
			this.detector = new MoveDetector(
					new HandoverRules(Duration.ofSeconds(2), onTimeout, Duration.ZERO, Duration.ZERO, 0),
					(shard) -> null);
			this.picture = new GroupPicture();
			join(A, "1");
			join(B, "1");
			read(owned(A, 10));
			read(revoking(A, 10, B));
			pass(1_999);
			assertThat(read(owned(B, 20))).extracting(ShardMove::cause).doesNotContain(MoveCause.FORCE);
			read(revoking(B, 20, A));
			pass(2_000);

			assertThat(read(owned(A, 30))).extracting(ShardMove::cause)
				.containsExactly((onTimeout == OnTimeout.FORCE) ? MoveCause.FORCE : MoveCause.REBALANCE);
		}
	}

	@Test
	void moveThatSomebodyHasAskedForIsManualAndNamesThem() {
		join(A, "1.0");
		read(owned(A, 10));
		join(B, "1.1");
		this.asked = "zoë";
		plan(Reason.PINNED, B, "pinned to this instance by zoë");
		read(revoking(A, 10, B));

		assertThat(read(owned(B, 20))).extracting(ShardMove::cause, ShardMove::by, ShardMove::why)
			.containsExactly(tuple(MoveCause.MANUAL, "zoë", "pinned to this instance by zoë"));
		this.asked = "";
		plan(Reason.PINNED, A, null);
		assertThat(read(owned(A, 30))).extracting(ShardMove::cause, ShardMove::by)
			.containsExactly(tuple(MoveCause.MANUAL, null));
	}

	private void plan(Reason reason, MemberId owner, @Nullable String words) {
		this.detector.planned(Map.of(SHARD, new MoveReason(reason, owner, null, words)));
	}

	private static ShardMove move(MoveCause cause, long planned, long released, long assigned) {
		return new ShardMove(SHARD, A, B, new Token(20), new Token(10), cause, planned, released, assigned, null, null);
	}

	private void join(MemberId member, String version) {
		this.members.put(member, new GroupMember(member, description(version), false));
		this.membership++;
	}

	private static MemberDescription description(String version) {
		return new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(1))),
				new ApplicationVersion(version), 1, null, "sticky");
	}

	private long pass(long millis) {
		this.nowMillis += millis;
		return this.nowMillis;
	}

	private List<ShardMove> read(Ownership... ownerships) {
		List<GroupMember> list = (this.membership != this.picture.membership()) ? new ArrayList<>(this.members.values())
				: null;
		GroupChanges changes = new GroupChanges(A, 1, this.generation, this.membership, list,
				Arrays.asList(ownerships));
		List<ShardMove> moves = this.detector.groupRead(this.picture, changes, this.claiming, this.nowMillis);
		this.picture.apply(changes);
		return moves;
	}

	private Ownership owned(MemberId owner, long token) {
		return ownership(Phase.OWNED, owner, null, token);
	}

	private Ownership revoking(MemberId owner, long token, @Nullable MemberId target) {
		return ownership(Phase.REVOKING, owner, target, token);
	}

	private Ownership quiet(long token, MemberId target) {
		return ownership(Phase.QUIET, null, target, token);
	}

	private Ownership free(long token) {
		return ownership(Phase.FREE, null, null, token);
	}

	private Ownership completed(long token) {
		return ownership(Phase.COMPLETED, null, null, token);
	}

	private Ownership ownership(Phase phase, @Nullable MemberId owner, @Nullable MemberId target, long token) {
		return new Ownership(SHARD, phase, new Token(token), owner, target, ++this.generation, this.nowMillis, 0);
	}

}
