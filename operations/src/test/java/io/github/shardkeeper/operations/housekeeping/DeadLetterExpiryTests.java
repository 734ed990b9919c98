package io.github.shardkeeper.operations.housekeeping;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore.Retention;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

class DeadLetterExpiryTests {

	private static final Token TOKEN = new Token(7);

	private static final SourceRegistry SOURCES = SourceRegistry
		.of(new MemoryStreamSource(Map.of("orders", 250, "prices", 2, "visits", 2)));

	/** The tests call each step themselves. */
	private static final Loops NO_LOOPS = (Loops) Proxy.newProxyInstance(Loops.class.getClassLoader(),
			new Class<?>[] { Loops.class }, (proxy, method, arguments) -> {
				throw new IllegalStateException("not started");
			});

	private final MemoryCheckpointStore checkpoints = new MemoryCheckpointStore();

	private final DeadLetterStore letters = new MemoryDeadLetterStore(this.checkpoints);

	private final Map<String, Integer> counted = new TreeMap<>();

	private final SettableClock clock = new SettableClock();

	private final MonotonicTime now = this.clock.now();

	private boolean leads = true;

	private DeadLetterExpiry expiry(DeadLetterStore store) {
		return new DeadLetterExpiry(Map.of("orders", new Retention(null, 1L), "prices", new Retention(null, 1L)),
				(shard) -> this.leads, SOURCES, store, (topic, gone) -> this.counted.merge(topic, gone, Integer::sum),
				new MemberRuntime(this.clock, NO_LOOPS, new Random(1)), 0);
	}

	@Test
	void oldestLettersOfAllShardsAreRemovedInSmallSteps() {
		give(ShardId.of("orders", 0), 3);
		give(ShardId.of("orders", 249), 2);
		give(ShardId.of("visits", 1), 3);
		DeadLetterExpiry expiry = expiry(this.letters);

		assertThat(this.now.until(expiry.step())).isLessThan(Duration.ofSeconds(1));
		assertThat(this.counted).containsExactly(Map.entry("orders", 2));
		expiry.step();
		assertThat(this.now.until(expiry.step())).isEqualTo(DeadLetterExpiry.INTERVAL);

		assertThat(this.counted).containsExactly(Map.entry("orders", 3));
		assertThat(offsets(ShardId.of("orders", 0))).containsExactly("3");
		assertThat(offsets(ShardId.of("orders", 249))).containsExactly("2");
		assertThat(offsets(ShardId.of("visits", 1))).as("without a limit").containsExactly("1", "2", "3");
	}

	@Test
	void onlyWhoIsResponsibleRemoves() {
		give(ShardId.of("orders", 0), 3);
		this.leads = false;
		DeadLetterExpiry expiry = expiry(this.letters);

		assertThat(this.now.until(expiry.step())).isEqualTo(DeadLetterExpiry.INTERVAL);
		assertThat(offsets(ShardId.of("orders", 0))).hasSize(3);

		this.leads = true;
		expiry.step();
		assertThat(offsets(ShardId.of("orders", 0))).hasSize(1);
	}

	@Test
	void shardThatIsRefusedDoesNotKeepOthersFromBeingDone() {
		give(ShardId.of("orders", 1), 3);
		DeadLetterExpiry expiry = expiry(failing(true, new ArrayList<>(List.of(ShardId.of("orders", 0)))));

		expiry.step();

		assertThat(offsets(ShardId.of("orders", 1))).hasSize(1);
	}

	@Test
	void roundContinuesWhereTheStoreDidNotAnswer() {
		give(ShardId.of("orders", 1), 3);
		List<ShardId> away = new ArrayList<>(List.of(ShardId.of("orders", 1)));
		DeadLetterExpiry expiry = expiry(failing(false, away));

		assertThat(this.now.until(expiry.step())).isEqualTo(Duration.ofSeconds(10));
		assertThat(offsets(ShardId.of("orders", 1))).hasSize(3);

		away.clear();
		expiry.step();
		assertThat(offsets(ShardId.of("orders", 1))).hasSize(1);
	}

	@Test
	void storeThatIsAwayDoesNotKeepOtherTopicsFromBeingDone() {
		ShardId other = ShardId.of("prices", 1);
		give(other, 3);
		List<ShardId> away = new ArrayList<>();
		SOURCES.topics().get("orders").forEach("orders", away::add);
		int shards = away.size();
		List<ShardId> called = new ArrayList<>();
		DeadLetterExpiry expiry = expiry(failing(false, away, called));

		assertThat(this.now.until(expiry.step())).isEqualTo(Duration.ofSeconds(10));
		assertThat(offsets(other)).hasSize(1);
		assertThat(called).as("each call may take as long as a time limit").hasSizeLessThan(5);

		away.clear();
		give(ShardId.of("orders", shards - 1), 3);
		expiry.step();
		expiry.step();
		expiry.step();
		assertThat(offsets(ShardId.of("orders", shards - 1))).hasSize(1);
	}

	private DeadLetterStore failing(boolean refusal, List<ShardId> shards) {
		return failing(refusal, shards, new ArrayList<>());
	}

	private DeadLetterStore failing(boolean refusal, List<ShardId> shards, List<ShardId> called) {
		return (DeadLetterStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { DeadLetterStore.class }, (proxy, method, arguments) -> {
					called.add((ShardId) arguments[0]);
					if (shards.contains(arguments[0])) {
						throw new StoreUnavailableException("caused by the test", new IllegalStateException(), refusal);
					}
					try {
						return method.invoke(this.letters, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	private List<String> offsets(ShardId shard) {
		return this.letters.list(shard, null, 100).stream().map((letter) -> letter.record().offset().value()).toList();
	}

	private void give(ShardId shard, int count) {
		this.checkpoints.acquire(shard, TOKEN).orTimeout(1, TimeUnit.MINUTES).join();
		for (int i = 1; i <= count; i++) {
			FailedRecord letter = new FailedRecord(new Offset(Integer.toString(i)), null, new byte[0], Map.of(),
					Instant.EPOCH, 1, 1, "e", "s", Instant.EPOCH);
			this.checkpoints
				.commit(shard, TOKEN,
						new Commit(CommitNumber.ofWhole(i), null, Set.of(), Map.of(), List.of(), Set.of(),
								List.of(letter)))
				.orTimeout(1, TimeUnit.MINUTES)
				.join();
		}
	}

}
