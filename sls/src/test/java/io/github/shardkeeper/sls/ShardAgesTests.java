package io.github.shardkeeper.sls;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.sls.testsupport.SlsTestServer;
import io.github.shardkeeper.sls.testsupport.SlsTestServer.Fault;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardSource.Lag;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ShardAgesTests {

	private static final ShardId SHARD = ShardId.of("visits", 0);

	private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

	private static final Lag AT_END = new Lag(null, Duration.ZERO);

	private final SlsTestServer server = new SlsTestServer();

	private final AtomicLong millis = new AtomicLong(START.toEpochMilli());

	private final SlsSettings settings = new TestSource(this.server)
		.topic("visits", "access", null, ResetPolicy.EARLIEST)
		.settings();

	private final SlsClient client = new SlsClient(this.settings, TestSource.credentials());

	private final ShardLists lists = new ShardLists(this.client, this.settings, System::nanoTime);

	private final ShardAges ages = new ShardAges(this.client, this.millis::get);

	ShardAgesTests() {
		this.server.createLogstore("access", 1);
		// One log group per reply.
		this.server.answerWithAtMost(1);
	}

	@AfterEach
	void close() {
		this.lists.close();
		this.client.close();
		this.server.close();
	}

	@Test
	void ageOfAShardThatIsReadNeedsNoRequestWhenAllIsCommitted() {
		append(Duration.ofSeconds(10), "r0");
		append(Duration.ofSeconds(40), "r1");
		append(Duration.ofSeconds(70), "r2");
		this.millis.addAndGet(100_000);
		ShardFetch fetch = fetch(null);
		List<SourceRecord> read = read(fetch, 2);
		int requests = this.server.calls().size();

		assertThat(lag(read.get(1))).as("r2 is next").isEqualTo(new Lag(null, Duration.ofSeconds(30)));
		assertThat(this.server.calls()).hasSize(requests);
		SourceRecord last = read(fetch, 1).get(0);
		requests = this.server.calls().size();
		assertThat(lag(last)).as("the reply has reached the end").isEqualTo(AT_END);
		assertThat(this.server.calls()).hasSize(requests);
	}

	@Test
	void whatIsReadAndNotCommittedCounts() {
		append(Duration.ofSeconds(10), "r0");
		append(Duration.ofSeconds(40), "r1");
		this.millis.addAndGet(100_000);
		List<SourceRecord> read = read(fetch(null), 2);

		assertThat(lag(read.get(0))).as("the end is read, and r1 not committed")
			.isEqualTo(new Lag(null, Duration.ofSeconds(60)));
		assertThat(this.server.count("GetCursorTime")).isOne();
	}

	/**
	 * The log is not the first one of its log group, which is all that a cursor names.
	 */
	@Test
	void ageInsideOfAnAnswerIsThatOfItsFirstLog() {
		append(Duration.ofSeconds(10), "a0", "b0", "c0");
		this.millis.addAndGet(100_000);
		List<SourceRecord> read = read(fetch(null), 3);

		assertThat(lag(read.get(0))).isEqualTo(new Lag(null, Duration.ofSeconds(90)));
		assertThat(lag(read.get(1))).isEqualTo(new Lag(null, Duration.ofSeconds(90)));
		assertThat(lag(read.get(2))).isEqualTo(AT_END);
	}

	@Test
	void shardThatIsNotReadHereIsAskedFor() {
		append(Duration.ofSeconds(10), "r0");
		append(Duration.ofSeconds(40), "r1");
		this.millis.addAndGet(100_000);
		List<SourceRecord> read = read(fetch(null), 2);
		this.ages.reached(SHARD, null);

		assertThat(this.ages.lag(SHARD, new Offset("begin"))).isEqualTo(new Lag(null, Duration.ofSeconds(90)));
		assertThat(lag(read.get(0))).isEqualTo(new Lag(null, Duration.ofSeconds(60)));
		assertThat(lag(read.get(1))).isEqualTo(AT_END);
	}

	/** Otherwise a shard that cannot be read would have no lag. */
	@Test
	void failedReadEndsWhatIsKnown() {
		append(Duration.ofSeconds(10), "r0");
		ShardFetch fetch = fetch(null);
		SourceRecord first = read(fetch, 1).get(0);
		assertThat(lag(first)).isEqualTo(AT_END);
		append(Duration.ofSeconds(40), "r1");
		this.millis.addAndGet(100_000);
		try (Fault fault = this.server.fail((call) -> call.operation().equals("PullLogs"), 403, "ShardReadQuotaExceed",
				"shard read qps exceed quota limits")) {
			assertThat(next(fetch)).isInstanceOf(ShardFetch.Failed.class);
			assertThat(fault.hits()).isOne();
		}

		assertThat(lag(first)).isEqualTo(new Lag(null, Duration.ofSeconds(60)));
	}

	@Test
	void clockThatIsBehindThatOfTheServiceGivesNoNegativeAge() {
		append(Duration.ofSeconds(10), "r0");

		assertThat(this.ages.lag(SHARD, new Offset("begin"))).isEqualTo(new Lag(null, Duration.ZERO));
	}

	@Test
	void timeThatTheServiceDoesNotTellIsUnknown() {
		this.server.leaveOutEnd();
		append(Duration.ofSeconds(10), "r0");
		append(Duration.ofSeconds(40), "r1");
		SourceRecord first = read(fetch(null), 1).get(0);

		assertThat(lag(first)).isNull();
	}

	@Test
	void shardThatDoesNotExistHasNoAge() {
		assertThat(this.ages.lag(ShardId.of("visits", 7), new Offset("begin"))).isNull();
	}

	@Test
	void throttledOrForeignOffsetHasNoAge() {
		append(Duration.ofSeconds(10), "r0");
		try (Fault fault = this.server.fail((call) -> call.operation().equals("GetCursorTime"), 403, "ReadQuotaExceed",
				"read quota exceed")) {
			assertThatExceptionOfType(SlsFailure.class).isThrownBy(() -> this.ages.lag(SHARD, new Offset("begin")))
				.withMessageStartingWith("SLS throttles requests to get the time of a cursor of visits/0");
			assertThat(fault.hits()).isOne();
		}

		assertThatIllegalArgumentException().isThrownBy(() -> this.ages.lag(SHARD, new Offset("1731-0")))
			.withMessageContaining("is no offset of an SLS topic");
	}

	private ShardFetch fetch(@Nullable Offset after) {
		return new ShardFetch(SHARD, after, this.client, this.lists, this.settings, System::nanoTime);
	}

	private @Nullable Lag lag(SourceRecord committed) {
		return this.ages.lag(SHARD, committed.offset());
	}

	private List<SourceRecord> read(ShardFetch fetch, int count) {
		List<SourceRecord> read = new ArrayList<>();
		while (read.size() < count) {
			if (next(fetch) instanceof ShardFetch.Fetched fetched) {
				read.addAll(fetched.records());
			}
		}
		assertThat(read).hasSize(count);
		return read;
	}

	private ShardFetch.Result next(ShardFetch fetch) {
		ShardFetch.Result result = fetch.next();
		this.ages.reached(SHARD, fetch.reached());
		return result;
	}

	/** Appends a log group that was received some time after the start. */
	private void append(Duration received, String... payloads) {
		long seconds = START.plus(received).getEpochSecond();
		this.server.append("access", 0,
				LogEncoder.group(List.of(payloads)
					.stream()
					.map((payload) -> LogEncoder
						.log(new NewRecord(SHARD, null, payload.getBytes(StandardCharsets.UTF_8)), seconds))
					.toList()));
	}

}
