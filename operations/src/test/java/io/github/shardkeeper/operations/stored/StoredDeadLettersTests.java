package io.github.shardkeeper.operations.stored;

import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.DeadLetters.Page;
import io.github.shardkeeper.DeadLetters.SentBack;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore.CompletionReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.memory.MemoryStreamSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class StoredDeadLettersTests {

	private static final Token TOKEN = new Token(7);

	private static final Instant DEPLOYED = Instant.parse("2026-01-01T12:00:00Z");

	private static final DeadLetterFilter ALL = DeadLetterFilter.topic("orders");

	private final MemoryCheckpointStore checkpoints = new MemoryCheckpointStore();

	private final DeadLetterStore store = new MemoryDeadLetterStore(this.checkpoints);

	private final List<ShardId> nudged = new ArrayList<>();

	private final Map<ShardId, Integer> commits = new HashMap<>();

	private boolean away;

	private final DeadLetters letters = letters(this.store);

	private DeadLetters letters(DeadLetterStore letterStore) {
		return new StoredDeadLetters("shop", letterStore, coordination()::notifyOwners,
				SourceRegistry.of(new MemoryStreamSource(Map.of("orders", 4, "visits", 2))));
	}

	private CoordinationStore coordination() {
		return (CoordinationStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { CoordinationStore.class }, (proxy, method, arguments) -> {
					assertThat(method.getName()).isEqualTo("notifyOwners");
					if (this.away) {
						throw new StoreUnavailableException("away", new IllegalStateException());
					}
					((Collection<?>) arguments[0]).forEach((shard) -> this.nudged.add((ShardId) shard));
					return null;
				});
	}

	@Test
	void deadLetterContainsItsRecord() {
		give(2, new FailedRecord(new Offset("1-1"), "ann", "{\"page\":\"ü\"}".getBytes(StandardCharsets.UTF_8),
				Map.of("tenant", "acme"), DEPLOYED, 5, 2, "java.io.IOException: no", "at a.b.C",
				DEPLOYED.plusSeconds(3)));

		DeadLetter letter = this.letters.list(ALL, null, 10).letters().get(0);

		assertThat(letter.id()).startsWith("orders/2/");
		assertThat(letter.group()).isEqualTo("shop");
		assertThat(letter.shard()).isEqualTo(shard(2));
		assertThat(letter.offset()).isEqualTo(new Offset("1-1"));
		assertThat(letter.key()).isEqualTo("ann");
		assertThat(letter.text()).isEqualTo("{\"page\":\"ü\"}");
		assertThat(letter.headers()).containsExactly(Map.entry("tenant", "acme"));
		assertThat(letter.timestamp()).isEqualTo(DEPLOYED);
		assertThat(letter.attempts()).isEqualTo(5);
		assertThat(letter.exception()).isEqualTo("java.io.IOException: no");
		assertThat(letter.stackTrace()).isEqualTo("at a.b.C");
		assertThat(letter.failedAt()).isEqualTo(DEPLOYED.plusSeconds(3));
		assertThat(this.letters.find(letter.id())).contains(letter);
		assertThat(letter.toString()).contains(letter.id(), "IOException").doesNotContain("page", "a.b.C");
	}

	@Test
	void everyShardIsCounted() {
		give(1, records("a", 3));
		give(3, records("b", 1));

		assertThat(this.letters.count("orders")).containsExactly(Map.entry(shard(0), 0L), Map.entry(shard(1), 3L),
				Map.entry(shard(2), 0L), Map.entry(shard(3), 1L));
		assertThat(this.letters.count("visits")).hasSize(2).containsValue(0L);
		this.letters.sendBack(ALL.matching((letter) -> letter.shard().equals(shard(1))));
		assertThat(this.letters.waiting("orders")).containsEntry(shard(1), 3L).containsEntry(shard(3), 0L);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 7, 24, 25, 26, 60, 1000 })
	void pagesCoverAllShardsInOrder(int limit) {
		give(0, records("a", 26));
		give(1, records("b", 1));
		give(3, records("c", 33));

		List<String> seen = new ArrayList<>();
		Page page = this.letters.list(ALL, null, limit);
		while (true) {
			assertThat(page.letters()).hasSizeLessThanOrEqualTo(limit);
			page.letters().forEach((letter) -> seen.add(letter.offset().value()));
			if (page.next() == null) {
				break;
			}
			assertThat(page.letters()).hasSize(limit);
			page = this.letters.list(ALL, page.next(), limit);
		}

		List<String> expected = new ArrayList<>();
		List.of(records("a", 26), records("b", 1), records("c", 33))
			.forEach((records) -> List.of(records).forEach((record) -> expected.add(record.offset().value())));
		assertThat(seen).isEqualTo(expected);
	}

	@Test
	void pageOfLargeDeadLettersEndsEarly() {
		give(0, large("a"), large("b"), large("c"));

		Page first = this.letters.list(ALL, null, 100);
		Page second = this.letters.list(ALL, first.next(), 100);

		assertThat(first.letters()).extracting((letter) -> letter.offset().value()).containsExactly("a", "b");
		assertThat(second.letters()).extracting((letter) -> letter.offset().value()).containsExactly("c");
		assertThat(second.next()).isNull();
	}

	private static FailedRecord large(String offset) {
		return new FailedRecord(new Offset(offset), null, new byte[5_000_000], Map.of(), Instant.EPOCH, 1, 0, "e", "s",
				Instant.EPOCH);
	}

	@Test
	void pageContinuesAfterADeletedDeadLetter() {
		give(0, records("a", 6));
		Page first = this.letters.list(ALL, null, 2);
		this.letters.drop(DeadLetterFilter.shard(shard(0)).matching((letter) -> letter.offset().value().equals("a1")));

		Page second = this.letters.list(ALL, first.next(), 10);

		assertThat(second.letters()).extracting((letter) -> letter.offset().value())
			.containsExactly("a2", "a3", "a4", "a5");
		assertThat(second.next()).isNull();
	}

	@Test
	void filterRequiresEveryCondition() {
		give(1, failed("1", "ann", "java.net.SocketTimeoutException: Read timed out", DEPLOYED.minusSeconds(1)),
				failed("2", "ann", "java.net.SocketTimeoutException: Read timed out", DEPLOYED),
				failed("3", "bob", "java.net.SocketTimeoutException: Read timed out", DEPLOYED.plusSeconds(5)),
				failed("4", null, "java.lang.IllegalStateException", DEPLOYED.plusSeconds(5)));
		give(2, failed("5", "ann", "java.lang.IllegalStateException", DEPLOYED));

		assertThat(offsets(ALL.exception("Timeout"))).containsExactly("1", "2", "3");
		assertThat(offsets(ALL.key("ann"))).containsExactly("1", "2", "5");
		assertThat(offsets(ALL.failedSince(DEPLOYED))).containsExactly("2", "3", "4", "5");
		assertThat(offsets(ALL.failedBefore(DEPLOYED))).containsExactly("1");
		assertThat(offsets(DeadLetterFilter.shard(shard(2)))).containsExactly("5");
		assertThat(offsets(ALL.exception("Timeout").key("ann").failedSince(DEPLOYED))).containsExactly("2");
		assertThat(offsets(ALL.matching((letter) -> letter.key() == null))).containsExactly("4");
		assertThat(offsets(ALL.key("nobody"))).isEmpty();
	}

	@Test
	void deadLetterIsSentBackAndItsOwnerNotified() {
		give(1, records("a", 3));
		String id = this.letters.list(ALL, null, 10).letters().get(1).id();

		assertThat(this.letters.sendBack(id)).isEqualTo(new SentBack(1, Set.of()));

		assertThat(this.nudged).containsExactly(shard(1));
		assertThat(due(1)).containsExactly("a1");
		assertThat(this.letters.find(id)).isEmpty();
		assertThat(this.letters.sendBack(id)).isEqualTo(new SentBack(0, Set.of()));
		assertThat(this.nudged).as("notified again, because the first time may have failed").hasSize(2);
		assertThat(offsets(ALL)).containsExactly("a0", "a2");
	}

	@Test
	void deadLettersOfManyShardsAreSentBack() {
		give(0, records("a", 60));
		give(2, records("b", 2));
		give(3, records("c", 1));

		assertThat(this.letters.sendBack(ALL.matching((letter) -> !letter.shard().equals(shard(3)))))
			.isEqualTo(new SentBack(62, Set.of()));

		assertThat(this.nudged).containsExactlyInAnyOrder(shard(0), shard(2));
		assertThat(due(0)).hasSize(60).startsWith("a0");
		assertThat(offsets(ALL)).containsExactly("c0");
	}

	/** Otherwise a record that keeps failing would be sent back forever. */
	@Test
	void deadLettersStoredInTheMeantimeAreNotSentBack() {
		give(1, records("a", 30));
		AtomicInteger asked = new AtomicInteger();

		SentBack result = this.letters.sendBack(ALL.matching((letter) -> {
			if (asked.incrementAndGet() <= 100) {
				give(1, failed("again" + asked, null, "e", DEPLOYED));
			}
			return true;
		}));

		assertThat(result).isEqualTo(new SentBack(30, Set.of()));
		assertThat(offsets(ALL)).hasSize(30).allMatch((offset) -> offset.startsWith("again"));
	}

	@Test
	void completedShardKeepsItsDeadLettersAndOthersAreSentBack() {
		give(0, records("a", 1));
		give(1, records("b", 40));
		give(2, records("c", 1));
		assertThat(this.checkpoints.complete(shard(1), TOKEN, 0, 0)).isEqualTo(CompletionReply.COMPLETED);

		assertThat(this.letters.sendBack(ALL)).isEqualTo(new SentBack(2, Set.of(shard(1))));

		assertThat(this.letters.count("orders")).containsEntry(shard(1), 40L).containsEntry(shard(0), 0L);
		String id = this.letters.list(ALL, null, 1).letters().get(0).id();
		assertThat(this.letters.sendBack(id)).isEqualTo(new SentBack(0, Set.of(shard(1))));
		assertThat(this.nudged).containsExactlyInAnyOrder(shard(0), shard(2));
		assertThat(this.letters.drop(ALL)).isEqualTo(40);
	}

	@Test
	void deadLettersAreDropped() {
		give(0, records("a", 60));
		give(1, records("b", 2));
		String id = this.letters.list(DeadLetterFilter.shard(shard(1)), null, 1).letters().get(0).id();

		assertThat(this.letters.drop(id)).isTrue();
		assertThat(this.letters.drop(id)).isFalse();
		assertThat(this.letters.drop(ALL.matching((letter) -> letter.offset().value().endsWith("7")))).isEqualTo(6);
		assertThat(this.letters.drop(ALL)).isEqualTo(55);

		assertThat(this.letters.count("orders")).containsEntry(shard(0), 0L).containsEntry(shard(1), 0L);
		assertThat(this.nudged).isEmpty();
		assertThat(this.letters.waiting("orders").values()).containsOnly(0L);
	}

	@Test
	void failedCallCanBeRepeated() {
		give(0, records("a", 1));
		give(1, records("b", 1));
		this.away = true;
		assertThatThrownBy(() -> this.letters.sendBack(ALL)).isInstanceOf(StoreUnavailableException.class);
		this.away = false;

		assertThat(this.letters.sendBack(ALL)).as("all were moved before").isEqualTo(new SentBack(0, Set.of()));

		assertThat(this.nudged).containsExactlyInAnyOrder(shard(0), shard(1));
	}

	@Test
	void ownersAreNotifiedOfDeadLettersMovedBeforeAFailure() {
		give(0, records("a", 1));
		give(1, records("b", 1));
		DeadLetterStore fails = (DeadLetterStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { DeadLetterStore.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("sendBack") && arguments[0].equals(shard(1))) {
						throw new StoreUnavailableException("no reply", new IllegalStateException());
					}
					return method.invoke(this.store, arguments);
				});

		assertThatThrownBy(() -> letters(fails).sendBack(ALL)).hasMessage("no reply");

		assertThat(this.nudged).containsExactly(shard(0));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "orders", "orders/1", "1-0", "orders/1/", "orders/1/x", "orders/1/1-",
			"orders/1/1-0-0", "orders/1/-1-0", "orders/1/99999999999999999999-0", "orders/1/1/1-0", " orders/1/1-0",
			"or ders/1/1-0" })
	void invalidIdsAreRejected(String id) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.letters.find(id));
		assertThatIllegalArgumentException().isThrownBy(() -> this.letters.sendBack(id));
		assertThatIllegalArgumentException().isThrownBy(() -> this.letters.drop(id));
		assertThatIllegalArgumentException().isThrownBy(() -> this.letters.list(ALL, id, 1));
	}

	@Test
	void invalidIdIsRejectedWithAnExample() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.letters.find("1-0"))
			.withMessage("'1-0' is not the id of a dead letter; they look like 'orders/3/1795234603797-0'");
	}

	@Test
	void unknownTopicsAndShardsAreRejected() {
		for (Runnable call : List.<Runnable>of(() -> this.letters.count("oders"), () -> this.letters.waiting("oders"),
				() -> this.letters.list(DeadLetterFilter.topic("oders"), null, 1),
				() -> this.letters.sendBack(DeadLetterFilter.topic("oders")), () -> this.letters.find("oders/1/1-0"),
				() -> this.letters.drop(DeadLetterFilter.shard(ShardId.of("oders", 0))))) {
			assertThatThrownBy(call::run).isInstanceOf(ShardkeeperConfigurationException.class)
				.hasMessageContaining("A call of DeadLetters names the topic 'oders'")
				.hasMessageContaining("orders");
		}
		for (Runnable call : List.<Runnable>of(() -> this.letters.list(DeadLetterFilter.shard(shard(4)), null, 1),
				() -> this.letters.sendBack(DeadLetterFilter.shard(shard(4))),
				() -> this.letters.drop(DeadLetterFilter.shard(shard(4))), () -> this.letters.sendBack("orders/4/1-0"),
				() -> this.letters.drop("orders/4/1-0"), () -> this.letters.find("orders/4/1-0"))) {
			assertThatIllegalArgumentException().isThrownBy(call::run)
				.withMessage("There is no shard orders/4; the topic has orders/0 to orders/3");
		}
	}

	@Test
	void deadLettersOfARemovedShardAreAccessible() {
		give(9, records("a", 2));

		assertThat(offsets(ALL)).isEmpty();
		assertThat(offsets(DeadLetterFilter.shard(shard(9)))).containsExactly("a0", "a1");
		String id = this.letters.list(DeadLetterFilter.shard(shard(9)), null, 1).letters().get(0).id();
		assertThat(this.letters.find(id)).isPresent();
		assertThat(this.letters.sendBack(id)).isEqualTo(new SentBack(1, Set.of()));
		assertThat(this.letters.drop(DeadLetterFilter.shard(shard(9)))).isOne();
	}

	@ParameterizedTest
	@ValueSource(ints = { Integer.MIN_VALUE, -1, 0, 1001 })
	void limitOfAPageIsChecked(int limit) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.letters.list(ALL, null, limit))
			.withMessageContaining("1 to 1000");
	}

	@Test
	void pageCannotBeginInAnotherTopic() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.letters.list(DeadLetterFilter.topic("visits"), "orders/1/1-0", 5))
			.withMessage("A page of 'visits' cannot begin after orders/1/1-0");
	}

	private List<String> offsets(DeadLetterFilter filter) {
		return this.letters.list(filter, null, 1_000)
			.letters()
			.stream()
			.map((letter) -> letter.offset().value())
			.toList();
	}

	private List<String> due(int number) {
		return this.checkpoints.due(shard(number), 1_000, Long.MAX_VALUE, Set.of())
			.records()
			.stream()
			.map((record) -> record.offset().value())
			.toList();
	}

	private void give(int number, FailedRecord... records) {
		if (this.commits.merge(shard(number), 1, Integer::sum) == 1) {
			this.checkpoints.acquireNow(shard(number), TOKEN);
		}
		this.checkpoints
			.commit(shard(number), TOKEN,
					new Commit(CommitNumber.ofWhole(this.commits.get(shard(number))), null, Set.of(), Map.of(),
							List.of(), Set.of(), List.of(records)))
			.join();
	}

	private static FailedRecord[] records(String name, int number) {
		return IntStream.range(0, number)
			.mapToObj((i) -> failed(name + i, name, "e", DEPLOYED.plus(Duration.ofMillis(i))))
			.toArray(FailedRecord[]::new);
	}

	private static FailedRecord failed(String offset, String key, String exception, Instant at) {
		return new FailedRecord(new Offset(offset), key, new byte[] { 1 }, Map.of(), DEPLOYED, 5, 2, exception, "at …",
				at);
	}

	private static ShardId shard(int number) {
		return ShardId.of("orders", number);
	}

}
