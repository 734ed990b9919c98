package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.sls.testsupport.SlsTestServer;
import io.github.shardkeeper.sls.testsupport.SlsTestServer.Call;
import io.github.shardkeeper.sls.testsupport.SlsTestServer.Fault;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.test.RecordingSink;
import io.github.shardkeeper.time.MonotonicClock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Positions in an SLS consumer group, which has no fence. */
class ConsumerGroupProgressTests {

	private static final ShardId ZERO = ShardId.of("visits", 0);

	private static final ShardId ONE = ShardId.of("visits", 1);

	private static final String GROUP = "shop-visits";

	private static final Duration NO_REFRESH = Duration.ofHours(1);

	private final SlsTestServer server = new SlsTestServer();

	private final TestSource settings = new TestSource(this.server).topic("visits", "access", null,
			ResetPolicy.EARLIEST);

	private final SlsClient client = new SlsClient(this.settings.settings(), TestSource.credentials());

	@BeforeEach
	void append() {
		this.server.createLogstore("access", 2);
		for (ShardId shard : List.of(ZERO, ONE)) {
			for (int i = 0; i < 5; i++) {
				this.server.append("access", Integer.parseInt(shard.id()), LogEncoder
					.group(List.of(LogEncoder.log(new NewRecord(shard, null, new byte[] { 'r' }), 1000))));
			}
		}
	}

	@AfterEach
	void close() {
		this.client.close();
		this.server.close();
	}

	/**
	 * Its last commit waits to be written when it is frozen. The shard that it still
	 * holds shows that it has resumed, and that its turn is over.
	 */
	@Test
	void frozenFormerOwnerDoesNotTakeAPositionBack() {
		AtomicBoolean held = new AtomicBoolean(true);
		try (ConsumerGroupProgress former = progress(Duration.ofMillis(300), NO_REFRESH);
				ConsumerGroupProgress owner = progress(Duration.ofMillis(10), NO_REFRESH)) {
			former.started(ZERO, null, held::get);
			former.committed(ZERO, at(ZERO, 1));
			held.set(false);
			owner.started(ZERO, at(ZERO, 1), () -> true);
			owner.committed(ZERO, at(ZERO, 4));
			await().until(() -> shown(ZERO, 4));
			former.started(ONE, at(ONE, 2), () -> true);
			await().until(() -> shown(ONE, 2));

			assertThat(shown(ZERO, 4)).isTrue();
			former.stopped(ZERO);
		}
		assertThat(shown(ZERO, 4)).as("also after it has noticed, and has stopped").isTrue();
	}

	/** A request that was on its way while an instance was frozen has no fence. */
	@Test
	void ownerRepairsAPositionThatWasTakenBack() {
		try (ConsumerGroupProgress owner = progress(Duration.ofMillis(10), Duration.ofMillis(100))) {
			owner.started(ZERO, at(ZERO, 4), () -> true);
			await().until(() -> shown(ZERO, 4));
			this.client.updateCheckpoint(ZERO, GROUP, cursor(at(ZERO, 1)));

			await().until(() -> shown(ZERO, 4));
		}
	}

	@Test
	void positionIsWrittenAtTheAcquisitionAndAtTheRelease() {
		try (SlsShardSource source = this.settings.consumerGroup(GROUP).open();
				ShardReader reader = source.openReader()) {
			reader.start(ZERO, at(ZERO, 2), new RecordingSink(true));
			reader.start(ONE, at(ONE, 2), new RecordingSink(true));
			reader.stop(ZERO);
			// At once: the delay of an acquisition or commit is 3 s.
			await().atMost(Duration.ofMillis(2_900)).until(() -> shown(ZERO, 2));
			reader.committed(ZERO, at(ZERO, 3));
			await().atMost(Duration.ofMillis(2_900)).until(() -> shown(ZERO, 3));

			await().until(() -> shown(ONE, 2));
		}
	}

	@Test
	void positionsOfABroadcastTopicAreNotWritten() {
		try (ConsumerGroupProgress progress = progress(Duration.ofMillis(10), Duration.ofMillis(20))) {
			progress.started(ZERO, at(ZERO, 1), () -> false);
			progress.committed(ZERO, at(ZERO, 2));
			progress.started(ONE, at(ONE, 2), () -> true);
			await().until(() -> shown(ONE, 2));
			progress.stopped(ZERO);
			progress.committed(ZERO, at(ZERO, 3));
		}

		assertThat(this.server.consumerGroup("access", GROUP)).containsOnlyKeys(1);
	}

	@Test
	@Tag("proof")
	void positionsAreWrittenLessOftenWhileAQuotaIsExceeded() {
		try (Fault quota = this.server.fail(ConsumerGroupProgressTests::isUpdate, 403, "ProjectQuotaExceed",
				"quota exceeded"); ConsumerGroupProgress progress = progress(Duration.ofMillis(100), NO_REFRESH)) {
			long begun = System.nanoTime();
			progress.started(ZERO, at(ZERO, 5), () -> true);
			progress.started(ONE, at(ONE, 5), () -> true);
			await().until(() -> quota.hits() >= 4);

			// One request of a round, after 0.1 s and at least 0.1, 0.2 and 0.4 s more.
			assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofMillis(750));
			assertThat(this.server.count("CreateConsumerGroup")).as("it still exists").isOne();
			quota.end();
			await().until(() -> shown(ZERO, 5) && shown(ONE, 5));
			assertThat(this.server.count("CreateConsumerGroup")).isOne();
		}
	}

	@Test
	void consumerGroupThatWasDeletedIsCreatedAgain() {
		try (ConsumerGroupProgress progress = progress(Duration.ofMillis(20), NO_REFRESH)) {
			progress.started(ZERO, at(ZERO, 5), () -> true);
			await().until(() -> shown(ZERO, 5));
			this.server.deleteConsumerGroup("access", GROUP);
			progress.started(ONE, at(ONE, 5), () -> true);

			await().until(() -> shown(ONE, 5));
			assertThat(this.server.count("CreateConsumerGroup")).isEqualTo(2);
		}
	}

	/** Such as a shard that was split and has expired. */
	@Test
	void shardThatIsRefusedDelaysNoOther() {
		ShardId missing = ShardId.of("visits", 7);
		try (Fault fault = this.server.fail((call) -> isUpdate(call), 400, "ShardNotExist", "no shard")) {
			try (ConsumerGroupProgress progress = progress(Duration.ofMillis(10), NO_REFRESH)) {
				progress.started(missing, at(ZERO, 1), () -> true);
				await().until(() -> fault.hits() > 0);
				fault.end();
				progress.started(ONE, at(ONE, 2), () -> true);

				await().until(() -> shown(ONE, 2));
			}
		}
	}

	private ConsumerGroupProgress progress(Duration delay, Duration refresh) {
		return new ConsumerGroupProgress(this.client, GROUP, delay, refresh, MonotonicClock.SYSTEM);
	}

	/** Returns the position before a log group. */
	private Offset at(ShardId shard, int logGroup) {
		String begin = this.client.begin(shard);
		String cursor = (logGroup == 0) ? begin : this.client.pull(shard, begin, logGroup).next();
		return SlsOffset.before(cursor).toOffset();
	}

	private static String cursor(Offset offset) {
		return SlsOffset.parse(offset).cursor();
	}

	private boolean shown(ShardId shard, int logGroup) {
		return cursor(at(shard, logGroup))
			.equals(this.server.consumerGroup("access", GROUP).get(Integer.parseInt(shard.id())));
	}

	private static boolean isUpdate(Call call) {
		return call.operation().equals("UpdateCheckpoint");
	}

}
