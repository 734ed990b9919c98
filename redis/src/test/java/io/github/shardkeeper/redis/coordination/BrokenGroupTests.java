package io.github.shardkeeper.redis.coordination;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore.ClaimReply;
import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Somebody removes a key of a group, or an entry, or writes one: nothing more is written
 * before the group begins again, and then its members keep what they hold.
 */
@OnEveryRedis
@Promise("Automatic recovery")
class BrokenGroupTests {

	private static final ShardId HELD = ShardId.of("orders", 1);

	private static final ShardId OF_THE_DEAD = ShardId.of("orders", 2);

	private static final ShardId FREE = ShardId.of("orders", 3);

	private static final MemberDescription DESCRIPTION = new MemberDescription(
			new TreeMap<>(Map.of("orders", TopicShards.count(4))), ApplicationVersion.UNKNOWN);

	private static final Duration LEASE = Duration.ofSeconds(1);

	private final String group = UUID.randomUUID().toString();

	private final String base = "test:{" + this.group + "}:";

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	private final RedisServer server = new RedisServer(this.group);

	private final RedisCoordinationStore store = new RedisCoordinationStore(RedisClients.sharedConnector(), "test",
			this.group, Duration.ofSeconds(60));

	private final MemberId alive = new MemberId("alive~1");

	private final MemberId dead = new MemberId("dead~1");

	private long epoch;

	private Token token;

	/** Both have a shard; then one of them dies. */
	@BeforeEach
	void foundGroup() {
		this.store.joinGroup(this.alive, DESCRIPTION, LEASE, LEASE.multipliedBy(10));
		this.epoch = leadPastClaims(this.store, this.alive);
		this.store.joinGroup(this.dead, DESCRIPTION, LEASE, LEASE.multipliedBy(10));
		assertThat(this.store.applyPlan(this.alive, this.epoch,
				List.of(new Transition.Assign(HELD, 0, this.alive), new Transition.Assign(OF_THE_DEAD, 0, this.dead))))
			.isEqualTo(new PlanReply.Applied(2, 0));
		this.token = shard(HELD).token();
	}

