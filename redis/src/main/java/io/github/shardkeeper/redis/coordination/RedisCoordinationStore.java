package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.ConcurrentHashMap;

import io.lettuce.core.codec.StringCodec;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore.ClaimReply;
import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.coordination.store.ForgetReply;
import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.coordination.store.InstanceInUseException;
import io.github.shardkeeper.coordination.store.SettingsStore;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
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
import io.github.shardkeeper.redis.MinReplicasCheck;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.RedisVerification;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.ReplicatedLink;
import io.github.shardkeeper.redis.ServerCheck;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableLogger;

import static io.github.shardkeeper.redis.coordination.ScriptRunner.flag;
import static io.github.shardkeeper.redis.coordination.ScriptRunner.millis;
import static io.github.shardkeeper.redis.coordination.ScriptRunner.number;

/**
 * Control plane of one group on Redis, under <code>&lt;prefix&gt;:{&lt;group&gt;}</code>,
 * in one slot. {@code control.lua} lists the keys and what happens when one is missing.
 * Each method runs one script, in batches where it is long. Thread-safe.
 */
public final class RedisCoordinationStore implements CoordinationStore {

	private static final Logger logger = PrintableLogger.of(RedisCoordinationStore.class);

	/** Maximum number of shards that one script returns, within few milliseconds. */
	private static final int READ_AT_ONCE = 500;

	/** Maximum number of shards that one script changes; it notifies members, too. */
	private static final int WRITTEN_AT_ONCE = 50;

	/** Maximum number of shards, times members, that one script forgets. */
	private static final int CONCERNS_FORGOTTEN_AT_ONCE = 5000;

	private final RedisConnector connector;

	private final RedisLink<String> link;

	private final ReplicatedLink<String> ownership;

	private final MinReplicasCheck minReplicas;

	private final Duration timeout;

	private final String group;

	private final GroupKeys keys;

	private final RedisDiagnostics diagnostics;

	private final RedisDirectives directives;

	private final RedisSettings settings;

	private final ControlScripts scripts;

	private final ScriptRunner runner;

	private final ChangesReader reader;

	private final int readAtOnce;

	private final int writtenAtOnce;

	/** Whether a Redis without the group's keys counts as one that never had them. */
	private final boolean trustsEmpty;

	/** The last one of each member; as a rule there is one member. */
	private final Map<MemberId, MemberSubscription> subscriptions = new ConcurrentHashMap<>();

	/**
	 * Whether the last heartbeat was refused, or its reply could not be read, although
	 * Redis may have renewed the session.
	 */
	private volatile boolean heartbeatFailed;

	/** Creates a store that waits for no replicas; connects when it is first used. */
	public RedisCoordinationStore(RedisConnector connector, String keyPrefix, String group, Duration timeout) {
		this(connector, keyPrefix, group, timeout, ReplicaWait.NONE);
	}

	/** Creates a store that waits for replicas after each change of ownership. */
	public RedisCoordinationStore(RedisConnector connector, String keyPrefix, String group, Duration timeout,
			ReplicaWait wait) {
		this(connector, keyPrefix, group, timeout, wait, false);
	}

	/**
	 * Creates a store that may take an empty Redis for a new one.
	 * @param trustsEmpty whether the first member of a group that has no keys may assign
	 * shards at once; a Redis that was emptied while members consume looks the same, and
	 * a shard may then have two owners for up to a lease
	 */
	public RedisCoordinationStore(RedisConnector connector, String keyPrefix, String group, Duration timeout,
			ReplicaWait wait, boolean trustsEmpty) {
		this(connector, keyPrefix, group, timeout, wait, trustsEmpty, ControlScripts.STANDARD, READ_AT_ONCE,
				WRITTEN_AT_ONCE);
	}

