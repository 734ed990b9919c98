package io.github.shardkeeper.operations.reporting;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.coordination.store.GroupDiagnostics.Kind;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.operations.request.ShardQuery;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.MemberProblems;
import io.github.shardkeeper.protocol.MoveReason;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.report.BroadcastReport;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.MemberReport;
import io.github.shardkeeper.report.MoveReport;
import io.github.shardkeeper.report.ShardDetails;
import io.github.shardkeeper.report.TimersReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.report.TopicReport;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.OutboxReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyCollection;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.BDDMockito.willReturn;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.atMost;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.times;

/** Reports of a group of two members and 10,000 shards of two topics, in memory. */
class GroupReporterTests {

	private static final int SHARDS = 5_000;

	private static final MemberId ONE = MemberId.of("one", "1");

	private static final MemberId TWO = MemberId.of("two", "1");

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final CoordinationStore coordination = spy(this.store);

	private final MemoryCheckpointStore checkpoints = spy(new MemoryCheckpointStore());

	private final DeadLetterStore letters = spy(new MemoryDeadLetterStore(this.checkpoints));

	private final MemoryStreamSource source = new MemoryStreamSource(Map.of("orders", SHARDS, "visits", SHARDS));

	private final ShardCoordinator coordinator = mock();

	private final Map<ShardId, String> problems = new HashMap<>();

	private final Map<ShardId, OutboxReport> outboxes = new HashMap<>();

	private Supplier<List<MoveReport>> moves = List::of;

	/** Consumed shards of broadcast topics. */
	private final Map<String, Set<ShardId>> broadcast = new HashMap<>();

	private MonotonicTime now = MonotonicClock.SYSTEM.now();

	private final GroupReporter reporter = new GroupReporter(this.coordinator, this.coordination, this.checkpoints,
			this.letters, SourceRegistry.of(this.source), () -> this.problems, this.outboxes::get,
			(shard) -> this.moves.get(),
			new BroadcastReporter(this.broadcast::keySet,
					() -> this.broadcast.values().stream().flatMap(Set::stream).collect(Collectors.toSet()),
					() -> this.problems, this.letters),
			() -> this.now);

	private long epoch;

	@BeforeEach
	void shareShards() {
		given(this.coordinator.settings())
			.willReturn(new CoordinationSettings("app", "one", Duration.ofMillis(500), Duration.ofSeconds(3),
					Duration.ofSeconds(15), Duration.ZERO, ApplicationVersion.UNKNOWN, HandoverRules.DEFAULT, 1, null));
		given(this.coordinator.why(any())).willReturn(Optional.empty());
		join(ONE);
		join(TWO);
		this.epoch = ((HeartbeatReply.Alive) this.store.heartbeat(ONE, Seen.NOTHING, true, LoadReport.NONE)).epoch();
		List<Transition> assignments = new ArrayList<>();
		for (String topic : List.of("orders", "visits")) {
			IntStream.range(0, SHARDS)
				.forEach((number) -> assignments
					.add(new Transition.Assign(ShardId.of(topic, number), 0, (number % 2 == 0) ? ONE : TWO)));
		}
		this.store.applyPlan(ONE, this.epoch, assignments);
	}

