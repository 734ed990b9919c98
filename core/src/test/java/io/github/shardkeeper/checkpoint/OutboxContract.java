package io.github.shardkeeper.checkpoint;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.LongStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Outbox.Changes;
import io.github.shardkeeper.checkpoint.Outbox.Entry;
import io.github.shardkeeper.checkpoint.Outbox.Place;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of outboxes that every {@link CheckpointStore} must pass that keeps any.
 */
@Promise("Records exactly once")
public abstract class OutboxContract extends ServedCheckpoints {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final ShardId INVOICES = ShardId.of("invoices", 3);

	private static final ShardId MAILS = new ShardId("mails", "0");

	private static final Token OLD = new Token(1_767_225_600_123_456L);

	private static final Token NEW = new Token(OLD.value() + 1);

	private long attempts;

	@BeforeEach
	protected final void acquireShard() {
		acquire(OLD);
	}

	@Test
	void shardThatHasSentNothingHasAnEmptyOutbox() {
		assertThat(this.store.keepsOutboxes("orders")).isTrue();
		assertThat(acquire(NEW)).isEqualTo(Outbox.EMPTY);
		assertThat(page(null, 10)).isEmpty();
	}

	@Test
	void nextOwnerFindsWhatWasAdded() {
		Entry invoice = entry(OLD, 1, INVOICES, 1, "größe");
		Entry mail = new Entry(new Place(OLD.value(), 2), OLD.value(), MAILS, 1, null, new byte[] { 1, -1 }, Map.of());
		assertThat(commit(OLD, add(OLD, invoice, mail))).isEqualTo(CommitReply.COMMITTED);

		assertThat(acquire(NEW)).isEqualTo(new Outbox(OLD.value(), mail.place(), Map.of(INVOICES, 1L, MAILS, 1L), 2));
		assertThat(page(null, 10)).usingRecursiveFieldByFieldElementComparator().containsExactly(invoice, mail);
	}

	@Test
	void numbersStayWhenRecordsAreRemoved() {
		commit(OLD, add(OLD, entry(OLD, 1, INVOICES, 1, "a"), entry(OLD, 2, INVOICES, 2, "b")));
		commit(OLD, remove(OLD, new Place(OLD.value(), 1), new Place(OLD.value(), 77)));
		assertThat(payloads(page(null, 10))).containsExactly("b");

		commit(OLD, remove(OLD, new Place(OLD.value(), 2)));

		assertThat(acquire(NEW)).isEqualTo(new Outbox(OLD.value(), new Place(OLD.value(), 2), Map.of(INVOICES, 2L), 0));
	}

	/** A shard that has sent everything has an outbox, one that never sent has none. */
	@Test
	void recordsAreCountedOnceTheShardHasSentSomething() {
		assertThat(this.store.countOutbox(SHARD)).isNull();
		assertThat(this.store.countOutbox(ShardId.of("orders", 7))).isNull();
		commit(OLD, add(OLD, entry(OLD, 1, INVOICES, 1, "a"), entry(OLD, 2, MAILS, 1, "b")));
		assertThat(this.store.countOutbox(SHARD)).isEqualTo(2);
		acquire(NEW);
		this.attempts = 0;
		assertThat(this.store.countOutbox(SHARD)).isEqualTo(2);

		commit(NEW, remove(OLD, new Place(OLD.value(), 1), new Place(OLD.value(), 2)));

		assertThat(this.store.countOutbox(SHARD)).isZero();
	}

	/** What a later owner adds comes after it. */
	@Test
	void recordsAreReadByPageInTheOrderOfTheirPlaces() {
		commit(OLD,
				add(OLD, LongStream.rangeClosed(1, 12)
					.mapToObj((i) -> entry(OLD, i, INVOICES, i, "old-" + i))
					.toArray(Entry[]::new)));
		acquire(NEW);
		this.attempts = 0;
		commit(NEW, add(OLD, entry(NEW, 1, INVOICES, 13, "new-1")));
		List<String> all = new ArrayList<>();
		List<Entry> page = page(null, 5);
		while (!page.isEmpty()) {
			assertThat(page).hasSizeLessThanOrEqualTo(5);
			all.addAll(payloads(page));
			page = page(page.get(page.size() - 1).place(), 5);
		}

		assertThat(all).hasSize(13).startsWith("old-1", "old-2").endsWith("old-12", "new-1");
	}

	@Test
	void pageIsBoundedByItsSize() {
		String large = "x".repeat(1_000);
		commit(OLD, add(OLD, entry(OLD, 1, INVOICES, 1, large), entry(OLD, 2, INVOICES, 2, large),
				entry(OLD, 3, INVOICES, 3, large)));

		assertThat(this.store.outbox(SHARD, null, 10, 2_500)).hasSize(2);
		assertThat(this.store.outbox(SHARD, null, 10, 1)).as("one in any case").hasSize(1);
	}

	@Test
	void refusedCommitAddsNothing() {
		acquire(NEW);
		assertThat(commit(OLD, add(OLD, entry(OLD, 1, INVOICES, 1, "fenced")))).isEqualTo(CommitReply.STALE);

		assertThat(acquire(NEW)).isEqualTo(Outbox.EMPTY);
		assertThat(page(null, 10)).isEmpty();
	}

