package io.github.shardkeeper.slice;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.slice.ShardkeeperTest;
import io.github.shardkeeper.test.slice.TestShards;
import io.github.shardkeeper.test.slice.TestShards.CommitLoss;
import io.github.shardkeeper.test.slice.TestShards.Waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/**
 * What a test with {@link TestShards} sees, with a handler that has state, timers and
 * output, and what it needs mocked.
 */
@ShardkeeperTest(value = VisitCounter.class,
		properties = { "shardkeeper.topics.visits.shards=2", "shardkeeper.topics.visits.source=kafka",
				"shardkeeper.kafka.topics.visits.replication-factor=1", "shardkeeper.topics.reports.shards=1",
				"shardkeeper.topics.orders.shards=1", "shardkeeper.consumer.retry.max-attempts=2",
				"shardkeeper.consumer.retry.initial-interval=10s", "shardkeeper.consumer.on-failure=retry-queue",
				"shardkeeper.consumer.retry-queue.delays=1m" })
class ShardkeeperTestTests {

	@Autowired
	private TestShards shards;

	@MockitoBean
	private Pages pages;

	@Test
	void nothingHappensBeforeAStep() {
		Appended sent = this.shards.send("visits", "ann", "/");

		verify(this.pages, never()).opened("/");
		assertThat(this.shards.state(sent.shard(), Object.class)).isEmpty();

		this.shards.step();

		verify(this.pages).opened("/");
		assertThat(this.shards.state(sent.shard(), Object.class)).containsEntry("ann", 1);
		assertThat(this.shards.committed(sent.shard())).contains(sent.offset());
		assertThat(this.shards.payloads("reports", String.class)).containsExactly("ann 1");
	}

	@Test
	void everyTestBeginsAtTheSameTimeWithAnEmptyGroup() {
		assertThat(this.shards.now()).isEqualTo(Instant.parse("2026-01-01T00:00:00Z"));
		Appended sent = this.shards.send("visits", "ann", "/");
		this.shards.step();
		this.shards.advance(Duration.ofHours(1));

		this.shards.reset();

		assertThat(this.shards.now()).isEqualTo(Instant.parse("2026-01-01T00:00:00Z"));
		assertThat(this.shards.state(sent.shard(), Object.class)).isEmpty();
		assertThat(this.shards.payloads("reports", String.class)).isEmpty();
		assertThat(this.shards.owner(sent.shard())).isEmpty();
		assertThat(this.shards.send("visits", "ann", "/")).isEqualTo(sent);
	}

	@Test
	void recordSentByAHandlerIsHandledInTheSameStep() {
		willAnswer((call) -> this.shards.send("visits", "bob", "/")).willDoNothing().given(this.pages).opened("/");
		this.shards.send("visits", "ann", "/");
		this.shards.step();

		assertThat(this.shards.payloads("reports", String.class)).containsExactlyInAnyOrder("ann 1", "bob 1");
	}

	@Test
	void recordsAreSentToAShard() {
		ShardId own = this.shards.send("visits", "ann", "/").shard();
		ShardId other = ShardId.of("visits", 1 - Integer.parseInt(own.id()));

		assertThat(this.shards.send("visits", new Outgoing("ann", "/").toShard(Integer.parseInt(other.id()))).shard())
			.isEqualTo(other);
		this.shards.step();

		assertThat(this.shards.state(other, Object.class)).containsEntry("ann", 1);
	}

	@Test
	void templateOfTheApplicationSendsToo(@Autowired ShardTemplate template) {
		ShardId shard = template.send("visits", "bob", "/").shard();
		this.shards.step();

		assertThat(this.shards.state(shard, Object.class)).containsEntry("bob", 1);
	}

	@Test
	void timersFireAtTheirTime() {
		this.shards.send("visits", "ann", "/");
		this.shards.step();
		this.shards.advance(VisitCounter.AWAY.minusSeconds(5));
		assertThat(this.shards.payloads("reports", String.class)).containsExactly("ann 1");

		this.shards.advance(Duration.ofSeconds(5));

		assertThat(this.shards.payloads("reports", String.class)).containsExactly("ann 1", "ann away");
	}