	RedisCoordinationStore(RedisConnector connector, String keyPrefix, String group, Duration timeout, ReplicaWait wait,
			boolean trustsEmpty, ControlScripts scripts, int readAtOnce, int writtenAtOnce) {
		this.trustsEmpty = trustsEmpty;
		this.connector = connector;
		this.link = new RedisLink<>(connector, StringCodec.UTF8, timeout);
		this.ownership = new ReplicatedLink<>(connector, this.link, timeout, wait);
		this.minReplicas = new MinReplicasCheck(connector, this.link, wait, timeout);
		this.timeout = timeout;
		this.group = group;
		this.keys = new GroupKeys(this.link, keyPrefix + ":{" + group + "}");
		this.diagnostics = new RedisDiagnostics(connector.dataLink(RedisConnector.DATA_TIMEOUT),
				keyPrefix + ":{" + group + "}");
		this.directives = new RedisDirectives(this.link, this.ownership, keyPrefix + ":{" + group + "}");
		this.settings = new RedisSettings(this.link, connector.refusedOperations(), keyPrefix + ":{" + group + "}");
		this.scripts = scripts;
		this.runner = new ScriptRunner(this.link, this.ownership, this.keys);
		this.reader = new ChangesReader(this.runner, scripts, this.keys, group, readAtOnce);
		this.readAtOnce = readAtOnce;
		this.writtenAtOnce = writtenAtOnce;
	}

	@Override
	public void verify() {
		RedisVerification.verify(this.link);
	}

	@Override
	public GroupDiagnostics diagnostics() {
		return this.diagnostics;
	}

	@Override
	public DirectiveStore directives() {
		return this.directives;
	}

	@Override
	public SettingsStore settings() {
		return this.settings;
	}

	@Override
	public Map<String, String> refusedOperations() {
		return this.connector.refusedOperations().reasons();
	}

	@Override
	public Subscription subscribe(MemberId member, Runnable onEvent) {
		MemberSubscription subscription = new MemberSubscription(onEvent, System::nanoTime);
		subscription.open(this.connector, this.keys.channel(member.value()), this.timeout);
		this.subscriptions.values().removeIf((earlier) -> !earlier.isOpen());
		this.subscriptions.put(member, subscription);
		try {
			this.minReplicas.check();
		}
		catch (Throwable ex) {
			subscription.close();
			throw ex;
		}
		return subscription;
	}

	/** Replicas are checked with every new subscription, which follows the master. */
	@Override
	public List<GroupProblem> setupProblems() {
		List<GroupProblem> problems = new ArrayList<>();
		String durability = this.minReplicas.problem();
		if (durability != null) {
			problems.add(new GroupProblem(false, "durability", durability, ""));
		}
		ServerCheck.Eviction eviction = this.connector.serverCheck().eviction();
		if (eviction != null) {
			problems.add(new GroupProblem(eviction.data(), "eviction", eviction.problem(), ""));
		}
		String clock = this.connector.serverCheck().clockProblem();
		if (clock != null) {
			problems.add(new GroupProblem(false, "clock", clock, ""));
		}
		return problems;
	}

	@Override
	public void joinGroup(MemberId member, MemberDescription description, Duration lease, Duration timeout,
			Duration longestLease, boolean alone) {
		List<Object> reply = this.runner.run(this.scripts.joinGroup(), member.value(), millis(lease), millis(timeout),
				DescriptionFormat.write(description), millis(longestLease), flag(alone), flag(this.trustsEmpty));
		switch ((String) reply.get(0)) {
			case "INUSE" -> throw new InstanceInUseException(new MemberId((String) reply.get(1)));
			case "FORMAT" -> throw new ShardkeeperConfigurationException(
					"The group '%s' in Redis is kept in format %s, but this version of Shardkeeper reads format %s."
						.formatted(this.group, reply.get(1), reply.get(2)),
					"Use the version of Shardkeeper that the group's other members use, or another 'shardkeeper.group'.");
			case "TRUSTED" ->
				logger.warn("Group '{}' has no keys in Redis and is taken for a new one, so its shards are "
						+ "assigned at once: 'shardkeeper.redis.trust-empty' is true. If this Redis was emptied, other "
						+ "instances may still consume them", this.group);
			default -> {
				if (reply.size() > 1) {
					logger
						.error("The keys of group '{}' in Redis did not agree: {}. The group was rebuilt; its members "
								+ "keep their shards. Set 'maxmemory-policy noeviction', and do not change these keys "
								+ "by other means", this.group, ChangesReader.faults(reply));
				}
			}
		}
	}

