package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.sls.testsupport.SlsTestServer;
import io.github.shardkeeper.sls.testsupport.SlsTestServer.Fault;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.RecordingSink;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

class SlsSendingTests {

	private static final ShardId ZERO = ShardId.of("visits", 0);

	private static final ShardId ONE = ShardId.of("visits", 1);

	private final SlsTestServer server = new SlsTestServer();

	private SlsShardSource source;

	SlsSendingTests() {
		this.server.createLogstore("access", 2);
		this.source = settings().open();
	}

	private TestSource settings() {
		return new TestSource(this.server).topic("visits", "access", null, ResetPolicy.EARLIEST);
	}

	@AfterEach
	void close() {
		this.source.close();
		this.server.close();
	}

	@Test
	void recordsOfAShardShareRequestsInTheirOrder() throws InterruptedException {
		List<NewRecord> records = new ArrayList<>();
		for (int i = 0; i < 500; i++) {
			records.add(record(ZERO, "k", "z" + i));
			records.add(record(ONE, "k", "o" + i));
		}
		join(this.source.append(records));

		assertThat(this.server.count("PutLogs")).isLessThan(20);
		assertThat(read(ZERO, 500)).containsExactlyElementsOf(
				records.stream().filter((r) -> r.shard().equals(ZERO)).map((r) -> new String(r.payload())).toList());
	}

	@Test
	void listOfSeveralRequestsKeepsItsOrder() throws InterruptedException {
		String filler = "x".repeat(100_000);
		List<NewRecord> records = new ArrayList<>();
		for (int i = 0; i < 80; i++) {
			records.add(record(ZERO, null, i + filler));
		}
		join(this.source.append(records));

		assertThat(this.server.logGroups("access", 0)).isBetween(3, 79);
		assertThat(read(ZERO, 80)).extracting((payload) -> payload.replace(filler, ""))
			.containsExactlyElementsOf(
					records.stream().map((r) -> new String(r.payload()).replace(filler, "")).toList());
	}

	@Test
	void recordOverTheLimitIsRefusedBeforeAnyIsSent() {
		NewRecord large = new NewRecord(ZERO, null, new byte[SlsAppender.MAX_BYTES]);
		assertThatIllegalArgumentException().isThrownBy(() -> this.source.check(large))
			.withMessageContaining("SLS takes at most 10,485,744");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.source.append(List.of(record(ZERO, null, "small"), large)));
		assertThat(this.server.count("PutLogs")).isZero();