	@Test
	void valuesExpire() {
		ShardId shard = this.shards.send("visits", "ann", "/").shard();
		this.shards.step();
		assertThat(this.shards.state(shard, Object.class)).containsEntry("last/ann", "/");

		this.shards.advance(VisitCounter.AWAY.multipliedBy(2));

		assertThat(this.shards.state(shard, Object.class)).containsOnlyKeys("ann");
	}

	@Test
	void failedRecordIsRetriedAfterItsDelay() {
		willThrow(new IllegalStateException("busy")).willDoNothing().given(this.pages).opened("/");
		ShardId shard = this.shards.send("visits", "ann", "/").shard();
		this.shards.step();
		this.shards.advance(Duration.ofSeconds(9));
		verify(this.pages, times(1)).opened("/");
		assertThat(this.shards.state(shard, Object.class)).isEmpty();

		this.shards.advance(Duration.ofSeconds(1));

		verify(this.pages, times(2)).opened("/");
		assertThat(this.shards.state(shard, Object.class)).containsEntry("ann", 1);
	}

	@Test
	void recordThatKeepsFailingBecomesADeadLetter() {
		willThrow(new IllegalStateException("broken")).given(this.pages).opened("/");
		ShardId shard = this.shards.send("visits", "ann", "/").shard();
		this.shards.step();
		this.shards.advance(Duration.ofDays(1));

		assertThat(this.shards.problems()).isEmpty();
		assertThat(this.shards.deadLetters("visits")).singleElement()
			.extracting(DeadLetter::text, DeadLetter::exception)
			.containsExactly("/", "java.lang.IllegalStateException: broken");
		assertThat(this.shards.waiting(shard)).isEmpty();
	}

	@Test
	void recordWaitsInTheRetryQueue() {
		willThrow(new IllegalStateException("busy")).given(this.pages).opened("/");
		Appended sent = this.shards.send("visits", "ann", "/");
		this.shards.step();
		this.shards.advance(Duration.ofSeconds(10));

		assertThat(this.shards.waiting(sent.shard())).containsExactly(
				new Waiting(sent.offset(), "ann", 2, Duration.ofMinutes(1), "java.lang.IllegalStateException: busy"));
	}

	@Test
	void crashBeforeTheCommitRepeatsTheCallAndCountsOnce() {
		ShardId shard = this.shards.send("visits", "ann", "/").shard();
		this.shards.crashBeforeNextCommit();
		this.shards.step();
		verify(this.pages, times(1)).opened("/");
		assertThat(this.shards.state(shard, Object.class)).isEmpty();
		assertThat(this.shards.payloads("reports", String.class)).isEmpty();

		this.shards.start();
		this.shards.step();

		verify(this.pages, times(2)).opened("/");
		assertThat(this.shards.state(shard, Object.class)).containsEntry("ann", 1);
		assertThat(this.shards.payloads("reports", String.class)).containsExactly("ann 1");
	}

	@Test
	void crashInTheMiddleOfACallEndsTheInstanceThere() {
		willAnswer((call) -> {
			this.shards.crash();
			return null;
		}).willDoNothing().given(this.pages).opened("/");
		ShardId shard = this.shards.send("visits", "ann", "/").shard();
		this.shards.send("visits", "ann", "/shop");
		this.shards.step();
		verify(this.pages, never()).opened("/shop");
		assertThat(this.shards.state(shard, Object.class)).isEmpty();

		this.shards.start();
		this.shards.step();

		verify(this.pages, times(2)).opened("/");
		assertThat(this.shards.payloads("reports", String.class)).containsExactly("ann 1", "ann 2");
	}

	@Test
	void crashedInstanceDoesNothingUntilItIsStarted() {
		ShardId shard = this.shards.send("visits", "ann", "/").shard();
		this.shards.step();
		this.shards.crash();
		this.shards.send("visits", "ann", "/shop");
		this.shards.advance(Duration.ofMinutes(1));
		verify(this.pages, never()).opened("/shop");

		this.shards.start();
		this.shards.step();

		assertThat(this.shards.state(shard, Object.class)).containsEntry("ann", 2);
	}