	private void join(MemberId member) {
		this.store.joinGroup(member,
				new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(SHARDS), "visits",
						TopicShards.count(SHARDS), "later", TopicShards.NONE)), ApplicationVersion.UNKNOWN),
				Duration.ofSeconds(3), Duration.ofSeconds(15));
	}

	private GroupReport report(String topic, String member, String state, String problem, String after, String limit) {
		return this.reporter.report(ShardQuery.parse(topic, member, state, problem, after, limit, null));
	}

	private Ownership ownership(ShardId shard) {
		return this.store.readChanges(0, -1)
			.ownerships()
			.stream()
			.filter((known) -> known.shard().equals(shard))
			.findFirst()
			.orElseThrow();
	}

	@Test
	void shardHasItsLastMovesUnlessTheyCannotBeRead() {
		MoveReport move = new MoveReport("1-0", "visits", "1", "one~1", "two~1", 7, "JOIN", null, null, Instant.EPOCH,
				Duration.ZERO, null, Duration.ZERO, null, null);
		this.moves = () -> List.of(move);
		ShardId shard = ShardId.of("orders", 3);

		assertThat(this.reporter.shard(shard)).hasValueSatisfying((details) -> {
			assertThat(details.moves()).containsExactly(move);
			assertThat(details.unreadable()).isEmpty();
		});
		this.moves = () -> {
			throw new StoreUnavailableException("away, as the test wants it", null, true);
		};
		assertThat(this.reporter.shard(shard)).hasValueSatisfying((details) -> {
			assertThat(details.moves()).isNull();
			assertThat(details.unreadable()).containsKey("moves");
		});
	}

	@Test
	void answerIsOnePageWithTheNumbersOfEverything() {
		share(TWO, Map.of(ShardId.of("visits", 7), "poisoned"));

		GroupReport report = this.reporter.report();

		assertThat(report.error()).isNull();
		assertThat(report.leader()).isEqualTo(ONE.value());
		assertThat(report.members()).extracting(MemberReport::id).containsExactly("one~1", "two~1");
		assertThat(report.members()).extracting(MemberReport::shards).containsExactly(SHARDS, SHARDS);
		assertThat(report.topics()).containsExactly(new TopicReport("later", 0, new TreeMap<>(), 0, null),
				new TopicReport("orders", SHARDS, new TreeMap<>(Map.of("OWNED", SHARDS)), 0, null),
				new TopicReport("visits", SHARDS, new TreeMap<>(Map.of("OWNED", SHARDS)), 1, null));
		assertThat(report.matching()).isEqualTo(2 * SHARDS);
		assertThat(report.shards()).hasSize(100)
			.extracting(ShardReport::id)
			.containsExactlyElementsOf(IntStream.range(0, 100).mapToObj(Integer::toString).toList());
		assertThat(report.next()).isEqualTo("orders/99");
	}

	@Test
	void pagesShowEveryShardOnce() {
		List<String> shown = new ArrayList<>();
		String after = null;
		do {
			GroupReport page = report(null, null, null, null, after, "1000");
			page.shards().forEach((shard) -> shown.add(shard.topic() + "/" + shard.id()));
			after = page.next();
		}
		while (after != null);

		assertThat(shown).hasSize(2 * SHARDS).doesNotHaveDuplicates();
	}

	@Test
	void selectorsRestrictShardsAndTheirNumber() {
		ShardId moving = ShardId.of("visits", 4);
		this.store.applyPlan(ONE, this.epoch,
				List.of(new Transition.Revoke(moving, ownership(moving).generation(), TWO)));
		share(TWO, Map.of(ShardId.of("orders", 3), "poisoned"));

		assertThat(report("visits", null, null, null, null, null).matching()).isEqualTo(SHARDS);
		assertThat(report(null, null, "REVOKING", null, null, null).shards()).extracting(ShardReport::id)
			.containsExactly("4");
		assertThat(report(null, "one", null, null, null, null).matching()).isEqualTo(SHARDS);
		assertThat(report(null, "two~1", null, null, null, null).matching()).as("with the one that it gets")
			.isEqualTo(SHARDS + 1);
		assertThat(report(null, null, null, "true", null, null).shards())
			.extracting(ShardReport::topic, ShardReport::id, ShardReport::problem)
			.containsExactly(tuple("orders", "3", "poisoned"));
		assertThat(report("orders", "two", "OWNED", "false", null, "0").matching()).isEqualTo(SHARDS / 2 - 1);
		assertThat(report("orders", null, null, null, "orders/4998", null).next()).isNull();
		assertThat(report("orders", null, null, null, "visits/0", null).shards()).isEmpty();
	}

	@Test
	void unknownTopicAndMemberAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> report("carts", null, null, null, null, null))
			.withMessage("The group has no topic 'carts'");
		assertThatIllegalArgumentException().isThrownBy(() -> report(null, "three", null, null, null, null))
			.withMessage("The group has no member 'three'; its members are [one~1, two~1]");
		assertThat(this.reporter.report("carts", ShardQuery.FIRST_PAGE)).isEmpty();
		assertThat(this.reporter.shard(ShardId.of("orders", SHARDS))).isEmpty();
	}

	@Test
	void topicHasItsOwnReport() {
		GroupReport report = this.reporter.report("visits", ShardQuery.FIRST_PAGE).orElseThrow();

		assertThat(report.topics()).extracting(TopicReport::topic).containsExactly("visits");
		assertThat(report.matching()).isEqualTo(SHARDS);
		assertThat(report.shards()).hasSize(100).allMatch((shard) -> shard.topic().equals("visits"));
		assertThat(this.reporter.report("later", ShardQuery.FIRST_PAGE))
			.hasValueSatisfying((later) -> assertThat(later.shards()).isEmpty());
	}

	@Test
	void dataIsReadOnlyForThePage() {
		List<Integer> asked = new ArrayList<>();
		willAnswer((call) -> {
			asked.add(((Collection<?>) call.getArgument(0)).size());
			return call.callRealMethod();
		}).given(this.checkpoints).offsets(anyCollection());

		report(null, null, null, null, null, "7");
		report(null, null, null, null, null, "0");

		assertThat(asked).containsExactly(7);
		then(this.letters).shouldHaveNoInteractions();
	}

	@Test
	void deadLettersAreCountedForThePageIfAskedFor() {
		willReturn(Map.of(ShardId.of("orders", 1), 3L)).given(this.letters).countDeadLetters(anyCollection());

		GroupReport counted = this.reporter.report(ShardQuery.parse(null, null, null, null, null, "2", "true"));

		assertThat(counted.shards()).extracting(ShardReport::deadLetters).containsExactly(null, 3L);
		then(this.letters).should().countDeadLetters(List.of(ShardId.of("orders", 0), ShardId.of("orders", 1)));
	}

	@Test
	void refusedCountOfDeadLettersLeavesTheRest() {
		willThrow(new StoreUnavailableException("WRONGTYPE", null, true)).given(this.letters)
			.countDeadLetters(anyCollection());

		GroupReport report = this.reporter.report(ShardQuery.parse(null, null, null, null, null, "2", "true"));

		assertThat(report.error()).isNull();
		assertThat(report.shards()).hasSize(2).extracting(ShardReport::deadLetters).containsOnlyNulls();
	}

	@Test
	void silentMemberIsShownAlthoughItsEntryIsTheSame() {
		this.reporter.report();
		Instant since = Instant.parse("2026-11-21T04:12:27.650Z");
		willAnswer((call) -> {
			GroupChanges read = (GroupChanges) call.callRealMethod();
			return new GroupChanges(read.leader(), read.epoch(), read.generation(), read.membership(), read.whole(),
					read.members(), read.ownerships(), Map.of(TWO, since.toEpochMilli()));
		}).given(this.coordination).readChanges(anyLong(), anyLong());

		assertThat(this.reporter.report().members()).extracting(MemberReport::silentSince).containsExactly(null, since);
	}

	@Test
	void pauseOfATopicIsShownAtTheTopic() {
		assertThat(this.reporter.report().topics()).extracting(TopicReport::paused).containsOnlyNulls();
		this.store.directives().put(Directive.of(Directive.Kind.PAUSE, "visits", null, "ann", "disk is full"));

		TopicReport visits = this.reporter.report().topics().get(2);
		assertThat(visits.paused()).isNotNull();
		assertThat(visits.paused().by()).isEqualTo("ann");
		assertThat(visits.paused().reason()).isEqualTo("disk is full");
	}

	/** Half a second of processor time for each of 20 replies would be far too much. */
	@Test
	void answersAreFastAndReadOnlyWhatChanged() {
		report(null, null, null, null, null, "1000");
		long begun = System.nanoTime();
		for (int i = 0; i < 20; i++) {
			report(null, null, null, "true", null, "1000");
		}
		long millis = (System.nanoTime() - begun) / 1_000_000;

		System.out.printf("20 replies about %d shards took %d ms%n", 2 * SHARDS, millis);
		assertThat(millis).isLessThan(10_000);
		then(this.coordination).should(atMost(1)).readChanges(0, -1);
	}

	@Test
	void changesSinceTheLastAnswerAreShown() {
		this.reporter.report();
		ShardId moving = ShardId.of("visits", 4);
		this.store.applyPlan(ONE, this.epoch,
				List.of(new Transition.Revoke(moving, ownership(moving).generation(), TWO)));
		this.store.announceLeave(TWO);

		GroupReport report = report(null, null, "REVOKING", null, null, null);

		assertThat(report.matching()).isOne();
		assertThat(report.members()).extracting(MemberReport::leaving).containsExactly(false, true);
	}

	@Test
	void pictureIsReadAgainAsAWholeAfterAWhile() {
		this.reporter.report();
		// Lost writes leave no trace in later changes.
		this.now = this.now.plus(GroupSnapshot.CONTINUED);
		this.reporter.report();

		then(this.coordination).should(times(2)).readChanges(0, -1);
	}

	@Test
	void emptiedStoreIsShownAtOnce() {
		this.reporter.report();
		MemoryCoordinationStore emptied = new MemoryCoordinationStore();
		emptied.joinGroup(TWO, new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN),
				Duration.ofSeconds(3), Duration.ofSeconds(15));
		willAnswer((call) -> emptied.readChanges(call.getArgument(0), call.getArgument(1))).given(this.coordination)
			.readChanges(anyLong(), anyLong());

		GroupReport report = this.reporter.report();

		assertThat(report.members()).extracting(MemberReport::id).containsExactly("two~1");
		assertThat(report.matching()).isZero();
	}

	@Test
	void shardHasEverythingThatIsKnown() {
		ShardId shard = ShardId.of("orders", 3);
		Token token = ownership(shard).token();
		this.checkpoints.acquireNow(shard, token);
		for (int i = 0; i < 5; i++) {
			this.source.append(List.of(new NewRecord(shard, "ann", new byte[0], Map.of())));
		}
		this.checkpoints
			.commit(shard, token,
					Commit.of(Commit.CommitNumber.ofWhole(1), new Offset("2"), Map.of("ann", "1", "bob", "2")))
			.join();
		share(TWO, Map.of(shard, "line one\nline two"));

		ShardDetails details = this.reporter.shard(shard).orElseThrow();

		assertThat(details.shard().owner()).isEqualTo(TWO.value());
		assertThat(details.shard().offset()).isEqualTo("2");
		assertThat(details.shard().problem()).isEqualTo("line one line two");
		assertThat(details.lag()).isNotNull();
		assertThat(details.lag().records()).isEqualTo(3);
		assertThat(details.lag().millis()).isBetween(0L, 60_000L);
		assertThat(details.stateEntries()).isEqualTo(2);
		assertThat(details.deadLetters()).isZero();
		assertThat(details.retries()).isZero();
		assertThat(details.unreadable()).isEmpty();
	}

	/** An owner knows more of its outbox than the store. */
	@Test
	void outboxIsThatOfTheOwnerOrElseOfTheStore() {
		ShardId ofOne = ShardId.of("orders", 2);
		ShardId ofTwo = ShardId.of("orders", 3);
		send(ofOne);
		send(ofTwo);
		OutboxReport own = new OutboxReport(7, 91L, Instant.EPOCH);
		this.outboxes.put(ofOne, own);
		// Its worker has not ended yet.
		this.outboxes.put(ofTwo, own);

		assertThat(outbox(ofOne)).isEqualTo(own);
		assertThat(outbox(ofTwo)).isEqualTo(new OutboxReport(1, null, null));
		assertThat(outbox(ShardId.of("orders", 4))).as("it has never sent anything").isNull();
		this.outboxes.clear();
		assertThat(outbox(ofOne)).as("not known here yet").isEqualTo(new OutboxReport(1, null, null));

		given(this.checkpoints.countOutbox(ofTwo))
			.willThrow(new StoreUnavailableException("Redis: NOPERM", null, true));
		ShardDetails details = this.reporter.shard(ofTwo).orElseThrow();
		assertThat(details.outbox()).isNull();
		assertThat(details.unreadable()).containsExactly(Map.entry("outbox", "Redis: NOPERM"));
	}

	@Test
	void timersAreCountedAndTheNextOnesNamed() {
		ShardId shard = ShardId.of("orders", 2);
		Token token = ownership(shard).token();
		this.checkpoints.acquireNow(shard, token);
		assertThat(this.reporter.shard(shard).orElseThrow().timers()).isNull();
		Map<TimerId, Instant> timers = new HashMap<>();
		for (int i = 0; i < 12; i++) {
			timers.put(new TimerId("key " + (char) ('a' + i), "remind"), Instant.ofEpochSecond(100 - i));
		}
		this.checkpoints
			.commit(shard, token,
					Commit.of(Commit.CommitNumber.ofWhole(1), new Offset("2"), Map.of()).withTimers(timers))
			.join();

		assertThat(this.reporter.shard(shard).orElseThrow().timers()).satisfies((report) -> {
			assertThat(report.waiting()).isEqualTo(12);
			assertThat(report.next()).hasSize(10)
				.startsWith(new TimersReport.Next("key l", "remind", Instant.ofEpochSecond(89)));
		});
	}

	private OutboxReport outbox(ShardId shard) {
		ShardDetails details = this.reporter.shard(shard).orElseThrow();
		assertThat(details.unreadable()).isEmpty();
		return details.outbox();
	}

	private void send(ShardId shard) {
		Token token = ownership(shard).token();
		this.checkpoints.acquireNow(shard, token);
		ShardId target = ShardId.of("visits", 0);
		Outbox.Place place = new Outbox.Place(token.value(), 1);
		Outbox.Entry entry = new Outbox.Entry(place, token.value(), target, 1, null, new byte[1], Map.of());
		this.checkpoints
			.commit(shard, token,
					Commit.of(Commit.CommitNumber.ofWhole(1), new Offset("2"), Map.of())
						.withOutbox(new Outbox.Changes(token.value(), place, Map.of(target, 1L), List.of(entry),
								List.of(), false)))
			.join();
	}

	@Test
	void unreadablePartsAreNamedAndTheOthersShown() {
		ShardId shard = ShardId.of("orders", 3);
		given(this.letters.countDeadLetters(anyCollection()))
			.willThrow(new StoreUnavailableException("Redis: WRONGTYPE", null, true));
		this.checkpoints.acquireNow(shard, ownership(shard).token());

		ShardDetails details = this.reporter.shard(shard).orElseThrow();

		assertThat(details.deadLetters()).isNull();
		assertThat(details.unreadable()).containsExactly(Map.entry("deadLetters", "Redis: WRONGTYPE"));
		assertThat(details.retries()).isZero();
		assertThat(details.lag()).as("without an offset").isNull();
	}

	@Test
	void broadcastTopicsAreThoseOfThisInstance() {
		this.broadcast.put("rates", Set.of(ShardId.of("rates", 0)));
		this.broadcast.put("prices", Set.of(ShardId.of("prices", 0), ShardId.of("prices", 1)));
		this.problems.put(ShardId.of("prices", 1), "Halted\nat offset 41");
		// Another process has the same instance id, so the shard is not consumed any
		// more.
		this.problems.put(ShardId.of("rates", 1), "has stopped");
		this.problems.put(ShardId.of("orders", 1), "of the group");
		willReturn(Map.of(ShardId.of("prices", 0), 2L, ShardId.of("prices", 1), 3L)).given(this.letters)
			.countDeadLetters(List.of(ShardId.of("prices", 0), ShardId.of("prices", 1)));

		assertThat(this.reporter.report().broadcast()).containsExactly(
				new BroadcastReport("prices", 2, Map.of("1", "Halted at offset 41"), null),
				new BroadcastReport("rates", 1, Map.of("1", "has stopped"), null));
		assertThat(this.reporter.report(ShardQuery.parse(null, null, null, null, null, "0", "true")).broadcast())
			.extracting(BroadcastReport::deadLetters)
			.containsExactly(5L, 0L);
		assertThat(this.reporter.report("orders", ShardQuery.FIRST_PAGE))
			.hasValueSatisfying((report) -> assertThat(report.broadcast()).as("in the report for one topic").isEmpty());
	}

	@Test
	void broadcastTopicsAreShownWithoutTheStore() {
		this.broadcast.put("prices", Set.of(ShardId.of("prices", 0)));
		given(this.coordination.readChanges(0, -1)).willThrow(new StoreUnavailableException("away", null));

		assertThat(this.reporter.report().broadcast())
			.containsExactly(new BroadcastReport("prices", 1, Map.of(), null));
	}

	@Test
	void withoutTheStoreTheReasonIsReported() {
		StoreUnavailableException away = new StoreUnavailableException("away", null);
		given(this.coordination.readChanges(0, -1)).willThrow(away);

		assertThat(this.reporter.report().error()).isEqualTo("away");
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.reporter.shard(ShardId.of("orders", 1)));
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.reporter.report("orders", ShardQuery.FIRST_PAGE));
	}

	/** An owner tells its problems, and nobody else does for it. */
	@Test
	void problemsOfOtherMembersAreShown() {
		ShardId ofOne = ShardId.of("orders", 2);
		ShardId ofTwo = ShardId.of("orders", 3);
		share(ONE, Map.of(ofOne, "older than what this instance knows", ShardId.of("orders", 5), "moved away"));
		share(TWO, Map.of(ofTwo, "poisoned", ShardId.of("carts", 1), "unknown shard"));
		share(MemberId.of("gone", "1"), Map.of(ShardId.of("orders", 7), "of a former session"));
		this.problems.put(ofOne, "new");
		this.problems.put(ShardId.of("orders", 9), "of a shard that two owns");

		GroupReport report = report(null, null, null, "true", null, null);

		assertThat(report.shards()).extracting(ShardReport::id, ShardReport::problem)
			.containsExactly(tuple("2", "new"), tuple("3", "poisoned"));
		assertThat(report.topics()).extracting(TopicReport::problems).containsExactly(0, 2, 0);
		assertThat(report.incomplete()).isNull();
		assertThat(this.reporter.shard(ofTwo).orElseThrow().shard().problem()).isEqualTo("poisoned");
	}

	private void share(MemberId member, Map<ShardId, String> shared) {
		this.store.diagnostics().write(Kind.PROBLEMS, Map.of(member.value(), MemberProblems.of(shared).text())).join();
	}

	@Test
	void reasonsOfMovesAreShown() {
		this.store.diagnostics()
			.write(Kind.REASONS,
					Map.of("orders/0", new MoveReason(Reason.SHARE, ONE, TWO, null).text(), "orders/1",
							new MoveReason(Reason.SHARE, ONE, TWO, null).text(), "orders/2", "later format"))
			.join();
		given(this.coordinator.why(ShardId.of("orders", 3))).willReturn(Optional.of("what the leader says"));

		assertThat(report("orders", null, null, null, null, "4").shards()).extracting(ShardReport::why)
			.containsExactly("orders/0 moves from two~1 to one~1: its owner had more than its share, this member less",
					// It is with another member: the reason is of an earlier move.
					null, null, "what the leader says");
		assertThat(this.reporter.shard(ShardId.of("orders", 0)).orElseThrow().shard().why()).contains("moves from");
	}

	@Test
	void garbageInSharedProblemsIsNamedAndHarmsNothing() {
		this.store.diagnostics()
			.write(Kind.PROBLEMS, Map.of(ONE.value(), "2 {later format}", TWO.value(), "x".repeat(17_000)))
			.join();

		GroupReport report = this.reporter.report();

		assertThat(report.matching()).isEqualTo(2 * SHARDS);
		assertThat(report.incomplete()).contains("Some problems of shards are not known",
				"what one~1 has written cannot be read", "what two~1 has written cannot be read");
		assertThat(this.reporter.shard(ShardId.of("orders", 1)).orElseThrow().unreadable()).containsKey("problem");
	}

	@Test
	void problemsThatCannotBeReadLeaveTheRest() {
		GroupDiagnostics broken = mock();
		given(broken.read(any(), any())).willThrow(new StoreUnavailableException("Redis: WRONGTYPE", null, true));
		given(this.coordination.diagnostics()).willReturn(broken);
		this.problems.put(ShardId.of("orders", 0), "own");

		GroupReport report = this.reporter.report();

		assertThat(report.error()).isNull();
		assertThat(report.incomplete()).contains("Redis: WRONGTYPE");
		assertThat(report.shards().get(0).problem()).isEqualTo("own");
	}

	@Test
	void problemsAreShortened() {
		this.problems.put(ShardId.of("orders", 0), "x".repeat(100_000));

		assertThat(this.reporter.report().shards().get(0).problem()).hasSizeLessThan(600);
	}

}
