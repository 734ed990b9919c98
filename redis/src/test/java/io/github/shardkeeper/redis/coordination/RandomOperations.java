package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.CoordinationStore.ClaimReply;
import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.coordination.store.ForgetReply;
import io.github.shardkeeper.coordination.store.InstanceInUseException;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;

/**
 * Does one random thing after another to a pair of stores: mostly what members would do,
 * often with what they knew a while ago, sometimes with what nobody ever knew. The same
 * seed does the same. Confined to the test's thread.
 */
final class RandomOperations {

	private static final Duration LEASE = Duration.ofSeconds(3);

	private static final Duration TIMEOUT = Duration.ofSeconds(8);

	/** Which no member says that it consumes. */
	private static final String RETIRED = "retired";

	private final Random random;

	private final StorePair stores;

	private final RandomDataOperations data;

	/** Number of times each outcome was seen: one that never occurs is not compared. */
	private final Map<String, Integer> outcomes = new TreeMap<>();

	private final List<MemberId> members = new ArrayList<>();

	private final Map<MemberId, Seen> seen = new HashMap<>();

	private long setBacks;

	/**
	 * Current and former ownerships with their tokens: members may hold them, or believe
	 * so.
	 */
	private final List<Ownership> everOwned = new ArrayList<>();

	private GroupChanges picture;

	private List<Object> snapshot;

	private int sessions;

	private long loadsSeen;

	private int done;

	private String last = "nothing";

	RandomOperations(long seed, StorePair stores) {
		this.random = new Random(seed);
		this.stores = stores;
		this.data = new RandomDataOperations(this.random, stores, this::log, this::count);
		this.picture = stores.all();
		IntStream.range(0, 6).forEach((i) -> newSession(i));
	}

	Map<String, Integer> outcomes() {
		return this.outcomes;
	}

	/** Last operations, for the message of a failure. */
	String last() {
		return this.last;
	}

	void next() {
		this.done++;
		this.stores.moveClock(step());
		int choice = this.random.nextInt(1000);
		if (choice < 10) {
			describe();
		}
		else if (choice < 300) {
			heartbeat(anyMember());
		}
		else if (choice < 310) {
			forget();
		}
		else if (choice < 330) {
			nudge();
		}
		else if (choice < 530) {
			plan();
		}
		else if (choice < 640) {
			release();
		}
		else if (choice < 680) {
			claim();
		}
		else if (choice < 740) {
			reap();
		}
		else if (choice < 780) {
			readGroup();
		}
		else if (choice < 795) {
			readLoads();
		}
		else if (choice < 800) {
			publish();
		}
		else if (choice < 860) {
			join(this.random.nextInt(this.members.size()));
		}
		else if (choice < 875) {
			announce();
		}
		else if (choice < 885) {
			leave();
		}
		else if (choice < 905) {
			changeSubscription();
		}
		else if (choice < 990) {
			this.data.next(anyShard());
		}
		else {
			disaster();
		}
	}

	private Duration step() {
		int choice = this.random.nextInt(1000);
		if (choice < 940) {
			return Duration.ofNanos(1000L * this.random.nextInt(40_000));
		}
		if (choice < 990) {
			return Duration.ofMillis(this.random.nextInt((int) LEASE.toMillis() * 2));
		}
		if (choice < 995) {
			return Duration.ofSeconds(this.random.nextInt(20));
		}
		count("clock set back");
		return (choice < 999) ? Duration.ofMillis(-this.random.nextInt(10_000)) : Duration.ofDays(-1);
	}

	private void newSession(int slot) {
		MemberId id = MemberId.of("m" + slot, "s" + this.sessions++);
		if (slot < this.members.size()) {
			MemberId before = this.members.set(slot, id);
			while (this.stores.subscriptions(before) > 0) {
				this.stores.closeSubscription(before);
			}
		}
		else {
			this.members.add(id);
		}
		this.seen.put(id, Seen.NOTHING);
		this.stores.subscribe(id);
	}

	private MemberId anyMember() {
		return this.members.get(this.random.nextInt(this.members.size()));
	}