	@Override
	public void updateDescription(MemberId member, MemberDescription description) {
		this.runner.run(this.scripts.updateDescription(), member.value(), DescriptionFormat.write(description));
	}

	@Override
	public HeartbeatReply heartbeat(MemberId member, Seen seen, boolean candidate, LoadReport load) {
		if (!this.heartbeatFailed) {
			return heartbeat(member, seen, candidate, load, true);
		}
		// A member that cannot read the replies consumes nothing: its session must end.
		HeartbeatReply reply = heartbeat(member, seen, candidate, load, false);
		return (reply instanceof HeartbeatReply.Alive) ? heartbeat(member, seen, candidate, load, true) : reply;
	}

	private HeartbeatReply heartbeat(MemberId member, Seen seen, boolean candidate, LoadReport load, boolean renews) {
		MemberSubscription subscription = this.subscriptions.get(member);
		boolean echo = subscription != null && subscription.wantsEcho();
		long sentAtNanos = System.nanoTime();
		try {
			List<Object> reply = this.runner.run(this.scripts.heartbeat(), member.value(), number(seen.history()),
					number(seen.generation()), flag(candidate), number(this.readAtOnce), load.text(),
					number(seen.earliestMillis()), flag(renews), number(seen.longestLeaseMillis()), flag(echo));
			if (subscription != null && echo && !reply.get(0).equals("EXPIRED")) {
				subscription.echoPublished(sentAtNanos);
			}
			HeartbeatReply read = reply.get(0).equals("EXPIRED") ? new HeartbeatReply.Expired()
					: this.reader.read(() -> new GroupFormatReader(reply, 1).alive());
			this.heartbeatFailed = false;
			return read;
		}
		catch (StoreUnavailableException ex) {
			this.heartbeatFailed |= ex.isRefusal();
			throw ex;
		}
		catch (RuntimeException ex) {
			// The reply cannot be read.
			this.heartbeatFailed = true;
			throw ex;
		}
	}

	@Override
	public GroupChanges readChanges(long afterGeneration, long seenMembership) {
		return readChanges(afterGeneration, seenMembership, () -> {
		});
	}

	@Override
	public GroupChanges readChanges(long afterGeneration, long seenMembership, Runnable onStep) {
		return this.reader.changes(afterGeneration, seenMembership, onStep);
	}

	@Override
	public LoadChanges readLoads(long afterVersion) {
		return this.reader.loads(afterVersion);
	}

	@Override
	public PlanReply applyPlan(MemberId leader, long epoch, List<Transition> transitions) {
		int applied = 0;
		int conflicts = 0;
		// At least one round: an empty plan also shows whether its leader still leads.
		for (int from = 0; from == 0 || from < transitions.size(); from += this.writtenAtOnce) {
			List<String> arguments = new ArrayList<>(List.of(leader.value(), number(epoch)));
			transitions.subList(from, Math.min(from + this.writtenAtOnce, transitions.size()))
				.forEach((transition) -> addArguments(transition, arguments));
			List<Object> reply = this.runner.runDurably(this.scripts.applyPlan(), arguments);
			if (reply.get(0).equals("DEPOSED")) {
				return new PlanReply.Deposed();
			}
			applied += ((Number) reply.get(1)).intValue();
			conflicts += ((Number) reply.get(2)).intValue();
		}
		return new PlanReply.Applied(applied, conflicts);
	}

	@Override
	public EndClaimsReply endClaims(MemberId leader, long epoch, long untilMillis) {
		List<String> arguments = List.of(leader.value(), number(epoch), number(untilMillis));
		return EndClaimsReply.valueOf(this.runner.run(this.scripts.endClaims(), arguments));
	}

