package io.github.shardkeeper.redis.checkpoint;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.CompletionReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * One of a shard's keys, or a part of it, is missing, and the others are there: an owner
 * writes it back, and nobody else consumes from what is left.
 */
@OnEveryRedis
@Promise("State exactly once")
class MissingDataKeysTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final ShardId TARGET = ShardId.of("invoices", 0);

	private static final Token OWNER = new Token(7);

	private static final Token HEIR = new Token(8);

	private final String group = UUID.randomUUID().toString();

	private final String start = "test:{" + this.group + "/orders/1}:";

	private final StringRedisTemplate template = new StringRedisTemplate(RedisClients.sharedFactory());

	private final CheckpointStore store = new RedisCheckpointStore(RedisClients.sharedConnector(), "test", this.group,
			Duration.ofSeconds(60));

	private final DeadLetterStore letters = new RedisDeadLetterStore(RedisClients.sharedConnector(), "test", this.group,
			Duration.ofSeconds(60));

	private long acquisition;

	private long commits;

	@BeforeEach
	void fillAllKeys() {
		this.acquisition = acquired(OWNER).acquisition();
		assertThat(commit(number(), Map.of("a", "1", "b", "2"), List.of(retry("11"), retry("12")), Set.of(),
				List.of(record("13")), sends(1, 2), 0))
			.isEqualTo(CommitReply.COMMITTED);
		setTimers(number(), 1, 2);
		assertThat(this.template.keys(this.start + "*")).hasSize(8);
	}

	@AfterEach
	void close() {
		this.store.close();
		this.letters.close();
	}

	@ParameterizedTest
	@CsvSource({ "checkpoint, 'checkpoint is missing', 'remove the others with DEL'",
			"state, 'state has 0 of the 2', 'HDEL %scheckpoint sizes'",
			"retry, 'retried has 0 of the 2', 'HDEL %scheckpoint sizes'",
			"retried, 'retried has 0 of the 2', 'HDEL %scheckpoint sizes'",
			"outbox, 'outbox has 0 of the 2', 'HDEL %scheckpoint sizes'",
			"timers, 'timers has 0 of the 2', 'HDEL %scheckpoint sizes'" })
	void heirIsRefusedUntilTheKeyIsRestored(String kind, String missing, String advice) {
		this.template.rename(this.start + kind, "aside:" + this.start + kind);

		assertRefused(() -> this.store.acquireNow(SHARD, HEIR), missing, advice.formatted(this.start));
		assertRefused(() -> this.store.acquireNow(SHARD, HEIR), missing, advice.formatted(this.start));

		this.template.rename("aside:" + this.start + kind, this.start + kind);
		Acquisition.Acquired heir = acquired(HEIR);
		assertThat(heir.checkpoint().offset()).isEqualTo(new Offset("10"));
		assertThat(heir.checkpoint().state()).isEqualTo(Map.of("a", "1", "b", "2"));
		assertThat(heir.outbox().entries()).isEqualTo(2);
		assertThat(this.store.timers(SHARD, null, 10)).hasSize(2);
	}

	@Test
	void oneEntryOfTheStateIsMissed() {
		this.template.opsForHash().delete(this.start + "state", "a");

		assertRefused(() -> this.store.acquireNow(SHARD, HEIR), "state has 1 of the 2");
		assertRefused(() -> this.store.read(SHARD), "state has 1 of the 2");
	}

	@ParameterizedTest
	@ValueSource(strings = { "state", "outbox" })
	void ownerWritesBackWhatItHas(String kind) {
		this.template.delete(this.start + kind);

		assertThat(commit(number(), Map.of("a", "5"))).isEqualTo(CommitReply.GONE);
		assertThat(this.store.complete(SHARD, OWNER, this.commits - 1, this.acquisition))
			.isEqualTo(CompletionReply.GONE);
		assertThat(this.store.acquireToWriteBack(SHARD, OWNER)).isInstanceOf(Acquisition.Acquired.class);
		assertThat(commit(CommitNumber.ofWhole(++this.commits), Map.of("a", "5", "b", "2"), List.of(), Set.of(),
				List.of(), sends(3, 4), 0))
			.isEqualTo(CommitReply.COMMITTED);
		assertThat(commit(number(), Map.of("c", "3"))).isEqualTo(CommitReply.COMMITTED);

		Acquisition.Acquired heir = acquired(HEIR);
		assertThat(heir.checkpoint().state()).isEqualTo(Map.of("a", "5", "b", "2", "c", "3"));
		assertThat(heir.outbox().entries()).isGreaterThanOrEqualTo(2);
	}

	/**
	 * Their records are not in the owner's memory: it says so, and goes on committing.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "retry", "retried" })
	void missingRetriesAreNeverTakenForAnEmptyQueue(String kind) {
		this.template.delete(this.start + kind);
		String missing = "retry with " + this.start + "retried has 0 of the 2";

		assertRefused(() -> this.store.due(SHARD, 10, 1_000_000, Set.of()), missing);
		assertRefused(() -> this.store.waiting(SHARD, (record) -> {
			throw new AssertionError("Read: " + record);
		}), missing);
		assertRefused(() -> this.store.retries(SHARD, List.of(new Offset("11")), 1_000_000), missing);
		assertRefused(() -> this.store.complete(SHARD, OWNER, this.commits, this.acquisition), missing);
		assertThat(
				commit(number(), Map.of("a", "5"), List.of(retry("14")), Set.of(), List.of(), Outbox.Changes.NONE, 0))
			.isEqualTo(CommitReply.COMMITTED);
		assertRefused(() -> this.store.acquireNow(SHARD, HEIR), "retried has 1 of the 3");
		assertThat(acquiredToWriteBack().checkpoint().state()).containsEntry("a", "5");
		assertThat(commit(CommitNumber.ofWhole(++this.commits), Map.of())).isEqualTo(CommitReply.COMMITTED);
		assertRefused(() -> this.store.acquireNow(SHARD, HEIR), "retried has 1 of the 3");
	}

	/** Neither are timers, but for those that were changed lately. */
	@Test
	void missingTimersAreNeverTakenForNone() {
		this.template.delete(this.start + "timers");
		String missing = "timers has 0 of the 2";

		assertRefused(() -> this.store.timers(SHARD, null, 10), missing);
		assertRefused(() -> this.store.complete(SHARD, OWNER, this.commits, this.acquisition), missing);
		setTimers(number(), 3);
		assertRefused(() -> this.store.timers(SHARD, null, 10), "timers has 1 of the 3");
		assertRefused(() -> this.store.acquireNow(SHARD, HEIR), "timers has 1 of the 3");
		acquiredToWriteBack();
		setTimers(CommitNumber.ofWhole(++this.commits), 2, 3);
		assertRefused(() -> this.store.timers(SHARD, null, 10), "timers has 2 of the 4");

		this.template.opsForHash().delete(this.start + "checkpoint", "sizes");
		assertThat(this.store.timers(SHARD, null, 10)).hasSize(2);
		acquired(HEIR);
	}

	@Test
	void oneTimerIsMissed() {
		this.template.opsForZSet().remove(this.start + "timers", "3:keyn1");

		assertRefused(() -> this.store.acquireNow(SHARD, HEIR), "timers has 1 of the 2");
	}

	@Test
	void timerOfOthersIsNamed() {
		this.template.opsForZSet().add(this.start + "timers", "7:key", 1);

		assertRefused(() -> this.store.timers(SHARD, null, 10), "the entry '7:key' of the shard's timers", "ZREM");
	}

	@ParameterizedTest
	@ValueSource(strings = { "state", "retry", "retried", "outbox", "timers" })
	void acceptedLossIsNotMissedAgain(String kind) {
		this.template.delete(this.start + kind);
		this.template.opsForHash().delete(this.start + "checkpoint", "sizes");

		this.acquisition = acquired(HEIR).acquisition();
		this.commits = 0;
		assertThat(commitAs(HEIR, number(), Map.of("c", "3"), List.of(retry("14")), Set.of(), List.of(),
				Outbox.Changes.NONE, 0))
			.isEqualTo(CommitReply.COMMITTED);
		this.template.delete(this.start + "state");
		assertRefused(() -> this.store.acquireNow(SHARD, new Token(9)), "state has 0 of the");
	}

	@Test
	void seekThatRemovesTheStateDoesWithoutIt() {
		this.template.delete(this.start + "state");
		this.template.delete(this.start + "timers");
		long seek = this.store.seek(SHARD, new Offset("3"), true).number();

		this.acquisition = acquired(HEIR).acquisition();
		this.commits = 0;
		Commit clearing = new Commit.Builder(number(), new Offset("3"), Set.of()).seek(seek).clearState().build();
		assertThat(this.store.commit(SHARD, HEIR, clearing).orTimeout(1, TimeUnit.MINUTES).join())
			.isEqualTo(CommitReply.COMMITTED);

		assertThat(acquired(new Token(9)).checkpoint().state()).isEmpty();
	}

	@Test
	void seekThatKeepsTheStateNeedsIt() {
		this.template.delete(this.start + "state");
		this.store.seek(SHARD, new Offset("3"), false);

		assertRefused(() -> this.store.acquireNow(SHARD, HEIR), "state has 0 of the 2");
	}

	@Test
	void changesOfEveryKindLeaveNothingToMiss() {
		assertThat(this.store.changeWaiting(SHARD, List.of(new Offset("11")), WaitingRecord.Change.DROP)).isOne();
		acquired(new Token(8));
		assertThat(this.store.changeWaiting(SHARD, List.of(new Offset("12")), WaitingRecord.Change.SEND_BACK)).isOne();
		acquired(new Token(9));
		assertThat(this.letters.sendBack(SHARD, this.letters.list(SHARD, null, 10))).isOne();
		this.acquisition = acquired(new Token(10)).acquisition();
		this.commits = 0;
		Map<String, String> removed = new HashMap<>();
		removed.put("a", null);
		assertThat(commitAs(new Token(10), number(), removed, List.of(), Set.of(new Offset("12"), new Offset("13")),
				List.of(),
				new Outbox.Changes(OWNER.value(), place(2), Map.of(), List.of(), List.of(place(1), place(2)), false),
				0))
			.isEqualTo(CommitReply.COMMITTED);

		assertThat(acquired(new Token(11)).checkpoint().state()).isEqualTo(Map.of("b", "2"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "retry", "retried" })
	void operationsOnWhatIsLeftDoNotHideTheRest(String kind) {
		this.template.delete(this.start + kind);

		this.store.changeWaiting(SHARD, List.of(new Offset("11")), WaitingRecord.Change.DROP);
		assertThat(this.letters.sendBack(SHARD, this.letters.list(SHARD, null, 10))).isOne();

		assertRefused(() -> this.store.acquireNow(SHARD, HEIR), "entries are missing", "retried has 1 of the 3");
	}

	/** Nothing depends on them. */
	@ParameterizedTest
	@ValueSource(strings = { "dead", "sequences" })
	void shardIsConsumedWithout(String kind) {
		this.template.delete(this.start + kind);

		assertThat(commit(number(), Map.of("a", "5"))).isEqualTo(CommitReply.COMMITTED);
		assertThat(acquired(HEIR).checkpoint().state()).containsEntry("a", "5");
	}

	@Test
	void shardWithoutAnyKeyIsNew() {
		this.template.delete(this.template.keys(this.start + "*"));

		assertThat(acquired(HEIR).checkpoint().offset()).isNull();
	}

	private void assertRefused(ThrowingCallable call, String... contents) {
		Map<String, String> before = dump();
		assertThatThrownBy(call).isInstanceOf(StoreUnavailableException.class)
			.hasMessageContainingAll(contents)
			.matches((failure) -> ((StoreUnavailableException) failure).isRefusal());
		assertThat(dump()).isEqualTo(before);
	}

	private Acquisition.Acquired acquired(Token token) {
		return (Acquisition.Acquired) this.store.acquireNow(SHARD, token);
	}

	private Acquisition.Acquired acquiredToWriteBack() {
		return (Acquisition.Acquired) this.store.acquireToWriteBack(SHARD, OWNER);
	}

	private CommitNumber number() {
		return new CommitNumber(++this.commits, this.commits - 1, this.acquisition);
	}

	private CommitReply commit(CommitNumber number, Map<String, String> changes) {
		return commit(number, changes, List.of(), Set.of(), List.of(), Outbox.Changes.NONE, 0);
	}

	private CommitReply commit(CommitNumber number, Map<String, String> changes, List<Commit.Retry> retries,
			Set<Offset> taken, List<FailedRecord> deadLetters, Outbox.Changes sent, long seek) {
		return commitAs(OWNER, number, changes, retries, taken, deadLetters, sent, seek);
	}

	private CommitReply commitAs(Token token, CommitNumber number, Map<String, String> changes,
			List<Commit.Retry> retries, Set<Offset> taken, List<FailedRecord> deadLetters, Outbox.Changes sent,
			long seek) {
		Commit commit = new Commit(number, new Offset("10"), Set.of(), changes, retries, taken, deadLetters, seek,
				sent);
		return this.store.commit(SHARD, token, commit).orTimeout(1, TimeUnit.MINUTES).join();
	}

	private void setTimers(CommitNumber number, int... names) {
		Map<TimerId, Instant> timers = new HashMap<>();
		for (int name : names) {
			timers.put(new TimerId("key", "n" + name), Instant.EPOCH.plusMillis(name));
		}
		Map<String, String> state = Map.of("a", "1", "b", "2");
		assertThat(this.store
			.commit(SHARD, OWNER,
					Commit.of(number, new Offset("10"), state).withOutbox(whole(number)).withTimers(timers))
			.orTimeout(1, TimeUnit.MINUTES)
			.join()).isEqualTo(CommitReply.COMMITTED);
	}

	private static Outbox.Changes whole(CommitNumber number) {
		return (number.acquisition() == 0) ? sends(3, 4) : Outbox.Changes.NONE;
	}

	private static Commit.Retry retry(String offset) {
		return new Commit.Retry(record(offset), Duration.ZERO);
	}

	private static FailedRecord record(String offset) {
		return new FailedRecord(new Offset(offset), "k", new byte[] { 1 }, Map.of(), Instant.EPOCH, 1, 0, "e", "s",
				Instant.EPOCH);
	}

	/** Replaces all of the outbox. */
	private static Outbox.Changes sends(long... places) {
		List<Outbox.Entry> entries = new ArrayList<>();
		for (long place : places) {
			entries.add(new Outbox.Entry(place(place), OWNER.value(), TARGET, place, "k",
					"sent".getBytes(StandardCharsets.UTF_8), Map.of()));
		}
		long last = places[places.length - 1];
		return new Outbox.Changes(OWNER.value(), place(last), Map.of(TARGET, last), entries, List.of(), true);
	}

	private static Outbox.Place place(long number) {
		return new Outbox.Place(OWNER.value(), number);
	}

	private Map<String, String> dump() {
		Map<String, String> values = new LinkedHashMap<>();
		this.template.keys(this.start + "*")
			.stream()
			.sorted()
			.forEach((key) -> values.put(key, new String(this.template.dump(key), StandardCharsets.ISO_8859_1)));
		return values;
	}

}