		// As base64 it is larger than it is.
		this.source.check(record(ZERO, null, "x".repeat(9_000_000)));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.source.check(new NewRecord(ZERO, null, new byte[9_000_000])));
	}

	@Test
	void recordWithAnIdIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.source.check(new NewRecord(ZERO, null, new byte[0], Map.of(), "id")))
			.withMessageContaining("SLS cannot recognize records that are sent again")
			.withMessageContaining("withId(…)");
	}

	@Test
	void shardIdThatIsNoNumberIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.source.check(record(new ShardId("visits", "eu"), null, "r")))
			.withMessageContaining("visits/eu is no shard of a logstore");
	}

	@Test
	void exceededQuotaIsWaitedForWithinTheTimeLimit() throws InterruptedException {
		Fault quota = this.server.failNext(2, (call) -> call.operation().equals("PutLogs"), 403, "WriteQuotaExceed",
				"Project write quota exceed: qps: 10");
		List<CompletableFuture<Offset>> sent = this.source
			.append(List.of(record(ZERO, null, "r1"), record(ZERO, null, "r2")));
		join(sent);

		assertThat(quota.hits()).isEqualTo(2);
		assertThat(read(ZERO, 2)).containsExactly("r1", "r2");
	}

	@Test
	void quotaThatStaysExceededFails() {
		this.source.close();
		this.source = settings().timeout(Duration.ofSeconds(2)).open();
		try (Fault quota = this.server.fail((call) -> call.operation().equals("PutLogs"), 403, "ShardWriteQuotaExceed",
				"quota")) {
			SendFailedException failure = failure(record(ZERO, null, "r1"));
			assertThat(failure.mayHaveBeenAppended()).isFalse();
			assertThat(failure)
				.hasMessageStartingWith("Not sent to visits/0 within PT2S: SLS throttles requests to append")
				.hasMessageContaining("ShardWriteQuotaExceed")
				.hasMessageContaining("split the shard");
			assertThat(quota.hits()).isBetween(1, 13);
		}
	}

	@Test
	@Tag("proof")
	void pausesGrowWhileAQuotaIsExceeded() {
		this.source.close();
		this.source = settings().timeout(Duration.ofSeconds(4)).open();
		try (Fault quota = this.server.fail((call) -> call.operation().equals("PutLogs"), 403, "ShardWriteQuotaExceed",
				"quota")) {
			failure(record(ZERO, null, "r1"));
			// With 0.2 s each there would be 20.
			assertThat(quota.hits()).isBetween(2, 13);
		}
	}

	/** Such as a class that is missing: later records are not stuck behind it. */
	@Test
	void errorFailsTheRecordsAndOthersAreSent() {
		AtomicReference<Error> error = new AtomicReference<>(new NoClassDefFoundError("com/example/Missing"));
		this.source.close();
		this.source = settings().open(() -> {
			throwIfSet(error);
			return TestSource.credentials().getCredentials();
		});
		assertThat(failure(record(ZERO, null, "r1"))).hasMessageContaining("com/example/Missing");
		error.set(null);

		assertThat(this.source.append(List.of(record(ZERO, null, "r2"))).get(0).join()).hasToString("unknown");
	}

	@Test
	void errorOfASenderFailsTheRecordsAndOthersAreSent() {
		AtomicReference<Error> error = new AtomicReference<>(new StackOverflowError());
		SlsSettings settings = settings().settings();
		try (SlsClient client = new SlsClient(settings, TestSource.credentials());
				ShardLists lists = new ShardLists(client, settings, System::nanoTime);
				SlsAppender appender = new SlsAppender(client, lists, settings, () -> {
					if (Thread.currentThread().getName().startsWith("shardkeeper-sls-sender")) {
						throwIfSet(error);
					}
					return System.nanoTime();
				}, System::currentTimeMillis)) {
			CompletableFuture<Offset> failed = appender.append(List.of(record(ZERO, null, "r1"))).get(0);
			assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> failed.orTimeout(60, SECONDS).join())
				.withMessageContaining("StackOverflowError");
			error.set(null);

			assertThat(appender.append(List.of(record(ZERO, null, "r2"))).get(0).orTimeout(60, SECONDS).join())
				.hasToString("unknown");
		}
	}

	private static void throwIfSet(AtomicReference<Error> error) {
		Error thrown = error.get();
		if (thrown != null) {
			throw thrown;
		}
	}

	@Test
	void failureTellsWhetherTheRecordMayHaveBeenAppended() {
		try (Fault refused = this.server.fail((call) -> call.operation().equals("PutLogs"), 400, "PostBodyInvalid",
				"cannot be parsed")) {
			assertThat(refused.hits()).isZero();
			assertThat(failure(record(ZERO, null, "r1"))).hasMessageContaining("Refused by visits/0")
				.hasMessageContaining("PostBodyInvalid")
				.returns(false, SendFailedException::mayHaveBeenAppended);
		}
		try (Fault failed = this.server.fail((call) -> call.operation().equals("PutLogs"), 500, "InternalServerError",
				"")) {
			assertThat(failed.hits()).isZero();
			assertThat(failure(record(ZERO, null, "r1"))).hasMessageContaining("No acknowledgement from visits/0")
				.returns(true, SendFailedException::mayHaveBeenAppended);
		}
		this.server.stop();
		assertThat(failure(record(ZERO, null, "r1"))).hasMessageContaining("did not reply")
			.returns(true, SendFailedException::mayHaveBeenAppended);
		this.server.restart();
		assertThat(this.source.append(List.of(record(ZERO, null, "r2"))).get(0).join()).hasToString("unknown");
	}

	/** The client repeats a request by itself, unless that is switched off. */
	@Test
	void requestWithoutAnAnswerIsNotRepeated() {
		this.source.close();
		this.source = settings().timeout(Duration.ofSeconds(2)).open();
		this.source.refresh("visits", true);
		try (Fault held = this.server.hold((call) -> call.operation().equals("PutLogs"))) {
			assertThat(failure(record(ZERO, null, "r1")).mayHaveBeenAppended()).isTrue();
			assertThat(held.hits()).isOne();
		}
	}

	@Test
	void slowShardDelaysNoOther() {
		this.source.refresh("visits", true);
		try (Fault held = this.server.hold((call) -> call.operation().equals("PutLogs"))) {
			CompletableFuture<Offset> zero = this.source.append(List.of(record(ZERO, null, "r1"))).get(0);
			await().until(() -> held.hits() == 1);
			CompletableFuture<Offset> one = this.source.append(List.of(record(ONE, null, "o1"))).get(0);
			await().until(() -> held.hits() == 2);
			assertThat(zero).isNotDone();
			held.end();
			join(List.of(zero, one));
		}
	}

	@Test
	void recordsOfASplitShardGoToTheChildThatTheirKeySelects() throws InterruptedException {
		this.source.refresh("visits", true);
		List<Integer> children = this.server.split("access", 0);
		// The listing is still the old one.
		join(this.source.append(List.of(record(ZERO, "a", "first"))));
		assertThat(this.server.logGroups("access", children.get(0))).isOne();
		ShardSource.Watch watch = this.source.watch(() -> {
		});
		await().until(() -> this.source.topics().get("visits").size() == 4);
		watch.close();
		for (int i = 0; i < 30; i++) {
			join(this.source.append(List.of(record(ZERO, "key" + i % 10, "r" + i))));
		}
		Set<String> both = new HashSet<>();
		for (int child : children) {
			int count = this.server.logGroups("access", child) - ((child == children.get(0)) ? 1 : 0);
			assertThat(count).isPositive().isLessThan(30);
			assertThat(count % 3).as("all records of a key are in one shard").isZero();
			both.addAll(read(ShardId.of("visits", child), this.server.logGroups("access", child)));
		}
		assertThat(both).hasSize(31);
		assertThat(this.server.logGroups("access", 0)).isZero();
	}

	@Test
	void shardThatDoesNotExistFails() {
		assertThat(failure(record(ShardId.of("visits", 7), null, "r"))).hasMessageContaining("no shard 7")
			.returns(false, SendFailedException::mayHaveBeenAppended);
	}

	@Test
	void unknownShardsFailTheRefresh() {
		this.server.deleteLogstore("access");

		assertThatExceptionOfType(SendFailedException.class).isThrownBy(() -> this.source.refresh("visits", true))
			.withMessageContaining("the shards of 'visits' are not known")
			.withMessageContaining("LogStoreNotExist");
	}

	@Test
	void closedSourceFails() {
		this.source.close();

		assertThatExceptionOfType(SendFailedException.class)
			.isThrownBy(() -> this.source.append(List.of(record(ZERO, null, "r"))))
			.withMessageContaining("the source is closed");
	}

	@Test
	void offsetOfAnAppendedRecordIsNoPosition() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.source.before(StartPosition.after(SlsShardSource.UNKNOWN_OFFSET), List.of(ZERO)));
	}

	private SendFailedException failure(NewRecord newRecord) {
		CompletableFuture<Offset> sent = this.source.append(List.of(newRecord)).get(0).orTimeout(60, SECONDS);
		List<Throwable> failures = new ArrayList<>();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(sent::join)
			.satisfies((ex) -> failures.add(ex.getCause()));
		assertThat(failures.get(0)).isInstanceOf(SendFailedException.class);
		return (SendFailedException) failures.get(0);
	}

	private static void join(List<CompletableFuture<Offset>> sent) {
		sent.forEach(CompletableFuture::join);
	}

	private static NewRecord record(ShardId shard, String key, String payload) {
		return new NewRecord(shard, key, payload.getBytes(), Map.of());
	}

	private List<String> read(ShardId shard, int count) throws InterruptedException {
		RecordingSink sink = new RecordingSink(true);
		try (ShardReader reader = this.source.openReader()) {
			reader.start(shard, null, sink);
			await().until(() -> {
				reader.poll();
				return sink.delivered() >= count;
			});
		}
		return sink.pending().stream().map(SourceRecord::payload).map(String::new).toList();
	}

}
