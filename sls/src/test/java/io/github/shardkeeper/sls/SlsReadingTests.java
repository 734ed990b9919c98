package io.github.shardkeeper.sls;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import com.aliyun.openservices.log.common.auth.Credentials;
import com.aliyun.openservices.log.common.auth.DefaultCredentials;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.sls.testsupport.SlsTestServer;
import io.github.shardkeeper.sls.testsupport.SlsTestServer.Call;
import io.github.shardkeeper.sls.testsupport.SlsTestServer.Fault;
import io.github.shardkeeper.sls.testsupport.SlsTestServer.Quota;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.RecordingSink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** What may go wrong while shards are read. */
@ExtendWith(OutputCaptureExtension.class)
class SlsReadingTests {

	private static final ShardId ZERO = ShardId.of("visits", 0);

	private static final ShardId ONE = ShardId.of("visits", 1);

	private final SlsTestServer server = new SlsTestServer();

	private final List<RuntimeException> failures = new CopyOnWriteArrayList<>();

	private @Nullable SlsShardSource source;

	private @Nullable ShardReader reader;

	private @Nullable Thread poller;

	private volatile boolean polling = true;

	SlsReadingTests() {
		this.server.createLogstore("access", 2);
	}

	@AfterEach
	void close() throws InterruptedException {
		this.polling = false;
		if (this.poller != null) {
			this.poller.interrupt();
			this.poller.join(10_000);
			this.reader.close();
		}
		if (this.source != null) {
			this.source.close();
		}
		this.server.close();
	}

	@Test
	void logGroupsAreReadInAnyNumberPerRequest() {
		open(settings(ResetPolicy.EARLIEST).fetchCount(2));
		for (int i = 0; i < 7; i++) {
			append(ZERO, "a" + i, "b" + i);
		}
		List<SourceRecord> all = start(ZERO, null).await(14);
		assertThat(payloads(all)).containsExactly("a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4", "a5",
				"b5", "a6", "b6");
		assertThat(all).extracting(SourceRecord::offset).doesNotHaveDuplicates();
		for (int i = 0; i < 14; i++) {
			this.reader.stop(ZERO);
			RecordingSink rest = start(ZERO, all.get(i).offset());
			append(ONE, "other");
			assertThat(payloads(rest.await(13 - i))).isEqualTo(payloads(all.subList(i + 1, 14)));
		}
	}

	/** So that a changed fetch count neither skips nor repeats a log. */
	@Test
	@Tag("proof")
	void offsetDoesNotDependOnTheNumberOfLogGroupsPerRequest() {
		open(settings(ResetPolicy.EARLIEST).fetchCount(1000));
		for (int i = 0; i < 7; i++) {
			append(ZERO, "a" + i, "b" + i);
		}
		List<SourceRecord> all = start(ZERO, null).await(14);
		try (SlsShardSource other = settings(ResetPolicy.EARLIEST).fetchCount(1).open()) {
			for (int i = 0; i < 13; i++) {
				try (ShardReader smaller = other.openReader()) {
					RecordingSink sink = new RecordingSink(true);
					smaller.start(ZERO, all.get(i).offset(), sink);
					pollUntil(smaller, sink, 13 - i);
					assertThat(payloads(sink.pending())).isEqualTo(payloads(all.subList(i + 1, 14)));
				}
			}
		}
	}

	/** Checkpoints name logs by it that were handled before earlier ones. */
	@Test
	@Tag("proof")
	void logHasTheSameIdentityWhereverAReadBegins() {
		open(settings(ResetPolicy.EARLIEST).fetchCount(2));
		for (int i = 0; i < 7; i++) {
			append(ZERO, "a" + i, "b" + i);
		}
		List<SourceRecord> all = start(ZERO, null).await(14);
		List<Offset> identities = all.stream().map(SourceRecord::identity).toList();
		assertThat(identities).doesNotHaveDuplicates();
		for (int fetchCount : new int[] { 1, 3, 1000 }) {
			try (SlsShardSource other = settings(ResetPolicy.EARLIEST).fetchCount(fetchCount).open()) {
				Offset after = all.get(0).offset();
				for (int i = 0; i < 13; i++) {
					try (ShardReader next = other.openReader()) {
						RecordingSink sink = new RecordingSink(true);
						next.start(ZERO, after, sink);
						pollUntil(next, sink, 13 - i);
						List<SourceRecord> rest = sink.pending();
						assertThat(rest).extracting(SourceRecord::identity)
							.as("%d per reply, after %s", fetchCount, after)
							.isEqualTo(identities.subList(i + 1, 14));
						after = rest.get(0).offset();
					}
				}
			}
		}
	}

