package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.CompletionReply;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of seeks that every {@link CheckpointStore} must pass.
 */
public abstract class SeekContract extends ServedCheckpoints {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final ShardId OTHER = ShardId.of("orders", 2);

	private static final Token OLD = new Token(1_767_225_600_123_456L);

	private static final Token NEW = new Token(OLD.value() + 1);

	private static final Offset FIVE = new Offset("5-0");

	@Test
	void newShardHasNoSeeks() {
		assertThat(this.store.seeks(List.of(SHARD, OTHER))).isEqualTo(Map.of(SHARD, Seeks.NONE, OTHER, Seeks.NONE));
		assertThat(this.store.seeks(List.of())).isEmpty();
	}

	@Test
	void requestIsVisibleToReadersAndToTheNextOwner() {
		acquire(OLD);
		SeekRequest request = seek(FIVE, true);

		assertThat(request.after()).isEqualTo(FIVE);
		assertThat(request.clearsState()).isTrue();
		assertThat(seeks()).isEqualTo(new Seeks(0, request));
		assertThat(acquire(OLD).seeks()).isEqualTo(new Seeks(0, request));
		assertThat(acquire(NEW).seeks()).isEqualTo(new Seeks(0, request));
		assertThat(this.store.seeks(List.of(OTHER, SHARD)))
			.isEqualTo(Map.of(SHARD, new Seeks(0, request), OTHER, Seeks.NONE));
	}

