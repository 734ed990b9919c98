package io.github.shardkeeper.operations.reporting;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.mockito.stubbing.Answer;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.operations.reporting.ConsumptionSample.ShardFigures;
import io.github.shardkeeper.operations.reporting.ConsumptionSample.TopicFigures;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.report.MovePhaseReport;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardActivity;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardSource.Lag;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyCollection;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.BDDMockito.willReturn;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;

/**
 * Samples of an instance with shards of two topics, while parts cannot be read. Its loop
 * does not run: the tests call each step themselves.
 */
@Isolated("simulations switch logs off")
class ConsumptionSamplerTests {

	private static final Duration INTERVAL = Duration.ofSeconds(30);

	private static final ShardId ORDER = ShardId.of("orders", 0);

	private static final ShardId VISIT = ShardId.of("visits", 0);

	private static final StoreUnavailableException AWAY = new StoreUnavailableException("No reply within 5000 ms",
			null);

	private final MemoryCheckpointStore checkpoints = spy(new MemoryCheckpointStore());

	private final DeadLetterStore letters = spy(new MemoryDeadLetterStore(this.checkpoints));

	private final MemoryStreamSource source = spy(new MemoryStreamSource(Map.of("orders", 250, "visits", 1)));

	private final MemoryCoordinationStore group = new MemoryCoordinationStore();

	private final CoordinationStore coordination = spy(this.group);

	private final Set<ShardId> shards = new TreeSet<>(Set.of(ORDER, VISIT));

	private final SettableClock clock = new SettableClock();

	private final List<ConsumptionSample> samples = new ArrayList<>();

	private List<MovePhaseReport> phases = List.of();

	private final Map<ShardId, String> problems = new HashMap<>(Map.of(ORDER, "halted"));

	/** Shards of which nothing is known are always read. */
	private final Map<ShardId, ShardActivity> activities = new HashMap<>();

	/** Shards whose offsets, dead letters and retries were read. */
	private final Map<String, Set<ShardId>> read = new TreeMap<>();

	private boolean leads;

	/** Topics whose checkpoints, dead letters and lag cannot be read. */
	private final Set<String> away = new HashSet<>();

	private StoreUnavailableException failure = AWAY;

	/** Calls that failed because of that. */
	private int failed;

	private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

	private final ch.qos.logback.classic.Logger logger = (ch.qos.logback.classic.Logger) LoggerFactory
		.getLogger(ConsumptionSampler.class);

	private final ConsumptionSampler sampler = new ConsumptionSampler(
			new ConsumptionSampler.Stores(this.coordination, this.checkpoints, this.letters,
					SourceRegistry.of(this.source)),
			new ConsumptionSampler.Consumption(() -> Set.of("orders"), () -> Set.of("visits"), () -> this.shards,
					() -> this.problems, this.activities::get),
			() -> this.leads, (leading) -> leading ? this.phases : List.of(),
			new MemberRuntime(this.clock, mock(Loops.class), new Random(1)), () -> Instant.ofEpochMilli(100_000),
			INTERVAL, 0, this.samples::add);

	@BeforeEach
	void begin() {
		this.sampler.start();
		this.logged.start();
		this.logger.addAppender(this.logged);
		give(ORDER);
		give(VISIT);
		willAnswer(unlessAway()).given(this.checkpoints).offsets(anyCollection(), any());
		willAnswer(unlessAway()).given(this.letters).countDeadLetters(anyCollection());
		willAnswer(unlessAway()).given(this.letters).countRetries(anyCollection());
	}

	/** Gives the shard a record that is committed and one that is not. */
	private void give(ShardId shard) {
		commit(shard, 7, append(shard), List.of());
		append(shard);
	}

	private void commit(ShardId shard, long token, Offset offset, List<FailedRecord> deadLetters) {
		this.checkpoints.acquireNow(shard, new Token(token));
		CommitReply reply = this.checkpoints
			.commit(shard, new Token(token),
					new Commit(CommitNumber.ofWhole(1), offset, Set.of(), Map.of(), List.of(), Set.of(), deadLetters))
			.orTimeout(1, TimeUnit.MINUTES)
			.join();
		assertThat(reply).isEqualTo(CommitReply.COMMITTED);
	}

