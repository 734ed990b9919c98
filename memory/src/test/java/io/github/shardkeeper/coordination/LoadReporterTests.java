package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.assignment.load.LoadAwareAssignment;
import io.github.shardkeeper.assignment.load.LoadAwareSettings;
import io.github.shardkeeper.assignment.load.LoadMeasure;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.TestConsumption;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.ForwardingStore;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Load reports survive losses of the store, and leave with their members.
 */
@Tag("proof")
class LoadReporterTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final TestConsumption.Ledger ledger = new TestConsumption.Ledger();

	private final List<TestInstance> instances = new ArrayList<>();

	@AfterEach
	void stop() {
		this.instances.forEach(TestInstance::kill);
		assertThat(this.ledger.breaches()).isEmpty();
	}

	@Test
	void memberReportsItsShardsAndItsReportLeavesWithIt() {
		TestInstance a = start("a");
		awaitReportOf(a);
		assertThat(report(a)).isEqualTo("1|handler-time||orders:200=0,1,2,3");

		TestInstance b = start("b");
		awaitReportOf(b);
		a.coordinator.stop(Duration.ofSeconds(10));

		assertThat(reports()).containsOnlyKeys(member(b));
	}

	@Test
	void emptiedStoreGetsTheReportAgain() {
		TestInstance a = start("a");
		awaitReportOf(a);
		String before = member(a);

		MemoryFailover.empty(this.store);

		await().until(() -> !member(a).equals(before) && report(a) != null);
		assertThat(report(a)).contains("orders:200=0,1,2,3");
	}

	@Test
	void storeThatLostWritesGetsTheReportAgain() {
		AtomicInteger beats = new AtomicInteger();
		TestInstance a = start("a", new ForwardingStore(this.store) {
			@Override
			public HeartbeatReply heartbeat(MemberId member, Seen seen, boolean candidate, LoadReport load) {
				HeartbeatReply reply = super.heartbeat(member, seen, candidate, load);
				beats.incrementAndGet();
				return reply;
			}
		}, Duration.ofSeconds(1));
		await().until(() -> a.consumption.consumed().size() == 4);
		Object snapshot = MemoryFailover.snapshot(this.store);
		assertThat(report(a)).isNull();
		awaitReportOf(a);
		// Something that is no concern of a's, but that it is told has happened.
		MemberId other = MemberId.of("other", "1");
		this.store.joinGroup(other, new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN), HOUR, HOUR);
		this.store.claimShards(other, Map.of(ShardId.of("other", 0), new Token(5)));
		int before = beats.get();
		await().until(() -> beats.get() > before + 1);

		MemoryFailover.loseWritesSince(this.store, snapshot);

		assertThat(report(a)).isNull();
		awaitReportOf(a);
		assertThat(report(a)).isEqualTo("1|handler-time||orders:200=0,1,2,3");
	}

	private TestInstance start(String name) {
		return start(name, this.store, Duration.ofMillis(50));
	}

	private TestInstance start(String name, CoordinationStore reached, Duration interval) {
		TestInstance instance = new TestInstance(name, reached, this.ledger, HandoverRules.DEFAULT,
				new AssignmentSettings("load-aware", new LoadAwareAssignment(LoadAwareSettings.DEFAULT),
						ShardCatalog.PLAIN, false, AssignmentSettings.DEFAULT_TIMEOUT,
						new LoadReporting(LoadMeasure.HANDLER_TIME, interval, 5)));
		IntStream.range(0, 4).forEach((shard) -> instance.consumption.keepBusy(ShardId.of("orders", shard), 0.2));
		this.instances.add(instance);
		return instance.start();
	}

	private void awaitReportOf(TestInstance instance) {
		await().until(() -> report(instance) != null);
	}

	private String report(TestInstance instance) {
		return reports().get(member(instance));
	}

	private Map<String, String> reports() {
		Map<String, String> reports = new TreeMap<>();
		this.store.readLoads(0).reports().forEach((member, report) -> reports.put(member.value(), report.text()));
		return reports;
	}

	private static String member(TestInstance instance) {
		return instance.coordinator.member().map(Object::toString).orElse("nobody");
	}

}