	@Override
	public boolean publishProblems(MemberId leader, long epoch, GroupProblems problems) {
		List<Object> reply = this.runner.run(this.scripts.publishProblems(), leader.value(), number(epoch),
				problems.text());
		return reply.get(0).equals("PUBLISHED");
	}

	private static void addArguments(Transition transition, List<String> arguments) {
		String action;
		MemberId member;
		if (transition instanceof Transition.Assign assign) {
			action = "ASSIGN";
			member = assign.owner();
		}
		else if (transition instanceof Transition.Revoke revoke) {
			action = "REVOKE";
			member = revoke.target();
		}
		else if (transition instanceof Transition.Retarget retarget) {
			action = "RETARGET";
			member = retarget.target();
		}
		else {
			action = "CANCEL";
			member = null;
		}
		Collections.addAll(arguments, action, transition.shard().toString(), number(transition.expectedGeneration()),
				(member != null) ? member.value() : "");
	}

	@Override
	public List<ReleaseReply> releaseShards(MemberId owner, List<HoldingAction.Release> releases,
			Duration quietPeriod) {
		List<ReleaseReply> replies = new ArrayList<>(releases.size());
		for (int from = 0; from < releases.size(); from += this.writtenAtOnce) {
			List<String> arguments = new ArrayList<>(List.of(owner.value(), millis(quietPeriod)));
			releases.subList(from, Math.min(from + this.writtenAtOnce, releases.size()))
				.forEach((release) -> Collections.addAll(arguments, release.shard().toString(),
						release.token().toString(), release.tokenFloor().toString(), flag(release.completed())));
			List<Object> names = this.runner.runDurably(this.scripts.releaseShards(), arguments);
			names.forEach((name) -> replies.add(ReleaseReply.valueOf((String) name)));
		}
		return replies;
	}

	@Override
	public ClaimReply claimShards(MemberId member, Map<ShardId, Token> held) {
		return claim(member, held, "HELD");
	}

	@Override
	public ClaimReply presentShards(MemberId member, Map<ShardId, Token> held) {
		return claim(member, held, "PRESENTED");
	}

	private ClaimReply claim(MemberId member, Map<ShardId, Token> held, String how) {
		Set<ShardId> granted = new LinkedHashSet<>();
		Set<ShardId> superseded = new LinkedHashSet<>();
		List<Map.Entry<ShardId, Token>> entries = List.copyOf(held.entrySet());
		for (int from = 0; from < entries.size(); from += this.writtenAtOnce) {
			List<String> arguments = new ArrayList<>(List.of(member.value(), how));
			entries.subList(from, Math.min(from + this.writtenAtOnce, entries.size()))
				.forEach((entry) -> Collections.addAll(arguments, entry.getKey().toString(),
						entry.getValue().toString()));
			List<Object> replies = this.runner.runDurably(this.scripts.claimShards(), arguments);
			for (int i = 0; i < replies.size(); i++) {
				ShardId shard = entries.get(from + i).getKey();
				switch ((String) replies.get(i)) {
					case "GRANTED" -> granted.add(shard);
					case "SUPERSEDED" -> superseded.add(shard);
					default -> {
					}
				}
			}
		}
		return new ClaimReply(granted, superseded);
	}

	@Override
	public void notifyOwners(Collection<ShardId> shards) {
		List<String> names = shards.stream().map(ShardId::toString).toList();
		for (int from = 0; from < names.size(); from += this.writtenAtOnce) {
			// A failover must not lose it while it keeps the request it announces.
			this.runner.runDurably(this.scripts.notifyOwners(),
					names.subList(from, Math.min(from + this.writtenAtOnce, names.size())));
		}
	}