	private Offset append(ShardId shard) {
		return this.source.append(List.of(new NewRecord(shard, "key", "text".getBytes(StandardCharsets.UTF_8))))
			.get(0)
			.orTimeout(1, TimeUnit.MINUTES)
			.join();
	}

	/** Each failing call takes as long as its time limit. */
	private Answer<Object> unlessAway() {
		return (call) -> {
			Collection<ShardId> asked = call.getArgument(0);
			if (asked.stream().anyMatch((shard) -> this.away.contains(shard.topic()))) {
				this.failed++;
				this.clock.advance(Duration.ofSeconds(5));
				throw this.failure;
			}
			this.read.computeIfAbsent(call.getMethod().getName(), (method) -> new TreeSet<>()).addAll(asked);
			return call.callRealMethod();
		};
	}

	@AfterEach
	void endCapture() {
		this.logger.detachAppender(this.logged);
	}

	/**
	 * Takes the steps up to the next sample, and returns when the one after it is due.
	 */
	private Duration next() {
		int before = this.samples.size();
		MonotonicTime begun = this.clock.now();
		MonotonicTime due = begun;
		while (this.samples.size() == before) {
			due = this.sampler.step();
		}
		return begun.until(due);
	}

	private ConsumptionSample sample() {
		next();
		return this.samples.get(this.samples.size() - 1);
	}

	private List<String> log() {
		return this.logged.list.stream().map((event) -> event.getLevel() + " " + event.getFormattedMessage()).toList();
	}

	@Test
	void sampleHasTheFiguresOfAllShards() {
		ConsumptionSample sample = sample();

		assertThat(sample.shards()).containsOnlyKeys(ORDER, VISIT);
		assertFigures(sample, ORDER, true);
		assertFigures(sample, VISIT, false);
		assertThat(sample.topics()).containsExactly("orders");
		assertThat(sample.broadcastTopics()).containsExactly("visits");
		assertThat(sample.group()).as("does not lead").isNull();
		assertThat(log()).isEmpty();
	}

	@Test
	void storeThatFailsForOneTopicHidesNothingElse() {
		this.away.add("orders");

		ConsumptionSample sample = sample();

		assertThat(sample.shards().get(ORDER)).isEqualTo(new ShardFigures(null, null, null, true, true));
		assertFigures(sample, VISIT, false);
	}

	@Test
	void figuresReturnWithTheStore() {
		this.away.add("orders");
		sample();
		this.away.clear();

		ConsumptionSample sample = sample();

		assertFigures(sample, ORDER, true);
		assertFigures(sample, VISIT, false);
	}

	@Test
	void outageIsLoggedOnceAndSoIsItsEnd() {
		this.away.addAll(Set.of("orders", "visits"));
		sample();
		sample();
		assertThat(log()).containsExactly("WARN The offsets of 'orders' cannot be read; "
				+ "its meters have no value until it can. No reply within 5000 ms");

		this.away.clear();
		sample();
		sample();
		assertThat(log()).hasSize(2).last().isEqualTo("INFO All figures for meters can be read again");

		this.away.add("visits");
		sample();
		assertThat(log()).hasSize(3);
	}

	@Test
	void sourceThatFailsHidesTheLagOfItsTopicOnly() {
		RuntimeException bug = new IllegalArgumentException("not my offset");
		for (RuntimeException thrown : List.of(bug, AWAY)) {
			willAnswer((call) -> {
				if (call.<ShardId>getArgument(0).topic().equals("orders")) {
					throw thrown;
				}
				return call.callRealMethod();
			}).given(this.source).lag(any(), any());

			ConsumptionSample sample = sample();

			assertThat(sample.shards().get(ORDER)).isEqualTo(new ShardFigures(null, 0L, 0L, true, true));
			assertFigures(sample, VISIT, false);
		}
		assertThat(log()).hasSize(2).first().asString().startsWith("WARN The lag of orders/0 cannot be read");
	}

