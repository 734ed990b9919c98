package io.github.shardkeeper.sls;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.sls.testsupport.SlsTestServer;
import io.github.shardkeeper.sls.testsupport.SlsTestServer.Quota;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;

/** When a shard is read, and what is read, reply by reply. */
class ShardFetchTests {

	private static final ShardId SHARD = ShardId.of("visits", 0);

	private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

	private final SlsTestServer server = new SlsTestServer();

	private final AtomicLong nanos = new AtomicLong();

	private final SlsSettings settings = new TestSource(this.server)
		.topic("visits", "access", null, ResetPolicy.EARLIEST)
		.pollInterval(POLL_INTERVAL)
		.settings();

	private final SlsClient client = new SlsClient(this.settings, TestSource.credentials());

	private final ShardLists lists = new ShardLists(this.client, this.settings, this.nanos::get);

	private final SlsShardSource source = new SlsShardSource(this.settings, TestSource.credentials());

	ShardFetchTests() {
		this.server.createLogstore("access", 1);
	}

	@AfterEach
	void close() {
		this.source.close();
		this.lists.close();
		this.client.close();
		this.server.close();
	}

	/** The reply says that it has reached the end, so nothing is asked to see that. */
	@Test
	void trickleCostsOneRequestPerAnswer() {
		append("r0");
		ShardFetch fetch = fetch(null);
		assertThat(readToAPause(fetch)).containsExactly("r0");
		long before = this.server.count("PullLogs");
		for (int i = 1; i <= 10; i++) {
			append("r" + i);
			this.nanos.addAndGet(POLL_INTERVAL.toNanos());
			assertThat(readToAPause(fetch)).containsExactly("r" + i);
		}

		assertThat(this.server.count("PullLogs") - before).isEqualTo(10);
	}

	@Test
	void endIsFoundAsBeforeWhereTheServiceDoesNotTellIt() {
		this.server.leaveOutEnd();
		append("r0");
		ShardFetch fetch = fetch(null);

		assertThat(readToAPause(fetch)).containsExactly("r0");
		assertThat(fetch.next()).isEqualTo(new ShardFetch.Fetched(List.of(), POLL_INTERVAL));
	}

	/** Fewer log groups than are asked for do not mean that there are no more. */
	@Test
	void shortAnswersAreFollowedAtOnceUntilTheEnd() {
		this.server.answerWithAtMost(3);
		for (int i = 0; i < 8; i++) {
			append("a" + i, "b" + i);
		}
		List<String> all = IntStream.range(0, 8).boxed().flatMap((i) -> List.of("a" + i, "b" + i).stream()).toList();
		ShardFetch fetch = fetch(null);
		ShardFetch.Result moved = fetch.next();
		assertThat(moved).isInstanceOf(ShardFetch.Moved.class);
		List<SourceRecord> read = new ArrayList<>();
		for (Duration pause : List.of(Duration.ZERO, Duration.ZERO, POLL_INTERVAL)) {
			ShardFetch.Fetched fetched = (ShardFetch.Fetched) fetch.next();
			assertThat(fetched.pause()).isEqualTo(pause);
			read.addAll(fetched.records());
		}

		assertThat(payloads(read)).isEqualTo(all);
		for (int i = 0; i < 16; i++) {
			assertThat(readToAPause(fetch(read.get(i).offset()))).as("after %s", read.get(i).offset())
				.isEqualTo(all.subList(i + 1, 16));
		}
	}

	@Test
	void busyShardIsReadAgainBeforeThePollInterval() {
		append("r0");
		ShardFetch fetch = fetch(null);
		readToAPause(fetch);
		this.nanos.addAndGet(Duration.ofMillis(500).toNanos());
		for (int i = 0; i < 80; i++) {
			append("more");
		}
		readToAPause(fetch);
		this.nanos.addAndGet(Duration.ofMillis(500).toNanos());
		for (int i = 0; i < 40; i++) {
			append("more");
		}

		assertThat(((ShardFetch.Fetched) fetch.next()).pause()).as("16 log groups at 80 per second")
			.isEqualTo(Duration.ofMillis(200));
		this.nanos.addAndGet(Duration.ofMillis(200).toNanos());
		append("fewer");
		assertThat(((ShardFetch.Fetched) fetch.next()).pause()).isEqualTo(POLL_INTERVAL);
	}

	/** Its end has to be found, and its children wait for that. */
	@Test
	void shardThatIsClosedIsReadToItsEndAtOnce() {
		append("r0");
		this.server.split("access", 0);
		this.lists.refresh("visits", Duration.ZERO);
		ShardFetch fetch = fetch(null);
		assertThat(fetch.next()).isInstanceOf(ShardFetch.Moved.class);

		assertThat(((ShardFetch.Fetched) fetch.next()).pause()).isZero();
		assertThat(fetch.next()).isInstanceOf(ShardFetch.Ended.class);
	}

