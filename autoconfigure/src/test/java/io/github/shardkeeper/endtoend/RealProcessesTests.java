package io.github.shardkeeper.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.coordination.store.InstanceInUseException;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.RunAlone;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances as processes, at default settings, on a real Redis, with a record per shard
 * every 20 ms: effects on the handlers when one comes, goes, dies or freezes.
 */
@RunAlone
@Promise({ "Nothing lost", "Order" })
class RealProcessesTests {

	private static final int SHARDS = 8;

	private static final Duration LEASE = Duration.ofSeconds(3);

	private static final String GROUP = "processes";

	private static final String KEEP = "--shardkeeper.session.on-leave=keep";

	@TempDir
	private Path directory;

	private EmbeddedRedis redis;

	private LettuceConnectionFactory connections;

	private RedisCoordinationStore store;

	private RedisCheckpointStore checkpoints;

	private Instances instances;

	private Feeder feeder;

	@BeforeEach
	void start() {
		this.redis = EmbeddedRedis.start();
		this.connections = RedisClients.factory(this.redis);
		RedisConnector connector = new RedisConnector(this.connections);
		this.store = new RedisCoordinationStore(connector, "shardkeeper", GROUP, Duration.ofSeconds(10));
		this.checkpoints = new RedisCheckpointStore(connector, "shardkeeper", GROUP, Duration.ofSeconds(10));
		KnownGroup.begin(connector, "shardkeeper", GROUP);
		this.instances = new Instances((name) -> this.redis.port(), this.directory, GROUP, SHARDS);
		this.feeder = new Feeder(connector, SHARDS, Duration.ofMillis(20), 1);
	}

	@AfterEach
	void stop() {
		this.feeder.close();
		this.instances.close();
		this.store.close();
		this.checkpoints.close();
		this.connections.destroy();
		this.redis.close();
	}

	/**
	 * Medians over several joins and leaves: a single move may fall into a moment in
	 * which the machine is busy.
	 */
	@Test
	@Promise("Other shards continue")
	void plannedMovesAreShortAndOtherShardsContinue() {
		this.instances.start("one");
		this.instances.start("two");
		awaitBalance(2);
		awaitHandled(100);
		List<Long> moved = new ArrayList<>();
		List<Long> unmoved = new ArrayList<>();
		for (int round = 1; round <= 3; round++) {
			String comer = "comer-" + round;
			long joining = now();
			this.instances.start(comer);
			awaitBalance(3);
			awaitHandled(50);
			measureMoves("join", joining, moved, unmoved);

			long leaving = now();
			this.instances.terminate(comer);
			this.instances.awaitEnd(comer);
			awaitBalance(2);
			awaitHandled(50);
			measureMoves("leave", leaving, moved, unmoved);
		}
		assertThat(median(moved)).as("median gap in ms of moved shards, of %s", moved).isLessThan(100);
		assertThat(median(unmoved)).as("median gap in ms of other shards meanwhile, of %s", unmoved).isLessThan(60);
		everyRecordIsHandledExactlyOnce();
	}

	@Test
	void shardsOfKilledFollowerAreConsumedSoonAfterItsLease() {
		this.instances.start("one");
		this.instances.start("two");
		awaitBalance(2);
		awaitHandled(50);
		killAndMeasure(leader().equals("one") ? "two" : "one");
	}

	@Test
	void shardsOfKilledLeaderAreConsumedSoonAfterItsLease() {
		this.instances.start("one");
		this.instances.start("two");
		awaitBalance(2);
		awaitHandled(50);
		killAndMeasure(leader());
	}

	@Test
	@Promise("Automatic recovery")
	void frozenProcessKeepsItsShardsAndResumes() {
		this.instances.start("one");
		this.instances.start("two");
		awaitBalance(2);
		awaitHandled(50);
		Map<ShardId, Ownership> before = ownerships();
		Set<String> frozen = shardsOf("two");

		this.instances.signal("two", "STOP");
		long stopped = now();
		Awaitility.await()
			.pollInterval(Duration.ofMillis(100))
			.atMost(Duration.ofSeconds(20))
			.until(() -> now() - stopped > 8_000_000);
		this.instances.signal("two", "CONT");
		long woken = now();
		awaitHandled(50);

		assertThat(ownerships()).as("no shard moved").isEqualTo(before);
		Map<String, List<Trace.Line>> lines = Trace.read(this.directory).byShard();
		for (String shard : frozen) {
			long first = lines.get(shard)
				.stream()
				.mapToLong(Trace.Line::beginMicros)
				.filter((at) -> at > woken)
				.min()
				.orElseThrow();
			assertThat(Duration.ofNanos((first - woken) * 1000)).as("shard %s continues", shard)
				.isLessThan(Duration.ofSeconds(1));
		}
		everyRecordIsHandledExactlyOnce();
	}