	@Test
	void leaderKeepsTheFiguresOfItsGroupDuringAnOutageOfTheDataPlane() {
		lead();
		this.away.addAll(Set.of("orders", "visits"));
		this.phases = List.of(new MovePhaseReport("orders", "JOIN", "acquired", Duration.ofMillis(7)));

		ConsumptionSample sample = sample();

		assertThat(sample.group()).containsOnlyKeys("orders");
		assertThat(sample.group().get("orders")).isEqualTo(
				new TopicFigures(Map.of("FREE", 0, "OWNED", 0, "REVOKING", 0, "QUIET", 0, "COMPLETED", 0), 0, 0));
		assertThat(sample.phases()).isEqualTo(this.phases);
	}

	@Test
	void groupThatCannotBeReadIsUnknownAndShardsStay() {
		lead();
		willAnswer((call) -> {
			throw AWAY;
		}).given(this.coordination).readChanges(anyLong(), anyLong());

		ConsumptionSample sample = sample();

		assertThat(sample.group()).isNull();
		assertFigures(sample, ORDER, true);
		assertThat(log()).singleElement().asString().contains("The states of the group's shards cannot be read");
	}

	private void lead() {
		MemberId member = MemberId.of("one", "1");
		this.group.joinGroup(member, new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(1))),
				ApplicationVersion.UNKNOWN), Duration.ofSeconds(3), Duration.ofSeconds(15));
		this.group.heartbeat(member, Seen.NOTHING, true, LoadReport.NONE);
		this.leads = true;
	}

	/** Each would take as long as the time limit again. */
	@Test
	void partsThatFollowAnUnansweredOneAreNotAskedFor() {
		IntStream.range(0, 250).forEach((number) -> this.shards.add(ShardId.of("orders", number)));
		this.away.add("orders");

		ConsumptionSample sample = sample();

		assertThat(this.failed).isEqualTo(1);
		assertThat(sample.shards().values().stream().filter(ShardFigures::unreadable)).hasSize(250);
		assertFigures(sample, VISIT, false);
	}

	/** A refusal may concern one part only. */
	@Test
	void partsThatFollowARefusedOneAreAskedFor() {
		IntStream.range(0, 250).forEach((number) -> this.shards.add(ShardId.of("orders", number)));
		this.away.add("orders");
		this.failure = new StoreUnavailableException("WRONGTYPE", null, true);

		sample();

		assertThat(this.failed).isEqualTo(9);
	}

	/** Others are read first then, so that they are never late. */
	@Test
	void topicThatWasNotAnsweredComesLast() {
		this.away.add("orders");
		sample();
		this.failed = 0;

		this.sampler.step();

		assertThat(this.failed).isZero();

		this.away.clear();
		sample();
		this.away.add("orders");
		this.sampler.step();
		assertThat(this.failed).as("first again, as it was answered").isEqualTo(1);
	}

	@Test
	void sourceThatDoesNotAnswerIsNotAskedForTheOtherShards() {
		ShardId other = ShardId.of("orders", 1);
		this.shards.add(other);
		give(other);
		List<ShardId> asked = new ArrayList<>();
		willAnswer((call) -> {
			asked.add(call.getArgument(0));
			throw AWAY;
		}).given(this.source).lag(any(), any());

		ConsumptionSample sample = sample();

		assertThat(asked).containsExactly(ORDER, VISIT);
		assertThat(sample.shards().get(other)).isEqualTo(new ShardFigures(null, 0L, 0L, false, true));
	}

	@Test
	void outagesDoNotDelayASampleForLongerThanItsInterval() {
		for (int i = 0; i < 20; i++) {
			this.away.add("topic" + i);
			this.shards.add(ShardId.of("topic" + i, 0));
		}
		MonotonicTime begun = this.clock.now();
		next();
		assertThat(begun.until(this.clock.now())).isEqualTo(INTERVAL);

		// Each of these rounds finds six of the topics, which come last from then on.
		IntStream.range(0, 3).forEach((round) -> next());
		ConsumptionSample later = sample();
		assertFigures(later, ORDER, true);
		assertFigures(later, VISIT, false);
		assertThat(later.shards().values().stream().filter(ShardFigures::unreadable)).hasSize(20);
	}

	@Test
	void samplesAreTakenAtTheInterval() {
		assertThat(next()).isEqualTo(INTERVAL);
	}

	@Test
	void figuresOfManyShardsAreReadInSmallSteps() {
		IntStream.range(0, 250).forEach((number) -> this.shards.add(ShardId.of("orders", number)));
		assertThat(this.clock.now().until(this.sampler.step())).isZero();
		assertThat(this.samples).isEmpty();
	}

	@Test
	void knownFiguresOfRestingShardsAreReadOfOneShardOnly() {
		Set<ShardId> resting = restingShards(250);
		sample();
		this.read.clear();

		ConsumptionSample second = sample();

		assertFigures(second, ORDER, true);
		assertThat(resting).allSatisfy((shard) -> assertThat(second.shards().get(shard))
			.isEqualTo(new ShardFigures(new LagReport(0L, 0L, null), 0L, 0L, false, false)));
		assertThat(this.read).containsOnlyKeys("offsets", "countDeadLetters", "countRetries")
			.allSatisfy((method, shards) -> assertThat(shards).contains(ORDER, VISIT).hasSize(3));
	}

	/** So that each shard, and each node of a cluster, is asked at some time. */
	@Test
	void eachSampleReadsKnownFiguresOfAnotherShard() {
		Set<ShardId> resting = restingShards(4);
		sample();
		this.read.clear();

		IntStream.range(0, 4).forEach((round) -> sample());

		assertThat(this.read.get("offsets")).containsAll(resting);
	}

	@Test
	void lagIsReadAgainOnceTheOwnerHasDoneSomething() {
		ShardId busy = restingShards(3).iterator().next();
		sample();
		append(busy);
		this.activities.put(busy, new ShardActivity(7, 1, 6L));

		assertThat(sample().shards().get(busy).lag()).extracting(LagReport::records).isEqualTo(1L);

		append(busy);
		assertThat(sample().shards().get(busy).lag()).as("never known with a lag")
			.extracting(LagReport::records)
			.isEqualTo(2L);
	}

	/** Its reader does not tell of records that it must not see yet. */
	@Test
	void lagOfASourceThatHoldsRecordsBackIsAlwaysRead() {
		Set<ShardId> resting = restingShards(5);
		willReturn(new Lag(0L, Duration.ZERO, 0L)).given(this.source).lag(any(), any());
		sample();
		willReturn(new Lag(3L, null, 0L)).given(this.source).lag(any(), any());

		ConsumptionSample second = sample();

		assertThat(resting)
			.allSatisfy((shard) -> assertThat(second.shards().get(shard).lag()).isEqualTo(new LagReport(3L, null, 0L)));
	}

	@Test
	void busyShardsAreAskedForTheirLagOnly() {
		Set<ShardId> shards = restingShards(10);
		shards.forEach((shard) -> this.activities.put(shard, new ShardActivity(7, 1, null)));
		sample();
		this.read.clear();

		sample();

		assertThat(this.read.get("offsets")).containsAll(shards);
		assertThat(this.read.get("countDeadLetters")).hasSize(3);
		assertThat(this.read.get("countRetries")).hasSize(3);
	}

	@Test
	void deadLettersAndRetriesAreReadAgainOnceRecordsWereSetAside() {
		List<ShardId> shards = List.copyOf(restingShards(4));
		sample();
		deadLetter(shards.get(0));
		deadLetter(shards.get(1));
		this.activities.put(shards.get(0), new ShardActivity(7, 2, 5L));
		this.activities.put(shards.get(1), new ShardActivity(8, 1, 5L));

		Map<ShardId, ShardFigures> figures = sample().shards();

		assertThat(figures.get(shards.get(0)).deadLetters()).isEqualTo(1L);
		assertThat(figures.get(shards.get(1)).deadLetters()).as("another owner").isEqualTo(1L);
	}

	/** Nobody tells the owner. */
	@Test
	void deadLettersThatOthersSendBackOrDropAreNoticed() {
		ShardId shard = restingShards(3).iterator().next();
		deadLetter(shard);
		assertThat(sample().shards().get(shard).deadLetters()).isEqualTo(1L);

		this.letters.sendBack(shard, this.letters.list(shard, null, 1));

		assertThat(sample().shards().get(shard))
			.isEqualTo(new ShardFigures(new LagReport(0L, 0L, null), 0L, 1L, false, false));
	}

	@Test
	void shardsWithAProblemAreRead() {
		ShardId shard = restingShards(3).iterator().next();
		sample();
		append(shard);
		this.problems.put(shard, "Records cannot be read");

		assertThat(sample().shards().get(shard).lag()).extracting(LagReport::records).isEqualTo(1L);
	}

	@Test
	void knownFiguresAreNotShownWhileTheStoreDoesNotAnswer() {
		Set<ShardId> resting = restingShards(250);
		sample();
		this.away.add("orders");
		this.failed = 0;

		ConsumptionSample sample = sample();

		assertThat(sample.shards().values()).filteredOn(ShardFigures::unreadable).hasSize(251);
		assertThat(resting).allSatisfy((shard) -> assertThat(sample.shards().get(shard))
			.isEqualTo(new ShardFigures(null, null, null, false, true)));
		assertThat(this.failed).isEqualTo(1);

		this.away.clear();
		assertThat(sample().shards().values()).noneMatch(ShardFigures::unreadable);
	}

	/** It may concern some shards only. */
	@Test
	void knownFiguresAreReadIfTheStoreRefusesThemForAShard() {
		Set<ShardId> resting = restingShards(4);
		sample();
		this.read.clear();
		ShardId refused = resting.stream().skip(1).findFirst().orElseThrow();
		willAnswer((call) -> {
			if (call.<ShardId>getArgument(0).equals(refused)) {
				throw new StoreUnavailableException("WRONGTYPE", null, true);
			}
			return call.callRealMethod();
		}).given(this.source).lag(any(), any());

		Map<ShardId, ShardFigures> figures = sample().shards();

		assertThat(figures.get(refused)).isEqualTo(new ShardFigures(null, 0L, 0L, false, true));
		assertThat(figures.values()).filteredOn(ShardFigures::unreadable).hasSize(1);
		assertThat(this.read.get("offsets")).containsAll(resting);
	}

	/** Adds shards of orders without lag whose owner rests. */
	private Set<ShardId> restingShards(int number) {
		Set<ShardId> resting = new TreeSet<>();
		IntStream.rangeClosed(1, number).mapToObj((id) -> ShardId.of("orders", id)).forEach((shard) -> {
			commit(shard, 7, append(shard), List.of());
			this.activities.put(shard, new ShardActivity(7, 1, 5L));
			resting.add(shard);
		});
		this.shards.addAll(resting);
		return resting;
	}

	private void deadLetter(ShardId shard) {
		Offset offset = append(shard);
		commit(shard, 8, offset, List.of(new FailedRecord(offset, "key", new byte[0], Map.of(), Instant.EPOCH, 1, 0,
				"failed", "", Instant.EPOCH)));
	}

	private static void assertFigures(ConsumptionSample sample, ShardId shard, boolean problem) {
		ShardFigures figures = sample.shards().get(shard);
		assertThat(figures.lag()).extracting(LagReport::records).isEqualTo(1L);
		assertThat(figures).isEqualTo(new ShardFigures(figures.lag(), 0L, 0L, problem, false));
	}

}