	@AfterEach
	void close() {
		this.store.close();
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "group", "members", "sessions", "told", "loads", "reported", "shards", "changes", "concerns" })
	void groupIsRebuiltFromHeldShardsAfterAKeyIsLost(String key) {
		assertThat(this.redis.delete(this.base + key)).isTrue();

		assertBeginsAgain(this.base + key + " is missing");
	}

	@ParameterizedTest
	@CsvSource({ "members, alive~1", "members, dead~1", "shards, orders/1", "shards, orders/2" })
	void groupIsRebuiltFromHeldShardsAfterAnEntryIsLost(String key, String entry) {
		assertThat(this.redis.opsForHash().delete(this.base + key, entry)).isOne();

		assertBeginsAgain("have lost or gained entries");
	}

	@ParameterizedTest
	@CsvSource({ "sessions, dead~1", "sessions, alive~1", "changes, orders/1", "changes, orders/2" })
	void groupIsRebuiltFromHeldShardsAfterASortedSetEntryIsLost(String key, String entry) {
		assertThat(this.redis.opsForZSet().remove(this.base + key, entry)).isOne();

		assertBeginsAgain("have lost or gained entries");
	}

	/** Same size, other members. */
	@Test
	void groupWithSessionsOfAnotherMembershipIsRebuilt() {
		byte[] sessions = this.redis.dump(this.base + "sessions");
		this.store.leaveGroup(this.dead, Duration.ZERO);
		this.store.joinGroup(new MemberId("other~1"), DESCRIPTION, LEASE, LEASE.multipliedBy(10));
		restore("sessions", sessions);

		assertBeginsAgain(this.base + "sessions is of another time");
	}

	@ParameterizedTest
	@ValueSource(doubles = { 1, -5 })
	void groupWithASessionOfNoMemberIsRebuilt(double score) {
		this.redis.opsForZSet().add(this.base + "sessions", "nobody~1", score);
		this.redis.opsForZSet().remove(this.base + "sessions", this.dead.value());

		this.store.reapMembers(this.alive, this.epoch, steady(), Duration.ZERO);

		assertBeginsAgain("an entry nobody~1 that is of no member");
	}

	@ParameterizedTest
	@CsvSource({ "no member, 1", "nobody~1, 1.5" })
	void sessionThatCannotBeReadIsNotSilent(String entry, double score) {
		this.redis.opsForZSet().add(this.base + "sessions", entry, score);
		this.redis.opsForZSet().remove(this.base + "sessions", this.dead.value());

		assertThat(this.store.readChanges(0, -1).silent().keySet()).isSubsetOf(Set.of(this.alive));
	}

	@Test
	void sessionSetToANegativeTimeEnds() {
		this.redis.opsForZSet().add(this.base + "sessions", this.dead.value(), -5);
		this.server.advance(LEASE);
		long leading = lead(this.alive);

		assertThat(((ReapReply.Looked) this.store.reapMembers(this.alive, leading, steady(), Duration.ZERO)).dead())
			.containsExactly(this.dead);
	}

	@ParameterizedTest
	@ValueSource(strings = { "77", "junk", "99999999999999999999" })
	void memberWithForeignConcernsCanBeEnded(String value) {
		this.redis.opsForHash().put(this.base + "concernsAt", "dead~1|orders/2", value);
		this.server.advance(LEASE);
		long leading = lead(this.alive);

		ReapReply.Looked looked = (ReapReply.Looked) this.store.reapMembers(this.alive, leading, steady(),
				Duration.ZERO);

		assertThat(looked.dead()).containsExactly(this.dead);
		assertThat(this.redis.opsForZSet().score(this.base + "sessions", this.dead.value())).isNull();
	}

	@Test
	void groupWhoseMemberMissesConcernsIsRebuilt() {
		Set<String> concerns = this.redis.opsForZSet().range(this.base + "concerns", 0, -1);
		String entry = concerns.stream().filter((concern) -> concern.startsWith("alive~1|")).findFirst().orElseThrow();
		this.redis.opsForZSet().remove(this.base + "concerns", entry);

		assertBeginsAgain("have lost or gained entries");
	}

	@ParameterizedTest
	@ValueSource(strings = { "members", "shards" })
	void groupIsRebuiltWithoutForeignEntries(String key) {
		this.redis.opsForHash().put(this.base + key, "zzz", "junk");

		assertBeginsAgain("have lost or gained entries");
	}

	@ParameterizedTest
	@ValueSource(strings = { "group", "members", "shards", "changes", "concerns" })
	void groupWithAKeyFromAnOlderCopyIsRebuilt(String key) {
		byte[] before = this.redis.dump(this.base + key);
		this.store.releaseShards(this.alive, List.of(new HoldingAction.Release(HELD, this.token, Token.NONE, false)),
				Duration.ZERO);
		this.store.updateDescription(this.alive, DESCRIPTION);
		this.store.applyPlan(this.alive, this.epoch,
				List.of(new Transition.Assign(HELD, generation(HELD), this.alive)));
		this.token = shard(HELD).token();
		restore(key, before);

		assertBeginsAgain("is of another time than " + this.base + "group");
	}

	/**
	 * By the connection: the template takes its time to live as other types by version.
	 */
	private void restore(String key, byte[] value) {
		byte[] name = (this.base + key).getBytes(StandardCharsets.UTF_8);
		this.redis.execute((RedisConnection connection) -> {
			connection.keyCommands().restore(name, 0, value, true);
			return true;
		});
	}

	@Test
	void groupWithATooLongNumberIsRebuilt() {
		this.redis.opsForHash().put(this.base + "group", "epoch", "99999999999999999999");

		assertBeginsAgain(this.base + "group has no number in the field epoch");
	}

	@ParameterizedTest
	@CsvSource({ "epoch", "generation", "membership", "token", "history", "claims", "claimsSince", "loads", "setBacks",
			"problemsEpoch" })
	void groupWithAnInvalidNumberIsRebuilt(String field) {
		this.redis.opsForHash().put(this.base + "group", field, "junk");

		assertBeginsAgain(this.base + "group has no number in the field " + field);
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';',
			value = { "members; dead~1; junk", "members; dead~1; A|200|2000|junk", "members; alive~1; junk",
					"shards; orders/1; junk", "shards; orders/2; junk", "shards; orders/2; LOST|1|dead~1||1|0",
					"shards; orders/1; OWNED|99999999999999999999|alive~1||1|0" })
	@Promise("Clear errors")
	void unreadableEntryIsNamedAndTheGroupIsRebuilt(String key, String entry, String value) {
		this.redis.opsForHash().put(this.base + key, entry, value);

		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> this.store.readChanges(0, -1))
			.withMessageContaining("the entry " + entry + " of " + this.base + key + " cannot be read: '" + value + "'")
			.matches(StoreUnavailableException::isRefusal);

		assertBeginsAgain(this.base + key + " has an entry " + entry + " that cannot be read");
	}

	/** Found by who wants to change it, in whatever way. */
	@Test
	void unreadableRecordIsNotChanged() {
		this.redis.opsForHash().put(this.base + "shards", HELD.toString(), "junk");

		assertThat(this.store.releaseShards(this.alive,
				List.of(new HoldingAction.Release(HELD, this.token, Token.NONE, false)), Duration.ZERO))
			.containsExactly(ReleaseReply.STALE);

		assertThat(this.redis.opsForHash().get(this.base + "shards", HELD.toString())).isEqualTo("junk");
		assertBeginsAgain(this.base + "shards has an entry orders/1 that cannot be read");
	}

	@Test
	void ownerThatIsNoMemberIsDetectedWhenTheShardMoves() {
		this.redis.opsForHash().put(this.base + "shards", OF_THE_DEAD.toString(), "OWNED|1|nobody~9||1|0");

		assertThat(this.store.applyPlan(this.alive, this.epoch,
				List.of(new Transition.Revoke(OF_THE_DEAD, generation(OF_THE_DEAD), this.alive))))
			.isEqualTo(new PlanReply.Applied(0, 1));

		assertBeginsAgain(this.base + "shards has an entry orders/2 that names the owner nobody~9, who is no member");
	}

	@Test
	void memberOfAnotherFormatIsRefused() {
		this.redis.opsForHash().put(this.base + "group", "format", "4");

		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> this.store.joinGroup(this.alive, DESCRIPTION, LEASE, LEASE))
			.withMessageContaining("format 4")
			.withMessageContaining("reads format 1");
		assertThat(this.redis.opsForHash().get(this.base + "group", "format")).isEqualTo("4");
	}

	/** The member hears no reply, so it consumes nothing: its session must end. */
	@Test
	void sessionEndsWhenItsHeartbeatsAreRefused() {
		try (Subscription subscription = this.store.subscribe(this.alive, () -> {
		});
				RedisCoordinationStore ofDead = new RedisCoordinationStore(RedisClients.sharedConnector(), "test",
						this.group, Duration.ofSeconds(10))) {
			assertThat(subscription.isOpen()).isTrue();
			this.redis.opsForHash().put(this.base + "loads", this.dead.value(), "");
			this.redis.rename(this.base + "reported", this.base + "aside");
			this.redis.opsForList().rightPush(this.base + "reported", "mine");
			LoadReport load = new LoadReport("load");
			for (int beats = 0; beats < 3; beats++) {
				this.server.advance(LEASE.dividedBy(2));
				lead(this.alive);
				assertThatThrownBy(() -> ofDead.heartbeat(this.dead, Seen.NOTHING, false, load))
					.hasMessageContaining("reported");
			}
			this.redis.rename(this.base + "aside", this.base + "reported");
			ReapReply reply = this.store.reapMembers(this.alive, lead(this.alive), steady(), Duration.ZERO);
			assertThat(((ReapReply.Looked) reply).dead()).containsExactly(this.dead);
		}
	}

	/**
	 * Nothing is written before a member joins; live members keep their shards and tokens
	 * then, and unclaimed shards are assigned after a lease.
	 */
	private void assertBeginsAgain(String fault) {
		Map<Object, Object> shards = this.redis.opsForHash().entries(this.base + "shards");
		assertThat(this.store.applyPlan(this.alive, this.epoch, List.of(new Transition.Assign(FREE, 0, this.alive))))
			.isInstanceOf(PlanReply.Deposed.class);
		assertThat(this.store.reapMembers(this.alive, this.epoch, steady(), Duration.ZERO))
			.isInstanceOf(ReapReply.Deposed.class);
		assertThat(this.store.claimShards(this.alive, Map.of(FREE, new Token(1)))).isEqualTo(ClaimReply.NONE);
		this.store.notifyOwners(List.of(HELD));
		this.store.leaveGroup(this.dead, Duration.ZERO);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> this.store.readChanges(0, -1))
			.withMessageContaining(fault)
			.withMessageContaining("is rebuilt");
		assertThat(this.redis.opsForHash().entries(this.base + "shards")).isEqualTo(shards);
		assertThat(this.store.heartbeat(this.alive, Seen.NOTHING, true, LoadReport.NONE))
			.isInstanceOf(HeartbeatReply.Expired.class);

		MemberId again = new MemberId("alive~2");
		this.store.joinGroup(again, DESCRIPTION, LEASE, LEASE.multipliedBy(10));
		assertThat(this.store.claimShards(again, Map.of(HELD, this.token)).granted()).containsExactly(HELD);
		long leading = lead(again);
		assertThat(this.store.applyPlan(again, leading, List.of(new Transition.Assign(OF_THE_DEAD, 0, again))))
			.as("while others may claim it")
			.isEqualTo(new PlanReply.Applied(0, 1));
		leading = leadPastClaims(this.store, again);
		assertThat(this.store.applyPlan(again, leading, List.of(new Transition.Assign(OF_THE_DEAD, 0, again))))
			.isEqualTo(new PlanReply.Applied(1, 0));

		assertThat(this.store.readChanges(0, -1).members()).extracting(GroupMember::id).containsExactly(again);
		assertThat(this.store.readChanges(0, -1).ownerships()).hasSize(2)
			.allSatisfy((shard) -> assertThat(shard.owner()).isEqualTo(again));
		assertThat(shard(HELD).token()).isEqualTo(this.token);
		assertThat(shard(OF_THE_DEAD).token()).isGreaterThan(this.token);
		assertThat(shard(HELD).phase()).isEqualTo(Phase.OWNED);
	}

	private long lead(MemberId member) {
		return lead(this.store, member);
	}

	private static long lead(CoordinationStore store, MemberId member) {
		return beat(store, member).epoch();
	}

	/** As if it had been answered during all of the claim period. */
	private static long leadPastClaims(CoordinationStore store, MemberId member) {
		HeartbeatReply.Alive reply = beat(store, member);
		assertThat(store.endClaims(member, reply.epoch(), reply.claimsUntilMillis())).isEqualTo(EndClaimsReply.ENDED);
		return reply.epoch();
	}

	private static HeartbeatReply.Alive beat(CoordinationStore store, MemberId member) {
		return (HeartbeatReply.Alive) store.heartbeat(member, Seen.NOTHING, true, LoadReport.NONE);
	}

	private Ownership shard(ShardId id) {
		return this.store.readChanges(0, -1)
			.ownerships()
			.stream()
			.filter((shard) -> shard.shard().equals(id))
			.findFirst()
			.orElseThrow();
	}

	/** A leader that was answered for ever and knows of no step of the clock. */
	private static SteadyTime steady() {
		return new SteadyTime(0, Long.MAX_VALUE, 0);
	}

	private long generation(ShardId id) {
		return shard(id).generation();
	}

}