	@Test
	void processThatStartsAgainUnderItsIdFindsItsShards() {
		this.instances.start("one", KEEP);
		this.instances.start("two", KEEP);
		awaitBalance(2);
		awaitHandled(50);
		Map<ShardId, Ownership> before = ownerships();

		this.instances.terminate("one");
		this.instances.awaitEnd("one");
		assertThat(ownerships().values()).filteredOn((shard) -> "one".equals(RestartingInstance.keptFor(shard)))
			.as("shards that are kept")
			.hasSize(SHARDS / 2);
		this.instances.start("one", KEEP);
		awaitBalance(2);
		awaitHandled(50);

		assertReturnedTo("one", before);
		everyRecordIsHandledExactlyOnce();
	}

	@Test
	void secondProcessUnderAnInstanceIdIsRefusedUntilTheFirstHasLeft() {
		this.instances.start("one", KEEP);
		this.instances.start("two", KEEP);
		awaitBalance(2);
		Map<ShardId, Ownership> before = ownerships();
		MemberId first = before.values()
			.stream()
			.map(Ownership::owner)
			.filter((owner) -> owner.instance().equals("one"))
			.findFirst()
			.orElseThrow();

		this.instances.startUnder("one", "one-again", KEEP);
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.pollInterval(Duration.ofMillis(100))
			.untilAsserted(() -> assertThat(this.directory.resolve("one-again.log")).content()
				.contains(new InstanceInUseException(first).getMessage()));
		awaitHandled(50);
		assertThat(ownerships()).as("nothing moves").isEqualTo(before);

		this.instances.terminate("one");
		this.instances.awaitEnd("one");
		awaitBalance(2);
		awaitHandled(50);
		assertReturnedTo("one", before);
		everyRecordIsHandledExactlyOnce();
	}

	/** Under new tokens, to another process, and nothing else has moved. */
	private void assertReturnedTo(String instance, Map<ShardId, Ownership> before) {
		assertThat(ownerships()).allSatisfy((shard, now) -> {
			Ownership then = before.get(shard);
			if (then.owner().instance().equals(instance)) {
				assertThat(now.owner().instance()).isEqualTo(instance);
				assertThat(now.owner()).isNotEqualTo(then.owner());
				assertThat(now.token()).isGreaterThan(then.token());
			}
			else {
				assertThat(now).isEqualTo(then);
			}
		});
	}

	private void killAndMeasure(String victim) {
		Set<String> orphaned = shardsOf(victim);
		String survivor = victim.equals("one") ? "two" : "one";
		// Its last heartbeat is at most one interval older than its death.
		this.instances.kill(victim);
		long killed = now();
		awaitOwner(orphaned, survivor);
		awaitHandled(50);

		Map<String, List<Trace.Line>> lines = Trace.read(this.directory).byShard();
		Map<String, Long> takenOverMillis = new TreeMap<>();
		for (String shard : orphaned) {
			long first = lines.get(shard)
				.stream()
				.filter((line) -> line.instance().equals(survivor))
				.mapToLong(Trace.Line::beginMicros)
				.filter((at) -> at > killed)
				.min()
				.orElseThrow();
			takenOverMillis.put(shard, (first - killed) / 1000);
		}
		System.out.printf("kill -9 of %s: its shards were consumed again after %s ms%n", victim, takenOverMillis);
		assertThat(takenOverMillis.values())
			.allSatisfy((millis) -> assertThat(millis).isLessThan(LEASE.plusMillis(500).toMillis()));
		for (String shard : lines.keySet()) {
			if (!orphaned.contains(shard)) {
				assertThat(Trace.longestGap(lines.get(shard), killed, Long.MAX_VALUE)).as("unmoved shard %s", shard)
					.isLessThan(Duration.ofMillis(500));
			}
		}
		everyRecordIsHandledExactlyOnce();
	}