	/** Numbers of a reader that has counted logs that do not exist mean other logs. */
	@Test
	void positionAfterTheLastLogGivesNoLogTheIdentityOfAnother() {
		open(settings(ResetPolicy.EARLIEST));
		append(ZERO, "r1");
		Offset first = start(ZERO, null).await(1).get(0).offset();
		this.reader.stop(ZERO);
		Offset beyond = new SlsOffset(SlsOffset.parse(first).origin(), 5, SlsOffset.parse(first).origin(), 5, null)
			.toOffset();
		RecordingSink sink = start(ZERO, beyond);
		await().until(() -> this.server.count("PullLogs") > 4);
		append(ZERO, "r2", "r3");

		assertThat(sink.await(2)).extracting(SourceRecord::identity)
			.doesNotContain(new Offset(SlsOffset.parse(first).origin() + ":1"));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void expiredPositionResumesAtTheFirstLog(boolean refused, CapturedOutput output) {
		Offset checkpoint = expire(ResetPolicy.EARLIEST, refused);

		assertThat(payloads(start(ZERO, checkpoint).await(2))).containsExactly("r4", "r5");
		assertThat(output).contains("visits/0: the logs after its checkpoint have expired")
			.contains("It stood at " + checkpoint)
			.contains("resumes at its first log")
			.contains("SLS does not tell how many logs are lost");
		assertThat(this.reader.problems()).isEmpty();
	}

	@Test
	void expiredPositionResumesAfterTheLastLog() {
		RecordingSink sink = start(ZERO, expire(ResetPolicy.LATEST, false));
		await().until(() -> this.server.count("PullLogs") > 3);
		append(ZERO, "r6");

		assertThat(payloads(sink.await(1))).containsExactly("r6");
	}

	/** Without it, the next owner would count from another log when some have expired. */
	@Test
	void positionOfTheFirstLogIsGivenToTheWorker() {
		open(settings(ResetPolicy.EARLIEST));
		RecordingSink sink = start(ZERO, null);
		await().until(() -> this.server.count("PullLogs") > 2);
		assertThat(sink.moves()).as("not before there is a log").isEmpty();
		append(ZERO, "r1");
		List<SourceRecord> read = sink.await(1);

		assertThat(sink.moves()).containsExactly("reused after " + SlsOffset.parse(read.get(0).offset()).origin());
	}

	@Test
	void positionAfterAResetIsGivenToTheWorker() {
		Offset checkpoint = expire(ResetPolicy.LATEST, false);
		String latest = this.source.before(StartPosition.LATEST, List.of(ZERO)).get(ZERO).value();
		RecordingSink sink = start(ZERO, checkpoint);
		await().until(() -> !sink.moves().isEmpty());
		append(ZERO, "r6");
		this.reader.stop(ZERO);

		assertThat(sink.moves()).containsExactly("reused after " + latest);
		assertThat(payloads(start(ZERO, new Offset(latest)).await(1))).as("what the next owner reads")
			.containsExactly("r6");
	}

	@Test
	void expiredPositionStopsTheShardUntilItIsSet() {
		Offset checkpoint = expire(ResetPolicy.STOP, false);
		RecordingSink sink = start(ZERO, checkpoint);
		RecordingSink other = start(ONE, null);
		append(ONE, "o1");

		assertThat(payloads(other.await(1))).containsExactly("o1");
		await().until(() -> this.reader.problems().containsKey(ZERO));
		assertThat(this.reader.problems().get(ZERO)).contains("visits/0: the logs after its checkpoint have expired")
			.contains("at " + checkpoint)
			.contains("'reset' is 'stop'")
			.contains("Set its position");
		assertThat(sink.delivered()).isZero();

		Offset set = this.source.before(StartPosition.EARLIEST, List.of(ZERO)).get(ZERO);
		assertThat(payloads(start(ZERO, set).await(2))).containsExactly("r4", "r5");
		assertThat(this.reader.problems()).isEmpty();
	}

	/** Positions by cursors that the service refuses although they are not old. */
	@ParameterizedTest
	@EnumSource(ResetPolicy.class)
	void refusedCursorTakesTheResetPolicy(ResetPolicy policy, CapturedOutput output) {
		open(settings(policy));
		append(ZERO, "r1");
		Offset checkpoint = start(ZERO, null).await(1).get(0).offset();
		this.reader.stop(ZERO);
		try (Fault fault = this.server.fail((call) -> isRead(call, 0), 400, "InvalidCursor", "Invalid Cursor")) {
			RecordingSink sink = start(ZERO, checkpoint);
			if (policy == ResetPolicy.STOP) {
				await().until(() -> this.reader.problems().containsKey(ZERO));
				assertThat(this.reader.problems().get(ZERO)).contains("SLS refuses its position");
				return;
			}
			await().until(() -> output.toString().contains("SLS refuses its position"));
			fault.end();
			append(ZERO, "r2");
			assertThat(payloads(sink.await((policy == ResetPolicy.EARLIEST) ? 2 : 1))).endsWith("r2");
		}
	}

	@Test
	void positionAtTheEndSurvivesTheExpiryOfAllLogs(CapturedOutput output) {
		open(settings(ResetPolicy.STOP));
		append(ZERO, "r1", "r2");
		Offset last = start(ZERO, null).await(2).get(1).offset();
		this.reader.stop(ZERO);
		this.server.expire("access", 0, 1);
		RecordingSink sink = start(ZERO, last);
		append(ZERO, "r3");

		assertThat(payloads(sink.await(1))).containsExactly("r3");
		assertThat(output).doesNotContain("expired");
	}

	@Test
	void checkpointOfAnotherSourceStopsTheShard() {
		open(settings(ResetPolicy.EARLIEST));
		append(ZERO, "r1");
		RecordingSink sink = start(ZERO, new Offset("1731-0"));

		await().until(() -> this.reader.problems().containsKey(ZERO));
		assertThat(this.reader.problems().get(ZERO)).contains("'1731-0' is no offset of an SLS topic")
			.contains("Set the position of the shard");
		assertThat(sink.delivered()).isZero();
	}

	@Test
	void shardThatIsGoneEnds(CapturedOutput output) {
		open(settings(ResetPolicy.EARLIEST));
		append(ZERO, "r1", "r2");
		Offset first = start(ZERO, null).await(2).get(0).offset();
		this.reader.stop(ZERO);
		this.server.split("access", 0);
		this.server.remove("access", 0);
		RecordingSink fromCheckpoint = start(ZERO, first);
		await().until(() -> fromCheckpoint.ends() == 1);
		assertThat(output).contains("visits/0 does not exist any more");

		assertThat(this.source.before(StartPosition.LATEST, List.of(ZERO)).get(ZERO).value()).isEqualTo("begin");
		await().until(() -> this.source.topics().get("visits").equals(TopicShards.count(4)));
	}

	@Test
	void shardThatNeverExistedIsAProblem() {
		open(settings(ResetPolicy.EARLIEST));
		start(ShardId.of("visits", 9), null);

		await().until(() -> !this.reader.problems().isEmpty());
		assertThat(this.reader.problems().get(ShardId.of("visits", 9))).contains("ShardNotExist");
	}

	/** Most requests are refused, and yet everything is read: nobody is called. */
	@ParameterizedTest
	@ValueSource(strings = { "ReadQuotaExceed", "ShardReadQuotaExceed" })
	void shardIsReadUnderAQuota(String code, CapturedOutput output) {
		open(settings(ResetPolicy.EARLIEST));
		append(ONE, "o1");
		try (Quota quota = this.server.limit((call) -> isRead(call, 0), code, "quota exceeded")) {
			RecordingSink zero = start(ZERO, null);
			await().until(() -> quota.refusals() > 0);
			assertThat(payloads(start(ONE, null).await(1))).as("delays no other").containsExactly("o1");
			append(ZERO, "r0");
			// The first reply with a log tells the position of the first log.
			quota.permit(1);
			for (int i = 0; i < 2; i++) {
				quota.permit(1);
				assertThat(payloads(zero.await(1))).containsExactly("r" + i);
				int refusals = quota.refusals();
				await().until(() -> quota.refusals() >= refusals + 3);
				assertThat(this.reader.problems()).isEmpty();
				append(ZERO, "r" + (i + 1));
			}
		}
		assertThat(this.failures).isEmpty();
		assertThat(output).doesNotContain("WARN");
	}

	/** It replies, so an outage before is over. */
	@Test
	void throttledServiceIsNotAway() {
		this.source = settings(ResetPolicy.EARLIEST).open();
		this.reader = this.source.openReader();
		start(ZERO, null);
		try (Fault fault = this.server.fail((call) -> true, 503, "ServerBusy", "busy");
				Quota quota = this.server.limit((call) -> isRead(call, 0), "ReadQuotaExceed", "quota exceeded")) {
			await().until(() -> isAway());
			fault.end();

			await().until(() -> this.reader.poll());
			assertThat(quota.refusals()).isPositive();
		}
		startPoller();
	}

	private boolean isAway() throws InterruptedException {
		try {
			this.reader.poll();
			return false;
		}
		catch (SlsFailure ex) {
			return true;
		}
	}

	@Test
	void throttledListOfShardsIsNoProblemOfATopicThatIsKnown() {
		open(settings(ResetPolicy.EARLIEST));
		await().until(() -> this.source.topics().get("visits").equals(TopicShards.count(2)));
		try (Quota quota = this.server.limit((call) -> call.operation().equals("ListShards"), "ReadQuotaExceed",
				"quota exceeded")) {
			await().until(() -> quota.refusals() > 1);

			assertThat(this.source.problems()).isEmpty();
		}
	}

	@Test
	void failingServiceIsReadAgain() {
		open(settings(ResetPolicy.EARLIEST));
		append(ZERO, "r1");
		try (Fault fault = this.server.failNext(2, (call) -> isRead(call, 0), 500, "InternalServerError",
				"try again")) {
			assertThat(payloads(start(ZERO, null).await(1))).containsExactly("r1");
			assertThat(fault.hits()).isEqualTo(2);
		}
		assertThat(this.failures).allSatisfy((failure) -> assertThat(failure).isInstanceOf(SlsFailure.class));
	}

	@Test
	void slowShardDelaysNoOther() {
		open(settings(ResetPolicy.EARLIEST).threads(2));
		append(ZERO, "r1");
		try (Fault held = this.server.hold((call) -> isRead(call, 0))) {
			RecordingSink zero = start(ZERO, null);
			await().until(() -> held.hits() == 1);
			RecordingSink one = start(ONE, null);
			for (int i = 0; i < 5; i++) {
				append(ONE, "o" + i);
				assertThat(payloads(one.await(1))).containsExactly("o" + i);
			}
			assertThat(zero.delivered()).isZero();
			held.end();
			assertThat(payloads(zero.await(1))).containsExactly("r1");
		}
	}

	@Test
	@Tag("proof")
	void answerThatDoesNotComeInTimeIsAFailure() {
		open(settings(ResetPolicy.EARLIEST).timeout(Duration.ofSeconds(2)));
		append(ZERO, "r1");
		try (Fault held = this.server.hold((call) -> isRead(call, 0))) {
			RecordingSink zero = start(ZERO, null);
			await().until(() -> !this.failures.isEmpty());
			assertThat(this.failures.get(0)).isInstanceOf(StoreUnavailableException.class)
				.hasMessageContaining("did not reply to the request to")
				.hasMessageContaining("visits/0");
			held.end();
			assertThat(payloads(zero.await(1))).containsExactly("r1");
		}
	}

	@Test
	void serviceThatComesBackIsReadWhereItEnded() {
		open(settings(ResetPolicy.EARLIEST));
		append(ZERO, "r1", "r2");
		RecordingSink zero = start(ZERO, null);
		zero.await(2);
		this.server.stop();
		await().until(() -> !this.failures.isEmpty());
		assertThat(this.failures.get(0)).isInstanceOf(StoreUnavailableException.class)
			.hasMessageContaining("SLS at http://cn-test.log.example.com did not reply");
		this.server.restart();
		// On a connection from before the restart, the request might not be answered.
		try (SlsShardSource sender = settings(ResetPolicy.EARLIEST).open()) {
			append(sender, ZERO, "r3");
		}

		assertThat(payloads(zero.await(1))).containsExactly("r3");
	}

	@Test
	void serviceAwayAtStartIsAProblemOfTheTopic() {
		this.server.stop();
		open(settings(ResetPolicy.EARLIEST));
		await().until(() -> this.source.problems().containsKey("visits"));
		assertThat(this.source.topics()).containsEntry("visits", TopicShards.NONE);
		assertThat(this.source.problems().get("visits")).contains("did not reply to the request to list the shards");
		this.server.restart();

		await().until(() -> this.source.topics().get("visits").equals(TopicShards.count(2)));
		assertThat(this.source.problems()).isEmpty();
	}

	@Test
	void missingLogstoreIsAProblemOfItsTopicOnly() {
		open(settings(ResetPolicy.EARLIEST).topic("orders"));
		await().until(() -> this.source.problems().containsKey("orders"));
		assertThat(this.source.problems()).containsOnlyKeys("orders");
		assertThat(this.source.problems().get("orders")).contains("LogStoreNotExist")
			.contains("Create the logstore, or set 'shardkeeper.sls.topics.<topic>.logstore'");
		append(ZERO, "r1");
		assertThat(payloads(start(ZERO, null).await(1))).containsExactly("r1");
		this.server.createLogstore("orders", 3);

		await().until(() -> this.source.topics().get("orders").equals(TopicShards.count(3)));
		assertThat(this.source.problems()).isEmpty();
	}

	@Test
	void logstoreThatIsDeletedIsAProblemOfItsTopicAndShards() {
		open(settings(ResetPolicy.EARLIEST));
		start(ZERO, null);
		await().until(() -> this.source.topics().get("visits").equals(TopicShards.count(2)));
		this.server.deleteLogstore("access");

		await().until(() -> this.reader.problems().containsKey(ZERO) && this.source.problems().containsKey("visits"));
		assertThat(this.source.topics().get("visits")).as("not closed").isEqualTo(TopicShards.count(2));
	}

	@Test
	void missingProjectIsAProblem() {
		open(settings(ResetPolicy.EARLIEST).project("other"));

		await().until(() -> this.source.problems().containsKey("visits"));
		assertThat(this.source.problems().get("visits")).contains("ProjectNotExist")
			.contains("Check 'shardkeeper.sls.project'");
	}

	@Test
	void wrongCredentialsAreAProblemWithoutTheirText(CapturedOutput output) {
		this.source = settings(ResetPolicy.EARLIEST)
			.open(() -> new DefaultCredentials(TestSource.ACCESS_KEY_ID, "wrong-secret"));
		openReader();
		start(ZERO, null);
		await().until(() -> this.reader.problems().containsKey(ZERO) && this.source.problems().containsKey("visits"));

		assertThat(this.reader.problems().get(ZERO)).contains("the credentials are not valid")
			.contains("SignatureNotMatch")
			.contains("'shardkeeper.sls.access-key-id'");
		assertThat(this.source.problems().toString() + this.reader.problems() + output + this.source)
			.doesNotContain("wrong-secret")
			.doesNotContain(TestSource.ACCESS_KEY_ID);
	}

	@Test
	void changedCredentialsCountAtOnce() {
		AtomicReference<Credentials> current = new AtomicReference<>(new DefaultCredentials("STS.one", "s1", "token1"));
		this.server.allow("STS.one", "s1", "token1");
		this.source = settings(ResetPolicy.EARLIEST).open(current::get);
		openReader();
		append(ZERO, "r1");
		RecordingSink zero = start(ZERO, null);
		zero.await(1);
		this.server.revoke("STS.one");
		await().until(() -> this.reader.problems().containsKey(ZERO));
		assertThat(this.reader.problems().get(ZERO)).doesNotContain("STS.one");
		this.server.allow("STS.two", "s2", "token2");
		current.set(new DefaultCredentials("STS.two", "s2", "token2"));
		append(ZERO, "r2");

		assertThat(payloads(zero.await(1))).containsExactly("r2");
		assertThat(this.reader.problems()).isEmpty();
	}

	@Test
	void credentialsProviderThatFailsIsAProblem() {
		AtomicReference<RuntimeException> failure = new AtomicReference<>(new IllegalStateException("no role"));
		this.source = settings(ResetPolicy.EARLIEST).open(() -> {
			RuntimeException ex = failure.get();
			if (ex != null) {
				throw ex;
			}
			return TestSource.credentials().getCredentials();
		});
		openReader();
		start(ZERO, null);
		await().until(() -> this.reader.problems().containsKey(ZERO));
		assertThat(this.reader.problems().get(ZERO)).contains("the CredentialsProvider bean returns");
		failure.set(null);

		await().until(() -> this.reader.problems().isEmpty());
	}

	/** Such as a class that is missing: no thread ends, no shard is forgotten. */
	@Test
	void errorIsAProblemAndTheRequestIsRepeated() {
		AtomicReference<Error> error = new AtomicReference<>(new NoClassDefFoundError("com/example/Missing"));
		this.source = settings(ResetPolicy.EARLIEST).open(() -> {
			Error thrown = error.get();
			if (thrown != null) {
				throw thrown;
			}
			return TestSource.credentials().getCredentials();
		});
		openReader();
		RecordingSink zero = start(ZERO, null);
		await().until(() -> this.reader.problems().containsKey(ZERO) && this.source.problems().containsKey("visits"));
		assertThat(this.reader.problems().get(ZERO)).contains("com/example/Missing");
		assertThat(this.source.problems().get("visits")).contains("com/example/Missing");
		error.set(null);
		await().until(() -> this.source.topics().get("visits").equals(TopicShards.count(2)));
		append(ZERO, "r1");

		assertThat(payloads(zero.await(1))).containsExactly("r1");
		assertThat(this.reader.problems()).isEmpty();
		assertThat(this.source.problems()).isEmpty();
	}

	@Test
	void errorWhileAShardIsReadIsAProblemAndTheReadIsRepeated() {
		this.source = settings(ResetPolicy.EARLIEST).open();
		append(ZERO, "r1");
		SlsSettings settings = settings(ResetPolicy.EARLIEST).settings();
		SlsClient client = new SlsClient(settings, TestSource.credentials());
		ShardLists lists = new ShardLists(client, settings, System::nanoTime);
		AtomicReference<Error> error = new AtomicReference<>(new StackOverflowError());
		this.reader = new SlsShardReader((shard, after) -> new ShardFetch(shard, after, client, lists, settings, () -> {
			Error thrown = error.get();
			if (thrown != null) {
				throw thrown;
			}
			return System.nanoTime();
		}), new ShardAges(client, System::currentTimeMillis), null, settings, lists.use());
		startPoller();
		RecordingSink zero = start(ZERO, null);
		await().until(() -> this.reader.problems().containsKey(ZERO));
		assertThat(this.reader.problems().get(ZERO)).contains("StackOverflowError");
		error.set(null);

		assertThat(payloads(zero.await(1))).containsExactly("r1");
		lists.close();
		client.close();
	}

	@Test
	@Tag("proof")
	void listThatFailsIsRepeatedAfterGrowingPauses() {
		try (Fault quota = this.server.fail((call) -> call.operation().equals("ListShards"), 403, "ProjectQuotaExceed",
				"quota exceeded")) {
			long begun = System.nanoTime();
			open(settings(ResetPolicy.EARLIEST).shardListInterval(Duration.ofSeconds(10)));
			await().until(() -> quota.hits() >= 4);

			// At least a half, one and two seconds.
			assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofMillis(3_400));
		}
	}