	@Override
	public ReapReply reapMembers(MemberId leader, long epoch, SteadyTime steady, Duration crashQuietPeriod) {
		List<Object> reply = this.runner.runDurably(this.scripts.reapMembers(),
				List.of(leader.value(), number(epoch), number(steady.sinceMillis()), millis(crashQuietPeriod),
						number(this.writtenAtOnce), number(steady.untilMillis()), number(steady.setBacks())));
		if (reply.get(0).equals("DEPOSED")) {
			return new ReapReply.Deposed();
		}
		List<MemberId> dead = new ArrayList<>();
		List<MemberId> timedOut = new ArrayList<>();
		List<MemberId> slow = new ArrayList<>();
		for (int i = 2; i < reply.size(); i += 2) {
			List<MemberId> verdict = switch ((String) reply.get(i)) {
				case "DEAD" -> dead;
				case "TIMEDOUT" -> timedOut;
				default -> slow;
			};
			verdict.add(new MemberId((String) reply.get(i + 1)));
		}
		return new ReapReply.Looked(dead, timedOut, slow, Long.parseLong((String) reply.get(1)));
	}

	@Override
	public ForgetReply forgetShards(String topic) {
		int forgotten = 0;
		while (true) {
			GroupChanges group = readChanges(0, -1);
			SortedSet<MemberId> users = ForgetReply.users(topic, group);
			if (!users.isEmpty()) {
				return new ForgetReply(forgotten, Token.NONE, users);
			}
			List<ShardId> shards = ForgetReply.shards(topic, group);
			int members = (group.members() != null) ? group.members().size() : 0;
			int atOnce = forgottenAtOnce(this.writtenAtOnce, members);
			String membership = number(group.membership());
			Token newest = null;
			// At least one round, which returns the token.
			for (int from = 0; from == 0 || from < shards.size(); from += atOnce) {
				List<String> arguments = new ArrayList<>(List.of(membership));
				shards.subList(from, Math.min(from + atOnce, shards.size()))
					.forEach((shard) -> arguments.add(shard.toString()));
				List<Object> reply = this.runner.runDurably(this.scripts.forgetShards(), arguments);
				this.reader.requireWhole(reply);
				if (reply.get(0).equals("UNSURE")) {
					throw ForgetReply.claimsOpen(topic);
				}
				if (reply.get(0).equals("CHANGED")) {
					newest = null;
					break;
				}
				forgotten += ((Number) reply.get(1)).intValue();
				membership = (String) reply.get(2);
				newest = new Token(Long.parseLong((String) reply.get(3)));
			}
			if (newest != null) {
				// Also if no shard was left: an earlier call may have failed here.
				this.diagnostics.removeAll(GroupDiagnostics.Kind.REASONS, topic + "/");
				return new ForgetReply(forgotten, newest, Collections.emptySortedSet());
			}
		}
	}

	static int forgottenAtOnce(int writtenAtOnce, int members) {
		return Math.max(1, Math.min(writtenAtOnce, CONCERNS_FORGOTTEN_AT_ONCE / (members + 1)));
	}

	@Override
	public void announceLeave(MemberId member) {
		// Changes no ownership: does not wait for replicas.
		this.runner.run(this.scripts.leaveGroup(), leaveArguments(member, "ANNOUNCE", Duration.ZERO, Duration.ZERO));
	}

	@Override
	public void announceRestart(MemberId member) {
		this.runner.run(this.scripts.leaveGroup(), leaveArguments(member, "RESTART", Duration.ZERO, Duration.ZERO));
	}

	@Override
	public void leaveForRestart(MemberId member, Duration quietPeriod, Duration awayTimeout) {
		this.runner.runDurably(this.scripts.leaveGroup(), leaveArguments(member, "END", quietPeriod, awayTimeout));
	}

	@Override
	public void leaveGroup(MemberId member, Duration quietPeriod) {
		this.runner.runDurably(this.scripts.leaveGroup(), leaveArguments(member, "END", quietPeriod, Duration.ZERO));
	}

	private List<String> leaveArguments(MemberId member, String step, Duration quietPeriod, Duration awayTimeout) {
		return List.of(member.value(), step, millis(quietPeriod), number(this.writtenAtOnce), millis(awayTimeout));
	}

	@Override
	public void close() {
		this.ownership.close();
		this.link.close();
	}

}