	@Test
	void repeatedCommitAddsOnce() {
		Commit commit = commit(add(OLD, entry(OLD, 1, INVOICES, 1, "a")));
		assertThat(this.store.commit(SHARD, OLD, commit).join()).isEqualTo(CommitReply.COMMITTED);
		assertThat(this.store.commit(SHARD, OLD, commit).join()).isEqualTo(CommitReply.COMMITTED);

		assertThat(page(null, 10)).hasSize(1);
	}

	@Test
	void everythingCanBeReplaced() {
		commit(OLD, add(OLD, entry(OLD, 1, INVOICES, 1, "a"), entry(OLD, 2, MAILS, 1, "b")));
		Entry again = new Entry(new Place(OLD.value(), 3), NEW.value(), MAILS, 1, "key",
				"b".getBytes(StandardCharsets.UTF_8), Map.of());

		commit(OLD, new Changes(NEW.value(), again.place(), Map.of(INVOICES, 1L, MAILS, 1L), List.of(again), List.of(),
				true));

		assertThat(acquire(OLD)).isEqualTo(new Outbox(NEW.value(), again.place(), Map.of(INVOICES, 1L, MAILS, 1L), 1));
		assertThat(page(null, 10)).usingRecursiveFieldByFieldElementComparator().containsExactly(again);
	}

	@Test
	void emptiedStoreAcceptsEverythingAgain() {
		commit(OLD, add(OLD, entry(OLD, 1, INVOICES, 1, "a")));
		this.server.empty();
		Entry again = entry(OLD, 2, INVOICES, 1, "a");
		Changes whole = new Changes(OLD.value(), again.place(), Map.of(INVOICES, 1L), List.of(again), List.of(), true);
		assertThat(commit(OLD, whole)).isEqualTo(CommitReply.GONE);

		acquire(OLD);
		assertThat(
				this.store
					.commit(SHARD, OLD,
							Commit.of(CommitNumber.ofWhole(++this.attempts), new Offset("5"), Map.of())
								.withOutbox(whole))
					.join())
			.isEqualTo(CommitReply.COMMITTED);

		assertThat(payloads(page(null, 10))).containsExactly("a");
	}

	/**
	 * What is handled again is sent again, so its numbers must not be those of before.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void seekLeavesRecordsAndNumbers(boolean clearsState) {
		commit(OLD, add(OLD, entry(OLD, 1, INVOICES, 1, "waits")));
		SeekRequest request = Objects.requireNonNull(this.store.seek(SHARD, new Offset("3"), clearsState));
		long last = this.attempts++;
		assertThat(this.store
			.commit(SHARD, OLD,
					new Commit(new CommitNumber(last + 1, last, 0), request.after(), Set.of(), Map.of(), List.of(),
							Set.of(), List.of(), request.number()))
			.join()).isEqualTo(CommitReply.COMMITTED);
		assertThat(this.store.read(SHARD).offset()).isEqualTo(new Offset("3"));
		assertThat(payloads(page(null, 10))).containsExactly("waits");

		assertThat(acquire(OLD)).isEqualTo(new Outbox(OLD.value(), new Place(OLD.value(), 1), Map.of(INVOICES, 1L), 1));
		commit(OLD, add(OLD, entry(OLD, 2, INVOICES, 2, "sent again")));
		assertThat(payloads(page(null, 10))).containsExactly("waits", "sent again");
	}

	@Test
	void removedTopicHasNoOutbox() {
		commit(OLD, add(OLD, entry(OLD, 1, INVOICES, 1, "a")));
		this.store.remove("orders", NEW);

		assertThat(acquire(NEW)).isEqualTo(Outbox.EMPTY);
		assertThat(page(null, 10)).isEmpty();
	}

	private Outbox acquire(Token token) {
		return ((Acquisition.Acquired) this.store.acquireNow(SHARD, token)).outbox();
	}

	private CommitReply commit(Token token, Changes changes) {
		return this.store.commit(SHARD, token, commit(changes)).join();
	}

	private Commit commit(Changes changes) {
		long last = this.attempts++;
		return Commit.of(new CommitNumber(last + 1, last, 0), new Offset("5"), Map.of()).withOutbox(changes);
	}

	private List<Entry> page(Place after, int limit) {
		return this.store.outbox(SHARD, after, limit, 1_000_000);
	}

	private static Changes add(Token era, Entry... entries) {
		Map<ShardId, Long> numbers = new HashMap<>();
		for (Entry entry : entries) {
			numbers.put(entry.target(), entry.number());
		}
		return new Changes(era.value(), entries[entries.length - 1].place(), numbers, List.of(entries), List.of(),
				false);
	}

	private static Changes remove(Token token, Place... places) {
		return new Changes(token.value(), new Place(token.value(), 2), Map.of(), List.of(), List.of(places), false);
	}

	private static Entry entry(Token token, long place, ShardId target, long number, String payload) {
		return new Entry(new Place(token.value(), place), OLD.value(), target, number, "key",
				payload.getBytes(StandardCharsets.UTF_8), Map.of("trace", "7f"));
	}

	private static List<String> payloads(List<Entry> entries) {
		return entries.stream().map((entry) -> new String(entry.payload(), StandardCharsets.UTF_8)).toList();
	}

}