	/** As the vendor's consumer does: an empty next cursor means to keep the own one. */
	@Test
	void answerWithoutNextCursorKeepsTheOwnOne() {
		ShardFetch fetch = fetch(null);
		this.server.leaveOutNextCursor(true);
		assertThat(fetch.next()).isEqualTo(new ShardFetch.Fetched(List.of(), POLL_INTERVAL));
		this.server.leaveOutNextCursor(false);
		append("r0");

		assertThat(readToAPause(fetch)).containsExactly("r0");
	}

	/** The logs come again with the next reply, and are not handled again. */
	@Test
	void logsWithoutNextCursorAreReadOnce() {
		append("r0");
		ShardFetch fetch = fetch(null);
		readToAPause(fetch);
		this.server.leaveOutNextCursor(true);
		append("r1", "r2");
		List<SourceRecord> read = new ArrayList<>(((ShardFetch.Fetched) fetch.next()).records());
		append("r3");
		read.addAll(((ShardFetch.Fetched) fetch.next()).records());
		assertThat(((ShardFetch.Fetched) fetch.next()).records()).isEmpty();
		this.server.leaveOutNextCursor(false);
		append("r4");
		read.addAll(((ShardFetch.Fetched) fetch.next()).records());

		assertThat(payloads(read)).containsExactly("r1", "r2", "r3", "r4");
		assertThat(read).extracting(SourceRecord::identity).doesNotHaveDuplicates();
		for (int i = 0; i < 4; i++) {
			assertThat(readToAPause(fetch(read.get(i).offset()))).as("after %s", read.get(i).offset())
				.isEqualTo(payloads(read.subList(i + 1, 4)));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "ReadQuotaExceed", "ShardReadQuotaExceed", "ProjectQuotaExceed" })
	void quotaIsAProblemOnlyIfNothingIsReadForLong(String code) {
		append("r0");
		ShardFetch fetch = fetch(null);
		readToAPause(fetch);
		append("r1");
		try (Quota quota = this.server.limit((call) -> call.operation().equals("PullLogs"), code,
				"quota exceed: qps")) {
			for (int i = 0; i < 29; i++) {
				ShardFetch.Failed failed = (ShardFetch.Failed) fetch.next();
				assertThat(failed.visible()).as("after %d s", i).isFalse();
				assertThat(failed.failure()).as("not refused for good").matches((failure) -> !failure.isRefusal());
				this.nanos.addAndGet(Duration.ofSeconds(1).toNanos());
			}
			quota.permit(1);
			assertThat(readToAPause(fetch)).containsExactly("r1");
			append("r2");
			assertThat(((ShardFetch.Failed) fetch.next()).visible()).as("something was read").isFalse();
			this.nanos.addAndGet(Duration.ofSeconds(30).toNanos());
			ShardFetch.Failed failed = (ShardFetch.Failed) fetch.next();

			assertThat(failed.visible()).isTrue();
			assertThat(failed.failure())
				.hasMessageStartingWith("SLS throttles requests to read visits/0 (HTTP 403, " + code)
				.hasMessageContaining("): quota exceed: qps. If this lasts, "
						+ (code.startsWith("Shard") ? "split the shard" : "raise the quota of the project"));
			quota.permit(1);
			assertThat(readToAPause(fetch)).containsExactly("r2");
		}
	}

	private ShardFetch fetch(@Nullable Offset after) {
		return new ShardFetch(SHARD, after, this.client, this.lists, this.settings, this.nanos::get);
	}

	/** Reads as long as the shard would be read again at once. */
	private static List<String> readToAPause(ShardFetch fetch) {
		List<SourceRecord> read = new ArrayList<>();
		for (int attempt = 0; attempt < 100; attempt++) {
			ShardFetch.Result result = fetch.next();
			if (result instanceof ShardFetch.Moved) {
				continue;
			}
			assertThat(result).isInstanceOf(ShardFetch.Fetched.class);
			read.addAll(((ShardFetch.Fetched) result).records());
			if (!((ShardFetch.Fetched) result).pause().isZero()) {
				return payloads(read);
			}
		}
		throw new AssertionError("The shard is read again and again");
	}

	/** Appends one log group. */
	private void append(String... payloads) {
		this.source
			.append(List.of(payloads)
				.stream()
				.map((payload) -> new NewRecord(SHARD, null, payload.getBytes(StandardCharsets.UTF_8)))
				.toList())
			.forEach(CompletableFuture::join);
	}

	private static List<String> payloads(List<SourceRecord> records) {
		return records.stream().map((record) -> new String(record.payload(), StandardCharsets.UTF_8)).toList();
	}

}