	@Test
	void commitWhoseReplyIsLostCountsOnce() {
		this.shards.step();
		ShardId shard = this.shards.send("visits", "ann", "/").shard();
		this.shards.loseNextCommit(CommitLoss.REPLY);
		this.shards.step();
		assertThat(this.shards.state(shard, Object.class)).containsEntry("ann", 1);

		this.shards.advance(Duration.ofMinutes(1));

		assertThat(this.shards.state(shard, Object.class)).containsEntry("ann", 1);
		assertThat(this.shards.payloads("reports", String.class)).containsExactly("ann 1");
		verify(this.pages, times(1)).opened("/");
	}

	@Test
	void commitThatIsLostIsMadeAgain() {
		this.shards.step();
		ShardId shard = this.shards.send("visits", "ann", "/").shard();
		this.shards.loseNextCommit(CommitLoss.WRITE);
		this.shards.step();
		assertThat(this.shards.state(shard, Object.class)).isEmpty();

		this.shards.advance(Duration.ofMinutes(1));

		assertThat(this.shards.state(shard, Object.class)).containsEntry("ann", 1);
		assertThat(this.shards.payloads("reports", String.class)).containsExactly("ann 1");
		verify(this.pages, times(1)).opened("/");
	}

	@Test
	void twoInstancesShareTheShardsAndOneTakesOverAfterALease() {
		this.shards.start("one");
		this.shards.start("two");
		assertThat(IntStream.range(0, 2).mapToObj((shard) -> this.shards.owner(ShardId.of("visits", shard)).get()))
			.containsExactlyInAnyOrder("one", "two");
		IntStream.range(0, 10).forEach((client) -> this.shards.send("visits", "c" + client, "/"));
		this.shards.step();
		this.shards.crash("one");
		IntStream.range(0, 10).forEach((client) -> this.shards.send("visits", "c" + client, "/"));
		this.shards.step();
		assertThat(this.shards.payloads("reports", String.class)).hasSizeBetween(11, 19);

		this.shards.advance(Duration.ofMinutes(1));

		assertThat(this.shards.payloads("reports", String.class)).hasSize(20)
			.contains("c0 2", "c1 2", "c2 2", "c3 2", "c4 2", "c5 2", "c6 2", "c7 2", "c8 2", "c9 2");
		assertThat(IntStream.range(0, 2).mapToObj((shard) -> this.shards.owner(ShardId.of("visits", shard)).get()))
			.containsOnly("two");
	}

	@Test
	void shardMovesNow() {
		this.shards.start("one");
		this.shards.start("two");
		ShardId shard = this.shards.send("visits", "ann", "/").shard();
		this.shards.step();
		String other = this.shards.owner(shard).get().equals("one") ? "two" : "one";

		this.shards.move(shard, other);

		assertThat(this.shards.owner(shard)).contains(other);
		this.shards.send("visits", "ann", "/");
		this.shards.step();
		assertThat(this.shards.state(shard, Object.class)).containsEntry("ann", 2);
	}

	@Test
	void stoppedInstanceCommitsAndLeaves() {
		this.shards.start("one");
		this.shards.start("two");
		IntStream.range(0, 10).forEach((client) -> this.shards.send("visits", "c" + client, "/"));

		this.shards.stop("one");

		assertThat(IntStream.range(0, 2).mapToObj((shard) -> this.shards.owner(ShardId.of("visits", shard)).get()))
			.containsOnly("two");
		this.shards.step();
		assertThat(this.shards.payloads("reports", String.class)).hasSize(10);
	}