	private void join(int slot) {
		if (this.random.nextInt(3) == 0) {
			newSession(slot);
		}
		MemberId id = this.members.get(slot);
		// Unlike leases too: some rules look at one member's, some at another's.
		Duration lease = (slot == 0) ? LEASE.multipliedBy(2) : LEASE;
		MemberDescription description = new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(slot))),
				ApplicationVersion.UNKNOWN);
		Duration known = (this.random.nextInt(4) == 0) ? LEASE.multipliedBy(3) : Duration.ZERO;
		boolean alone = this.random.nextInt(3) == 0;
		log("join " + id + " " + known + " " + alone);
		count("join " + this.stores.control((store) -> {
			try {
				store.joinGroup(id, description, lease, TIMEOUT, known, alone);
				return "accepted";
			}
			catch (InstanceInUseException ex) {
				return "refused";
			}
		}));
	}

	private void describe() {
		MemberId id = anyMember();
		TopicShards shards = TopicShards.count(this.random.nextInt(20)).with("spare", "0");
		MemberDescription description = new MemberDescription(new TreeMap<>(Map.of("orders", shards)),
				new ApplicationVersion("described"));
		log("describe " + id + " " + shards);
		this.stores.control((store) -> {
			store.updateDescription(id, description);
			return "";
		});
	}

	private void heartbeat(MemberId id) {
		Seen told = this.seen.get(id);
		int choice = this.random.nextInt(100);
		Seen sent = (choice < 4) ? new Seen(told.history(), 0) : (choice < 5)
				? new Seen(told.history(), told.generation() + 1)
				: (choice < 30) ? told.withClock(this.stores.nowMillis() + this.random.nextInt(1_000) - 950) : told;
		boolean candidate = this.random.nextInt(20) > 0;
		LoadReport load = (this.random.nextInt(5) > 0) ? LoadReport.NONE : new LoadReport("load " + this.done);
		countIf(load != LoadReport.NONE, "load reported");
		log("heartbeat " + id + " " + sent + " " + candidate + " " + load);
		HeartbeatReply reply = this.stores.control((store) -> store.heartbeat(id, sent, candidate, load));
		if (!(reply instanceof HeartbeatReply.Alive alive)) {
			count("expired");
			return;
		}
		count("alive");
		countIf(alive.setBacks() > this.setBacks, "set back");
		this.setBacks = alive.setBacks();
		countIf(alive.lost(), "lost");
		countIf(alive.hasMore(), "more to tell");
		countIf(!alive.subscribed(), "not subscribed");
		countIf(alive.claimsUntilMillis() > 0, "claim period");
		countIf(alive.leader() == null, "no leader");
		if (alive.claimsUntilMillis() > 0 && this.random.nextInt(5) == 0) {
			endClaims(alive.claimsUntilMillis());
		}
		if (this.random.nextInt(20) > 0) {
			this.seen.put(id, alive.seen());
		}
	}

	private void readGroup() {
		log("changes");
		this.picture = this.stores.all();
		countIf(!this.picture.away().isEmpty(), "away");
		for (Ownership shard : this.picture.ownerships()) {
			count("phase " + shard.phase());
			countIf(RestartingInstance.keptFor(shard) != null, "kept");
			if (shard.owner() != null && !this.everOwned.contains(shard)) {
				this.everOwned.add(shard);
			}
		}
		while (this.everOwned.size() > 60) {
			this.everOwned.remove(this.random.nextInt(this.everOwned.size()));
		}
	}

	private void readLoads() {
		long after = (this.random.nextInt(4) == 0) ? 0 : Math.max(0, this.loadsSeen - this.random.nextInt(4));
		log("loads " + after);
		LoadChanges loads = this.stores.control((store) -> store.readLoads(after));
		countIf(loads.reports().size() > 1, "loads read");
		this.loadsSeen = loads.version();
	}

	private void publish() {
		MemberId leader = leader();
		long epoch = this.stores.all().epoch() - ((this.random.nextInt(10) == 0) ? 1 : 0);
		GroupProblems problems = GroupProblems
			.of(List.of(new GroupProblem(this.random.nextBoolean(), "kind", "problem " + this.done, "orders/1")));
		log("publish " + leader + " " + epoch);
		boolean published = this.stores.control((store) -> store.publishProblems(leader, epoch, problems));
		count(published ? "published" : "not published");
	}

	private void endClaims(long told) {
		MemberId leader = leader();
		long epoch = this.stores.all().epoch() - ((this.random.nextInt(10) == 0) ? 1 : 0);
		long until = told - ((this.random.nextInt(5) == 0) ? 1 : 0);
		log("end claims " + leader + " " + epoch + " " + until);
		count("claims " + this.stores.control((store) -> store.endClaims(leader, epoch, until)));
	}

	private MemberId leader() {
		GroupChanges now = (this.random.nextInt(5) > 0) ? this.stores.all() : this.picture;
		return (now.leader() != null && this.random.nextInt(30) > 0) ? now.leader() : anyMember();
	}

	private void plan() {
		if (this.random.nextInt(4) > 0) {
			readGroup();
		}
		MemberId leader = leader();
		long epoch = this.picture.epoch() + ((this.random.nextInt(30) == 0) ? 1 : 0);
		List<Transition> transitions = IntStream.range(0, this.random.nextInt(8))
			.mapToObj((i) -> transition())
			.toList();
		log("plan " + leader + " " + epoch + " " + transitions);
		PlanReply reply = this.stores.control((store) -> store.applyPlan(leader, epoch, transitions));
		count(reply.getClass().getSimpleName());
		countIf(reply instanceof PlanReply.Applied applied && applied.conflicts() > 0, "conflicts");
	}

	private Transition transition() {
		MemberId target = (this.random.nextInt(6) == 0) ? null : anyMember();
		ShardId shard = anyShard();
		Ownership now = this.picture.ownerships()
			.stream()
			.filter((ownership) -> ownership.shard().equals(shard))
			.findFirst()
			.orElse(null);
		long generation = ((now != null) ? now.generation() : 0) + ((this.random.nextInt(15) == 0) ? 1 : 0);
		if (now == null || now.phase() == Phase.FREE || this.random.nextInt(6) == 0) {
			return new Transition.Assign(shard, generation, (target != null) ? target : anyMember());
		}
		if (now.phase() == Phase.OWNED) {
			return new Transition.Revoke(shard, generation, target);
		}
		if (now.phase() == Phase.QUIET && this.random.nextInt(3) > 0) {
			return new Transition.Assign(shard, generation, anyMember());
		}
		return (this.random.nextInt(3) > 0) ? new Transition.Retarget(shard, generation, target)
				: new Transition.Cancel(shard, generation);
	}

	/** A few at a time, later ones with time: completed shards never come back. */
	private ShardId anyShard() {
		int id = this.done / 250 + this.random.nextInt(14);
		return ShardId.of((id % 7 == 0) ? RETIRED : "orders", id);
	}

	private Duration quietPeriod() {
		return (this.random.nextInt(3) == 0) ? Duration.ofMillis(this.random.nextInt(2_000)) : Duration.ZERO;
	}

	private void release() {
		readGroup();
		MemberId owner = anyMember();
		List<HoldingAction.Release> releases = new ArrayList<>();
		for (int i = this.random.nextInt(7); i >= 0 && !this.everOwned.isEmpty(); i--) {
			Ownership shard = this.everOwned.get(this.random.nextInt(this.everOwned.size()));
			owner = (i == 0 && shard.owner() != null) ? shard.owner() : owner;
			Token floor = (this.random.nextInt(10) == 0) ? new Token(shard.token().value() + 5_000_000) : Token.NONE;
			releases.add(new HoldingAction.Release(shard.shard(), shard.token(), floor, this.random.nextInt(12) == 0));
		}
		MemberId by = owner;
		Duration quiet = quietPeriod();
		log("release " + by + " " + releases + " " + quiet);
		List<ReleaseReply> replies = this.stores.control((store) -> store.releaseShards(by, releases, quiet));
		replies.forEach((reply) -> count("release " + reply));
	}

	private void claim() {
		MemberId id = anyMember();
		Map<ShardId, Token> held = new LinkedHashMap<>();
		for (int i = this.random.nextInt(7); i > 0 && !this.everOwned.isEmpty(); i--) {
			Ownership shard = this.everOwned.get(this.random.nextInt(this.everOwned.size()));
			held.put(shard.shard(), new Token(shard.token().value() + this.random.nextInt(3) - 1));
		}
		String how = this.random.nextBoolean() ? "claims" : "presentations";
		log(how + " of " + id + " " + held);
		ClaimReply reply = this.stores
			.control((store) -> how.equals("claims") ? store.claimShards(id, held) : store.presentShards(id, held));
		countIf(!reply.granted().isEmpty(), how + " granted");
		countIf(!reply.superseded().isEmpty(), how + " superseded");
		countIf(reply.granted().size() + reply.superseded().size() < held.size(), how + " refused");
	}

	private void reap() {
		MemberId leader = leader();
		long epoch = this.stores.all().epoch();
		long now = this.stores.nowMillis();
		SteadyTime steady = new SteadyTime(now - this.random.nextInt(20_000), now + this.random.nextInt(10_000) - 5_000,
				this.setBacks - this.random.nextInt(8) / 7);
		Duration quiet = quietPeriod();
		log("reap " + leader + " " + epoch + " " + steady + " " + quiet);
		ReapReply reply = this.stores.control((store) -> store.reapMembers(leader, epoch, steady, quiet));
		if (reply instanceof ReapReply.Looked looked) {
			countIf(!looked.dead().isEmpty(), "dead");
			countIf(!looked.timedOut().isEmpty(), "timed out");
			countIf(!looked.slow().isEmpty(), "slow");
			countIf(looked.nextLookMillis() == Math.min(now, steady.untilMillis()), "more to reap");
		}
	}

	private void announce() {
		MemberId id = anyMember();
		boolean restart = this.random.nextInt(3) > 0;
		log("announce " + id + " " + restart);
		this.stores.control((store) -> {
			if (restart) {
				store.announceRestart(id);
			}
			else {
				store.announceLeave(id);
			}
			return "";
		});
	}

	private void leave() {
		MemberId id = anyMember();
		Duration quiet = quietPeriod();
		Duration away = Duration.ofMillis(this.random.nextInt(2) * this.random.nextInt(1, 20_000));
		log("leave " + id + " " + quiet + " " + away);
		this.stores.control((store) -> {
			if (away.isZero()) {
				store.leaveGroup(id, quiet);
			}
			else {
				store.leaveForRestart(id, quiet, away);
			}
			return "";
		});
	}

	private void nudge() {
		List<ShardId> shards = IntStream.range(0, this.random.nextInt(7)).mapToObj((i) -> anyShard()).toList();
		long generation = this.stores.all().generation();
		log("nudge " + shards);
		this.stores.control((store) -> {
			store.notifyOwners(shards);
			return "";
		});
		countIf(this.stores.all().generation() > generation, "nudged");
	}

	private void forget() {
		String topic = (this.random.nextInt(10) == 0) ? "orders" : RETIRED;
		log("forget " + topic);
		Optional<ForgetReply> answer = this.stores.control((store) -> {
			try {
				return Optional.of(store.forgetShards(topic));
			}
			catch (StoreUnavailableException ex) {
				return Optional.empty();
			}
		});
		answer.ifPresentOrElse((reply) -> {
			countIf(reply.forgotten() > 0, "forgotten");
			countIf(!reply.users().isEmpty(), "not forgotten");
		}, () -> count("not forgotten yet"));
	}

	private void changeSubscription() {
		MemberId id = anyMember();
		log("subscription of " + id);
		if (this.stores.subscriptions(id) > 0 && this.random.nextBoolean()) {
			this.stores.closeSubscription(id);
		}
		else {
			this.stores.subscribe(id);
		}
	}

	private void disaster() {
		int choice = this.random.nextInt(100);
		if (choice < 50) {
			log("snapshot");
			this.snapshot = this.stores.snapshot();
		}
		else if (choice < 90 && this.snapshot != null) {
			log("lose writes");
			this.stores.loseWritesSince(this.snapshot);
			this.snapshot = null;
			count("writes lost");
		}
		else if (choice >= 90) {
			log("empty");
			this.stores.empty();
			count("emptied");
		}
	}

	private void log(String operation) {
		this.last = operation;
	}

	private void countIf(boolean condition, String outcome) {
		if (condition) {
			count(outcome);
		}
	}

	private void count(String outcome) {
		this.outcomes.merge(outcome, 1, Integer::sum);
	}

}