	@Test
	void shardWithoutAnOwnerAcceptsARequest() {
		SeekRequest request = seek(FIVE, false);

		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(null, Map.of()));
		assertThat(this.store.offsets(List.of(SHARD))).isEmpty();
		assertThat(commit(OLD, Commit.of(CommitNumber.ofWhole(1), FIVE, Map.of()))).isEqualTo(CommitReply.GONE);
		assertThat(acquire(OLD)).usingRecursiveComparison()
			.ignoringFields("acquisition")
			.isEqualTo(new Acquisition.Acquired(new Checkpoint(null, Map.of()), new Seeks(0, request), 0,
					LastCommit.NONE, 0));
	}

	@Test
	void requestChangesNothingElse() {
		acquire(OLD);
		commit(OLD, Commit.of(CommitNumber.ofWhole(1), new Offset("9-0"), Map.of("count", "9")));
		seek(FIVE, true);

		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("9-0"), Map.of("count", "9")));
		assertThat(commit(OLD, Commit.of(new CommitNumber(2, 1, 0), new Offset("10-0"), Map.of("count", "10"))))
			.as("the owner continues until its next commit")
			.isEqualTo(CommitReply.COMMITTED);
		assertThat(seeks().pending()).isNotNull();
	}

	@Test
	void commitOfTheOwnerCarriesOutTheRequest() {
		acquire(OLD);
		commit(OLD, Commit.of(CommitNumber.ofWhole(1), new Offset("9-0"), Map.of("count", "9")));
		SeekRequest request = seek(FIVE, false);
		assertThat(commit(OLD, carryingOut(request, new CommitNumber(2, 1, 0)))).isEqualTo(CommitReply.COMMITTED);

		assertThat(seeks()).isEqualTo(new Seeks(request.number(), null));
		assertThat(acquire(NEW)).usingRecursiveComparison()
			.ignoringFields("acquisition")
			.isEqualTo(new Acquisition.Acquired(new Checkpoint(FIVE, Map.of("count", "9")),
					new Seeks(request.number(), null), 0, new LastCommit(OLD, 2), 0));
	}

	@Test
	void earlierCommitThatArrivesLateDoesNotUndoIt() {
		acquire(OLD);
		Commit late = Commit.of(CommitNumber.ofWhole(1), new Offset("9-0"), Map.of());
		SeekRequest request = seek(FIVE, false);
		commit(OLD, carryingOut(request, CommitNumber.ofWhole(2)));

		assertThat(commit(OLD, late)).isEqualTo(CommitReply.STALE);
		assertThat(this.store.read(SHARD).offset()).isEqualTo(FIVE);
	}

	@Test
	void onlyTheOwnerCarriesOutARequest() {
		acquire(NEW);
		SeekRequest request = seek(FIVE, false);

		assertThat(commit(OLD, carryingOut(request, CommitNumber.ofWhole(1)))).isEqualTo(CommitReply.STALE);
		assertThat(seeks()).isEqualTo(new Seeks(0, request));
	}

	@Test
	void lastRequestCountsAndHasTheHighestNumber() {
		acquire(OLD);
		SeekRequest first = seek(FIVE, true);
		SeekRequest second = seek(new Offset("6-0"), false);
		this.server.advance(Duration.ofSeconds(1));
		SeekRequest third = seek(new Offset("7-0"), false);

		assertThat(second.number()).isGreaterThan(first.number());
		assertThat(third.number()).isGreaterThan(second.number());
		assertThat(seeks()).isEqualTo(new Seeks(0, third));
		commit(OLD, carryingOut(second, CommitNumber.ofWhole(1)));
		assertThat(seeks()).as("one that came meanwhile stays").isEqualTo(new Seeks(second.number(), third));
		commit(OLD, carryingOut(third, CommitNumber.ofWhole(2)));
		assertThat(seeks()).isEqualTo(new Seeks(third.number(), null));
		assertThat(seek(FIVE, false).number()).isGreaterThan(third.number());
	}

	@Test
	void requestNumberIsNeverReusedAfterLostWrites() {
		acquire(OLD);
		Object before = this.server.snapshot();
		SeekRequest lost = seek(FIVE, false);
		this.server.loseWritesSince(before);
		this.server.advance(Duration.ofMillis(1));

		assertThat(seeks()).isEqualTo(Seeks.NONE);
		assertThat(seek(FIVE, false).number()).isGreaterThan(lost.number());
	}

	@Test
	void requestRestoredByLostWritesIsClearedByTheNextCommit() {
		acquire(OLD);
		SeekRequest request = seek(FIVE, false);
		Object before = this.server.snapshot();
		commit(OLD, carryingOut(request, CommitNumber.ofWhole(1)));
		this.server.loseWritesSince(before);
		assertThat(seeks().pending()).isEqualTo(request);
		commit(OLD, carryingOut(request, CommitNumber.ofWhole(2)));

		assertThat(seeks()).isEqualTo(new Seeks(request.number(), null));
	}

	@Test
	void completedShardAcceptsNoRequest() {
		acquire(OLD);
		assertThat(this.store.complete(SHARD, OLD, 0, 0)).isEqualTo(CompletionReply.COMPLETED);

		assertThat(this.store.seek(SHARD, FIVE, false)).isNull();
		assertThat(seeks()).isEqualTo(Seeks.NONE);
	}

	@Test
	void shardWithAPendingRequestIsNotCompleted() {
		acquire(OLD);
		SeekRequest request = seek(FIVE, false);
		assertThat(this.store.complete(SHARD, OLD, 0, 0)).isEqualTo(CompletionReply.PENDING);

		commit(OLD, carryingOut(request, CommitNumber.ofWhole(1)));
		assertThat(this.store.complete(SHARD, OLD, 0, 0)).isEqualTo(CompletionReply.COMPLETED);
	}

	@ParameterizedTest
	@ValueSource(strings = { "0-0", "a b  c", " ", "{\"part\": 3}", "世界|\n" })
	void anyTextIsAnOffset(String text) {
		assertThat(seek(new Offset(text), true)).isEqualTo(seeks().pending());
		assertThat(Objects.requireNonNull(seeks().pending()).after()).isEqualTo(new Offset(text));
	}

	private static Commit carryingOut(SeekRequest request, CommitNumber number) {
		return new Commit(number, request.after(), Set.of(), Map.of(), List.of(), Set.of(), List.of(),
				request.number());
	}

	private SeekRequest seek(Offset after, boolean clearsState) {
		return Objects.requireNonNull(this.store.seek(SHARD, after, clearsState));
	}

	private Seeks seeks() {
		return this.store.seeks(List.of(SHARD)).get(SHARD);
	}

	private Acquisition.Acquired acquire(Token token) {
		return (Acquisition.Acquired) this.store.acquireNow(SHARD, token);
	}

	private CommitReply commit(Token token, Commit commit) {
		return this.store.commit(SHARD, token, commit).orTimeout(1, TimeUnit.MINUTES).join();
	}

}
