package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.CoordinationStore.ClaimReply;
import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * One member's way to a store, which can be cut. Thread-safe.
 */
public class ForwardingStore implements CoordinationStore {

	private final CoordinationStore store;

	private volatile boolean away;

	/** Knowledge of the member when it joined last. */
	public volatile Duration longestLease = Duration.ZERO;

	public ForwardingStore(CoordinationStore store) {
		this.store = store;
	}

	/** Whether every call fails as if the store could not be reached. */
	public void setAway(boolean away) {
		this.away = away;
	}

	protected final CoordinationStore reach() {
		if (this.away) {
			throw new StoreUnavailableException("away, caused by the test", new IllegalStateException());
		}
		return this.store;
	}

	@Override
	public GroupDiagnostics diagnostics() {
		return this.away ? GroupDiagnostics.NONE : this.store.diagnostics();
	}

	@Override
	public SettingsStore settings() {
		return this.store.settings();
	}

	@Override
	public void verify() {
		reach().verify();
	}

	@Override
	public DirectiveStore directives() {
		return new DirectiveStore() {
			@Override
			public Directives read() {
				return reach().directives().read();
			}

			@Override
			public Change put(Directive directive) {
				return reach().directives().put(directive);
			}

			@Override
			public Change clear(Kind kind, String subject) {
				return reach().directives().clear(kind, subject);
			}

			@Override
			public boolean complete(MemberId leader, long epoch, Collection<Directive> requests) {
				return reach().directives().complete(leader, epoch, requests);
			}
		};
	}

	@Override
	public Subscription subscribe(MemberId member, Runnable onEvent) {
		return reach().subscribe(member, onEvent);
	}

	@Override
	public void announceRestart(MemberId member) {
		reach().announceRestart(member);
	}

	@Override
	public void leaveForRestart(MemberId member, Duration quietPeriod, Duration awayTimeout) {
		reach().leaveForRestart(member, quietPeriod, awayTimeout);
	}

	@Override
	public void joinGroup(MemberId member, MemberDescription description, Duration lease, Duration timeout,
			Duration longestLease, boolean alone) {
		this.longestLease = longestLease;
		reach().joinGroup(member, description, lease, timeout, longestLease, alone);
	}

	@Override
	public void updateDescription(MemberId member, MemberDescription description) {
		reach().updateDescription(member, description);
	}

	@Override
	public HeartbeatReply heartbeat(MemberId member, Seen seen, boolean candidate, LoadReport load) {
		return reach().heartbeat(member, seen, candidate, load);
	}

	@Override
	public LoadChanges readLoads(long afterVersion) {
		return reach().readLoads(afterVersion);
	}

	@Override
	public GroupChanges readChanges(long afterGeneration, long seenMembership) {
		return reach().readChanges(afterGeneration, seenMembership);
	}

	@Override
	public GroupChanges readChanges(long afterGeneration, long seenMembership, Runnable onStep) {
		return reach().readChanges(afterGeneration, seenMembership, onStep);
	}

	@Override
	public PlanReply applyPlan(MemberId leader, long epoch, List<Transition> transitions) {
		return reach().applyPlan(leader, epoch, transitions);
	}

	@Override
	public EndClaimsReply endClaims(MemberId leader, long epoch, long untilMillis) {
		return reach().endClaims(leader, epoch, untilMillis);
	}

	@Override
	public boolean publishProblems(MemberId leader, long epoch, GroupProblems problems) {
		return reach().publishProblems(leader, epoch, problems);
	}

	@Override
	public List<ReleaseReply> releaseShards(MemberId owner, List<HoldingAction.Release> releases,
			Duration quietPeriod) {
		return reach().releaseShards(owner, releases, quietPeriod);
	}

	@Override
	public ClaimReply claimShards(MemberId member, Map<ShardId, Token> held) {
		return reach().claimShards(member, held);
	}

	@Override
	public ClaimReply presentShards(MemberId member, Map<ShardId, Token> held) {
		return reach().presentShards(member, held);
	}

	@Override
	public void notifyOwners(Collection<ShardId> shards) {
		reach().notifyOwners(shards);
	}

	@Override
	public ReapReply reapMembers(MemberId leader, long epoch, SteadyTime steady, Duration crashQuietPeriod) {
		return reach().reapMembers(leader, epoch, steady, crashQuietPeriod);
	}

	@Override
	public ForgetReply forgetShards(String topic) {
		return reach().forgetShards(topic);
	}

	@Override
	public void announceLeave(MemberId member) {
		reach().announceLeave(member);
	}

	@Override
	public void leaveGroup(MemberId member, Duration quietPeriod) {
		reach().leaveGroup(member, quietPeriod);
	}

	@Override
	public void close() {
	}

}