	@Test
	void topicThatCannotBeListedDelaysNoOther() {
		this.server.createLogstore("orders", 3);
		try (Fault quota = this.server.fail(
				(call) -> call.operation().equals("ListShards") && call.logstore().equals("access"), 403,
				"ProjectQuotaExceed", "quota exceeded")) {
			open(settings(ResetPolicy.EARLIEST).topic("orders").shardListInterval(Duration.ofMinutes(1)));
			await().until(() -> this.source.topics().get("orders").equals(TopicShards.count(3)));
			await().until(() -> quota.hits() > 1);

			assertThat(this.server.calls())
				.filteredOn((call) -> call.operation().equals("ListShards") && call.logstore().equals("orders"))
				.as("at its own interval")
				.hasSize(1);
		}
	}

	@Test
	void openShardsArePassedOnWithTheirAgeAfterEachList() {
		this.source = settings(ResetPolicy.EARLIEST).open();
		assertThat(this.source.openShards()).isEmpty();
		AtomicReference<Map<String, ShardSource.OpenShards>> last = new AtomicReference<>(Map.of());
		AtomicInteger calls = new AtomicInteger();
		ShardSource.Watch watch = this.source.watch(() -> {
			last.set(this.source.openShards());
			calls.incrementAndGet();
		});
		await().until(() -> calls.get() > 2);
		assertThat(last.get()).containsOnlyKeys("visits");
		assertThat(last.get().get("visits").ids()).containsExactlyInAnyOrder("0", "1");
		assertThat(last.get().get("visits").age()).isBetween(Duration.ZERO, Duration.ofSeconds(10));

		this.server.split("access", 0);
		await().until(() -> last.get().get("visits").ids().equals(Set.of("1", "2", "3")));
		this.server.deleteLogstore("access");
		await().until(() -> this.source.problems().containsKey("visits"));
		Duration age = this.source.openShards().get("visits").age();
		await().until(() -> this.server.count("ListShards") > calls.get() + 3);
		assertThat(this.source.openShards().get("visits").age()).as("of the last list that was answered")
			.isGreaterThan(age.plusMillis(1));
		this.server.createLogstore("access", 1);
		await().until(() -> last.get().get("visits").ids().equals(Set.of("0")));
		watch.close();
	}

