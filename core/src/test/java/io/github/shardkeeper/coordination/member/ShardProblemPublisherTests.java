package io.github.shardkeeper.coordination.member;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** When problems are written: each case counts the writes. */
class ShardProblemPublisherTests {

	private static final MemberId SELF = MemberId.of("one", "1");

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Map<ShardId, String> NONE = Map.of();

	private static final Map<ShardId, String> AWAY = Map.of(SHARD, "away");

	private final RecordedNotes diagnostics = new RecordedNotes();

	private final CoordinationStore store = mock();

	private final ShardProblemPublisher publisher = new ShardProblemPublisher(this.store);

	private MonotonicTime now = MonotonicClock.SYSTEM.now();

	@BeforeEach
	void connect() {
		given(this.store.diagnostics()).willReturn(this.diagnostics);
	}

	private void publish(Map<ShardId, String> problems, Duration after) {
		this.now = this.now.plus(after);
		this.publisher.publish(SELF, problems, this.now);
	}

	private void publishEverySecond(Map<ShardId, String> problems, int seconds) {
		for (int i = 0; i < seconds; i++) {
			publish(problems, Duration.ofSeconds(1));
		}
	}

	@Test
	void withoutProblemsNothingIsWritten() {
		publishEverySecond(NONE, 300);
		this.publisher.writesLost();
		publishEverySecond(NONE, 300);
		this.publisher.leaves(SELF);

		assertThat(this.diagnostics.writes).isEmpty();
	}

	@Test
	void changesAreWritten() {
		publish(AWAY, Duration.ZERO);
		publishEverySecond(AWAY, 5);
		publishEverySecond(NONE, 5);

		assertThat(this.diagnostics.writes).containsExactly("1 0\norders:1\taway", "");
	}

	@Test
	void problemIsRepeatedWhileItLastsAndItsRemovalOnce() {
		publish(AWAY, Duration.ZERO);
		publishEverySecond(AWAY, 150);
		assertThat(this.diagnostics.writes).hasSize(3);
		this.diagnostics.writes.clear();

		publishEverySecond(NONE, 600);
		assertThat(this.diagnostics.writes).containsExactly("", "");
	}

	@Test
	void textThatChangesAllTheTimeIsWrittenSeldom() {
		for (int i = 0; i < 100; i++) {
			publish(Map.of(SHARD, "has not returned for " + i + " s"), Duration.ofSeconds(1));
		}

		assertThat(this.diagnostics.writes).hasSizeBetween(10, 15);
	}

	@Test
	void lostWritesAreWrittenAgain() {
		publish(AWAY, Duration.ZERO);
		publishEverySecond(AWAY, 5);
		this.publisher.writesLost();
		publishEverySecond(AWAY, 5);

		assertThat(this.diagnostics.writes).hasSize(2);
	}

	@Test
	void newSessionWritesUnderItsOwnName() {
		publish(AWAY, Duration.ZERO);
		MemberId next = MemberId.of("one", "2");
		this.publisher.publish(next, AWAY, this.now.plus(Duration.ofSeconds(1)));

		assertThat(this.diagnostics.texts).containsKeys(SELF.value(), next.value());
	}

	@Test
	void failedWriteIsRepeatedLater() {
		this.diagnostics.failure = new StoreUnavailableException("OOM command not allowed", null, true);
		publish(AWAY, Duration.ZERO);
		publishEverySecond(AWAY, 9);
		assertThat(this.diagnostics.writes).hasSize(1);
		publishEverySecond(AWAY, 11);
		this.diagnostics.failure = null;
		publishEverySecond(AWAY, 20);

		assertThat(this.diagnostics.writes).hasSize(3);
		assertThat(this.diagnostics.texts).containsEntry(SELF.value(), "1 0\norders:1\taway");
	}

	@Test
	void nothingIsSentWhileAWriteIsUnderWay() {
		this.diagnostics.silent = new CompletableFuture<>();
		publish(AWAY, Duration.ZERO);
		publishEverySecond(Map.of(SHARD, "other"), 20);
		assertThat(this.diagnostics.writes).hasSize(1);

		this.diagnostics.silent.complete(null);
		this.diagnostics.silent = null;
		publishEverySecond(Map.of(SHARD, "other"), 2);
		assertThat(this.diagnostics.texts.get(SELF.value())).contains("other");
	}

	@Test
	void leavingMemberRemovesItsProblems() {
		publish(AWAY, Duration.ZERO);
		this.publisher.leaves(SELF);

		assertThat(this.diagnostics.texts).isEmpty();
	}

	@Test
	void problemsOfFormerMembersAreRemoved() {
		this.diagnostics.texts.putAll(Map.of("gone~1", "x", "one~1", "y"));

		this.publisher.retain(Set.of(SELF));
		assertThat(this.diagnostics.texts).containsOnlyKeys("one~1");
		this.diagnostics.writes.clear();

		this.publisher.retain(Set.of(SELF));
		assertThat(this.diagnostics.writes).as("nothing to remove").isEmpty();
		this.diagnostics.failure = new StoreUnavailableException("away", null);
		this.publisher.retain(Set.of());
		assertThat(this.diagnostics.texts).containsOnlyKeys("one~1");
	}

	/** Notes in memory that count and may fail. */
	private static final class RecordedNotes implements GroupDiagnostics {

		final Map<String, String> texts = new HashMap<>();

		final List<String> writes = new ArrayList<>();

		@Nullable StoreUnavailableException failure;

		@Nullable CompletableFuture<Void> silent;

		@Override
		public CompletableFuture<Void> write(Kind kind, Map<String, String> changed) {
			this.writes.addAll(changed.values());
			if (this.failure != null) {
				return CompletableFuture.failedFuture(this.failure);
			}
			this.texts.putAll(changed);
			this.texts.values().removeIf(String::isEmpty);
			return (this.silent != null) ? this.silent : CompletableFuture.completedFuture(null);
		}

		@Override
		public CompletableFuture<Void> writeMissing(Kind kind, Map<String, String> added) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletableFuture<Set<String>> names(Kind kind) {
			return (this.failure != null) ? CompletableFuture.failedFuture(this.failure)
					: CompletableFuture.completedFuture(Set.copyOf(this.texts.keySet()));
		}

		@Override
		public Map<String, String> read(Kind kind, Collection<String> names) {
			return this.texts;
		}

		@Override
		public void removeAll(Kind kind, String beginning) {
			throw new UnsupportedOperationException();
		}

	}

}