	@Test
	void instanceFrozenBeyondItsLeaseIsFenced() {
		this.shards.start("one");
		this.shards.start("two");
		ShardId shard = this.shards.send("visits", "ann", "/").shard();
		this.shards.step();
		String owner = this.shards.owner(shard).get();
		// Frozen in the middle of a call, whose result it commits when it is back.
		willAnswer((call) -> {
			this.shards.freeze(owner, Duration.ofMinutes(1));
			return null;
		}).willDoNothing().given(this.pages).opened("/shop");
		this.shards.send("visits", "ann", "/shop");
		this.shards.step();

		this.shards.advance(Duration.ofSeconds(59));
		assertThat(this.shards.owner(shard)).get().isNotEqualTo(owner);
		assertThat(this.shards.state(shard, Object.class)).containsEntry("ann", 2);
		this.shards.advance(Duration.ofMinutes(1));

		assertThat(this.shards.state(shard, Object.class)).containsEntry("ann", 2);
		assertThat(this.shards.payloads("reports", String.class)).containsExactly("ann 1", "ann 2");
	}

	@Test
	void sameTestGivesTheSameSchedule() {
		List<String> first = story();
		this.shards.reset();

		assertThat(story()).isEqualTo(first).hasSize(60);
	}

	private List<String> story() {
		this.shards.start("one");
		this.shards.start("two");
		IntStream.range(0, 20).forEach((client) -> this.shards.send("visits", "c" + client, "/"));
		this.shards.crashBeforeNextCommit();
		this.shards.step();
		IntStream.range(0, 20).forEach((client) -> this.shards.send("visits", "c" + client, "/"));
		this.shards.advance(Duration.ofHours(1));
		return this.shards.payloads("reports", String.class);
	}

	@Test
	void caseSeesNothingOfTheOneBefore() {
		List<Object> alone = failures("ann");
		this.shards.reset();
		this.shards.start("three");
		failures("bob");
		ShardId shard = this.shards.send("visits", "ann", "/").shard();
		this.shards.start("four");
		this.shards.move(shard, "four");
		this.shards.freeze("four", Duration.ofDays(1));
		this.shards.loseNextCommit(CommitLoss.WRITE);
		this.shards.reset();

		assertThat(failures("ann")).isEqualTo(alone);
	}

	/** Returns everything that a test sees after some records have failed. */
	private List<Object> failures(String client) {
		willThrow(new IllegalStateException("broken")).given(this.pages).opened("/shop");
		ShardId shard = this.shards.send("visits", client, "/").shard();
		this.shards.send("visits", client, "/shop");
		this.shards.step();
		List<Object> seen = new ArrayList<>(List.of(this.shards.problems(), this.shards.owner(shard)));
		this.shards.advance(Duration.ofSeconds(30));
		seen.addAll(List.of(this.shards.waiting(shard), this.shards.state(shard, Object.class)));
		this.shards.advance(Duration.ofMinutes(30));
		seen.addAll(List.of(this.shards.deadLetters("visits").toString(), this.shards.committed(shard),
				this.shards.now(), this.shards.payloads("reports", String.class)));
		return seen;
	}

	@Test
	void misuseSaysWhatToDo() {
		assertThatIllegalStateException().isThrownBy(() -> this.shards.crash())
			.withMessageContaining("step() or start()");
		this.shards.start();
		assertThatIllegalStateException().isThrownBy(() -> this.shards.start()).withMessageContaining("runs already");
		assertThatIllegalStateException().isThrownBy(() -> this.shards.stop("two"))
			.withMessageContaining("'two' does not run");
		assertThatIllegalArgumentException().isThrownBy(() -> this.shards.advance(Duration.ofSeconds(-1)))
			.withMessageContaining("does not go back");
	}

	@Test
	void onlyWhatTheSliceIsAboutIsThere(@Autowired ApplicationContext context) {
		assertThat(context.getBeanNamesForType(OrderBook.class)).isEmpty();
		assertThat(context.getBeanNamesForType(VisitCounter.class)).hasSize(1);
		this.shards.step();

		assertThat(this.shards.owner(ShardId.of("orders", 0))).isEmpty();
		assertThat(context.getBean(ShardConsumerRunner.class).isRunning()).as("on threads of its own").isFalse();
	}

}