	@Test
	void requestsAreSignedWithVersionFourIfThereIsARegion() {
		open(settings(ResetPolicy.EARLIEST).region("cn-test"));
		append(ZERO, "r1");
		Offset end = this.source.before(StartPosition.LATEST, List.of(ZERO)).get(ZERO);

		assertThat(payloads(start(ZERO, null).await(1))).containsExactly("r1");
		assertThat(SlsOffset.parse(end).cursor()).isEqualTo(this.server.endCursor("access", 0));
	}

	@Test
	void clockThatIsWrongIsAProblem() {
		open(settings(ResetPolicy.EARLIEST));
		this.server.moveClock(3600);
		start(ZERO, null);

		await().until(() -> this.reader.problems().containsKey(ZERO));
		assertThat(this.reader.problems().get(ZERO)).contains("Check the clock of this machine");
	}

	@Test
	void shardsAreListedOnlyWhileSomebodyUsesThem() {
		this.source = settings(ResetPolicy.EARLIEST).open();
		assertThat(this.source.topics()).containsEntry("visits", TopicShards.NONE);
		assertThat(this.server.calls()).isEmpty();
		ShardSource.Watch watch = this.source.watch(() -> {
		});
		await().until(() -> this.server.count("ListShards") > 2);
		watch.close();
		watch.close();
		long before = this.server.count("ListShards");

		// The one that was due may still come.
		await().during(Duration.ofMillis(350))
			.atMost(Duration.ofSeconds(5))
			.until(() -> this.server.count("ListShards") <= before + 1);
	}