	/**
	 * For moved shards, the time between the old owner's last and the new owner's first
	 * record; for the others, the longest time without a record during the move.
	 */
	private void measureMoves(String what, long since, List<Long> movedMillis, List<Long> unmovedMillis) {
		Map<String, List<Trace.Line>> lines = Trace.read(this.directory).byShard();
		Map<String, Trace.Move> moves = new TreeMap<>();
		lines.forEach((shard, handled) -> Trace.move(handled, since).ifPresent((move) -> moves.put(shard, move)));
		assertThat(moves).as("moved shards").isNotEmpty();
		long begin = moves.values().stream().mapToLong(Trace.Move::lastMicros).min().orElseThrow();
		long end = moves.values().stream().mapToLong(Trace.Move::firstMicros).max().orElseThrow();
		Map<String, Long> moved = new TreeMap<>();
		Map<String, Long> unmoved = new TreeMap<>();
		lines.forEach((shard, handled) -> {
			if (moves.containsKey(shard)) {
				moved.put(shard, moves.get(shard).gap().toMillis());
			}
			else {
				unmoved.put(shard, Trace.longestGap(handled, begin, end).toMillis());
			}
		});
		System.out.printf("%s: gap in ms of moved shards %s, longest of the others meanwhile %s%n", what, moved,
				unmoved);
		movedMillis.addAll(moved.values());
		unmovedMillis.addAll(unmoved.values());
	}

	private static long median(Collection<Long> values) {
		long[] sorted = values.stream().mapToLong(Long::longValue).sorted().toArray();
		return sorted[(sorted.length - 1) / 2];
	}

	/**
	 * State and order: the last call for each shard has counted every number once, and no
	 * call has seen a number before the one in front of it was committed or handled.
	 */
	private void everyRecordIsHandledExactlyOnce() {
		long sent = this.feeder.stop();
		long sum = sent * (sent + 1) / 2;
		Awaitility.await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
			for (int shard = 0; shard < SHARDS; shard++) {
				assertThat(this.checkpoints.read(ShardId.of(TracingInstance.TOPIC, shard)).state())
					.as("shard %d", shard)
					.containsEntry("count", Long.toString(sent))
					.containsEntry("sum", Long.toString(sum));
			}
		});
		Trace.read(this.directory).byShard().forEach((shard, lines) -> {
			for (int i = 1; i < lines.size(); i++) {
				Trace.Line line = lines.get(i);
				Trace.Line before = lines.get(i - 1);
				boolean sameOwner = line.token() == before.token();
				assertThat(line.token()).as("tokens of shard %s rise", shard).isGreaterThanOrEqualTo(before.token());
				assertThat(line.number()).as("order of shard %s", shard)
					.isLessThanOrEqualTo(before.number() + 1)
					.isGreaterThan(sameOwner ? before.number() : 0);
			}
		});
	}

	private static long now() {
		return Trace.nowMicros();
	}

	private String leader() {
		MemberId leader = this.store.readChanges(0, -1).leader();
		return (leader != null) ? leader.instance() : "";
	}

	private Map<ShardId, Ownership> ownerships() {
		return this.store.readChanges(0, -1)
			.ownerships()
			.stream()
			.collect(Collectors.toMap(Ownership::shard, (ownership) -> ownership));
	}

	private Map<String, String> owners() {
		Map<String, String> owners = new TreeMap<>();
		ownerships()
			.forEach((shard, ownership) -> owners.put(shard.id(), String.valueOf(ownership.owner()).split("~")[0]));
		return owners;
	}

	private Set<String> shardsOf(String instance) {
		Set<String> shards = new TreeSet<>();
		owners().forEach((shard, owner) -> {
			if (owner.equals(instance)) {
				shards.add(shard);
			}
		});
		return shards;
	}

	/** All shards owned, loads differ by at most one. */
	private void awaitBalance(int members) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20)).untilAsserted(() -> {
			GroupChanges group = this.store.readChanges(0, -1);
			assertThat(group.members()).hasSize(members).noneMatch(GroupMember::leaving);
			assertThat(group.ownerships()).hasSize(SHARDS).allMatch((ownership) -> ownership.phase() == Phase.OWNED);
			Map<MemberId, Long> loads = group.ownerships()
				.stream()
				.collect(Collectors.groupingBy(Ownership::owner, Collectors.counting()));
			assertThat(loads).hasSize(members);
			assertThat(loads.values()).allMatch((load) -> load >= SHARDS / members && load <= SHARDS / members + 1);
		});
	}

	private void awaitOwner(Set<String> shards, String owner) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.pollInterval(Duration.ofMillis(20))
			.until(() -> shardsOf(owner).containsAll(shards));
	}

	/** That many more records of every shard. */
	private void awaitHandled(int more) {
		long target = this.feeder.sent() + more;
		Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(50)).until(() -> {
			Map<String, List<Trace.Line>> lines = Trace.read(this.directory).byShard();
			return lines.size() == SHARDS && lines.values()
				.stream()
				.allMatch((handled) -> handled.get(handled.size() - 1).number() >= target);
		});
	}

}