	@Test
	void positionByTimeIsThatOfReceipt() {
		open(settings(ResetPolicy.EARLIEST));
		append(ZERO, "r1");
		SourceRecord first = start(ZERO, null).await(1).get(0);
		this.reader.stop(ZERO);
		Instant time = first.timestamp();

		Map<ShardId, Offset> at = this.source.before(StartPosition.at(time), List.of(ZERO, ONE));
		assertThat(payloads(start(ZERO, at.get(ZERO)).await(1))).containsExactly("r1");
		Offset later = this.source.before(StartPosition.at(time.plusSeconds(60)), List.of(ZERO)).get(ZERO);
		assertThat(SlsOffset.parse(later).cursor()).isEqualTo(this.server.endCursor("access", 0));
	}

	@Test
	void positionCannotBeResolvedWhileTheServiceIsAway() {
		open(settings(ResetPolicy.EARLIEST));
		this.server.stop();

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.source.before(StartPosition.LATEST, List.of(ZERO)))
			.withMessageContaining("did not reply");
		assertThat(this.source.before(StartPosition.EARLIEST, List.of(ZERO)).get(ZERO).value()).isEqualTo("begin");
	}

	@Test
	void largeAnswersAreKeptSmall() {
		open(settings(ResetPolicy.EARLIEST));
		String large = "x".repeat(400_000);
		for (int i = 0; i < 40; i++) {
			append(ZERO, large);
		}
		RecordingSink sink = new RecordingSink(false);
		this.reader.start(ZERO, null, sink);
		sink.await(1);
		int delivered = sink.delivered();
		assertThat(delivered).isLessThan(30);
		sink.makeRoom();
		this.reader.resume(ZERO);
		sink.await(39);
		// The first reply, one that the size of the first determines, and so on.
		assertThat(this.server.count("PullLogs")).isGreaterThan(5);
	}

	@Test
	@Tag("proof")
	void committedPositionsAreShownInTheConsumerGroup(CapturedOutput output) {
		open(settings(ResetPolicy.EARLIEST).consumerGroup("shop-visits"));
		append(ZERO, "r1", "r2", "r3");
		List<SourceRecord> read = start(ZERO, null).await(3);
		Fault fault = this.server.fail((call) -> call.operation().equals("UpdateCheckpoint"), 500,
				"InternalServerError", "try again");
		this.reader.committed(ZERO, read.get(1).offset());
		await().until(() -> fault.hits() > 0);
		assertThat(this.reader.problems()).isEmpty();
		fault.close();
		await().until(() -> this.server.consumerGroup("access", "shop-visits").containsKey(0));
		assertThat(this.server.consumerGroup("access", "shop-visits")).as("before the reply that holds it")
			.containsEntry(0, SlsOffset.parse(read.get(1).offset()).cursor());
		this.reader.committed(ZERO, read.get(2).offset());
		this.reader.committed(ONE, new Offset("of-another-source"));
		this.source.close();

		assertThat(this.server.consumerGroup("access", "shop-visits"))
			.isEqualTo(Map.of(0, this.server.endCursor("access", 0)));
		assertThat(output).contains("Positions are not written to the SLS consumer group 'shop-visits'");
	}

	private TestSource settings(ResetPolicy policy) {
		return new TestSource(this.server).topic("visits", "access", null, policy);
	}

	private void open(TestSource settings) {
		this.source = settings.open();
		openReader();
	}

	private void openReader() {
		this.reader = this.source.openReader();
		startPoller();
	}

	private void startPoller() {
		this.poller = new Thread(this::pollOn, "poller");
		this.poller.setDaemon(true);
		this.poller.start();
	}

	private void pollOn() {
		while (this.polling) {
			try {
				this.reader.poll();
			}
			catch (InterruptedException ex) {
				return;
			}
			catch (RuntimeException ex) {
				this.failures.add(ex);
			}
		}
	}

	/** Returns a checkpoint whose next log has expired; two logs are left. */
	private Offset expire(ResetPolicy policy, boolean refused) {
		if (refused) {
			this.server.refuseExpiredCursors();
		}
		open(settings(policy));
		append(ZERO, "r1");
		append(ZERO, "r2", "r3");
		append(ZERO, "r4", "r5");
		Offset checkpoint = start(ZERO, null).await(5).get(0).offset();
		this.reader.stop(ZERO);
		this.server.expire("access", 0, 2);
		return checkpoint;
	}

	private RecordingSink start(ShardId shard, @Nullable Offset after) {
		RecordingSink sink = new RecordingSink(true);
		this.reader.start(shard, after, sink);
		return sink;
	}

	/** Appends one log group. */
	private void append(ShardId shard, String... payloads) {
		append(this.source, shard, payloads);
	}

	private static void append(SlsShardSource source, ShardId shard, String... payloads) {
		List<NewRecord> records = List.of(payloads)
			.stream()
			.map((payload) -> new NewRecord(shard, null, payload.getBytes()))
			.toList();
		source.append(records).forEach(CompletableFuture::join);
	}

	private static boolean isRead(Call call, int shard) {
		return call.operation().equals("PullLogs") && call.shard() == shard;
	}

	private static void pollUntil(ShardReader reader, RecordingSink sink, int count) {
		await().until(() -> {
			reader.poll();
			return sink.delivered() >= count;
		});
	}

	private static List<String> payloads(List<SourceRecord> records) {
		return records.stream().map((record) -> new String(record.payload())).toList();
	}

}
