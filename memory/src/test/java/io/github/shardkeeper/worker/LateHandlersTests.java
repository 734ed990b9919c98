package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Handlers whose work goes on, on other threads, when they have returned.
 */
@Promise({ "Nothing lost", "State exactly once", "Order" })
class LateHandlersTests {

	private final ExecutorService others = Executors.newSingleThreadExecutor();

	private final List<String> done = Collections.synchronizedList(new ArrayList<>());

	/** What becomes of the work of the first calls, instead of its end. */
	private final List<Function<ShardState, CompletableFuture<Void>>> first = new ArrayList<>();

	private ConsumingShard shard;

	@AfterEach
	void stop() {
		this.others.shutdown();
	}

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void recordsCountWhenTheirResultsAreComplete(Ordering ordering) {
		consume(new TestSettings().ordering(ordering, 8));
		this.shard.deliver(1, 3);

		assertThat(this.done).containsExactlyInAnyOrder("r1", "r2", "r3");
		assertCounted("3", 3);
	}

	@Test
	void recordsAreInOrder() {
		consume(new TestSettings());
		this.shard.deliver(1, 20);

		assertThat(this.done).isSortedAccordingTo((one, other) -> Integer.compare(number(one), number(other)))
			.hasSize(20);
	}

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void twoThatFailAreHandledAgain(Ordering ordering) {
		consume(new TestSettings().ordering(ordering, 2));
		Function<ShardState, CompletableFuture<Void>> fails = (state) -> CompletableFuture.runAsync(() -> {
			state.increment("count", 100);
			throw new IllegalStateException("caused by the test");
		}, this.others);
		this.first.addAll(List.of(fails, fails));
		this.shard.deliver(1, 4);
		for (int retry = 0; retry < 2; retry++) {
			this.shard.pass(Duration.ofSeconds(10));
		}

		assertThat(this.done).containsExactlyInAnyOrder("r1", "r2", "r3", "r4");
		assertThat(this.shard.deadLetters()).isEmpty();
		assertCounted("4", 4);
	}

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void interruptedResultIsCancelledAndCannotChangeTheState(Ordering ordering) {
		consume(new TestSettings().ordering(ordering, 8));
		CompletableFuture<Void> never = new CompletableFuture<>();
		List<ShardState> kept = new ArrayList<>();
		this.first.add((state) -> {
			kept.add(state);
			state.increment("count", 100);
			this.shard.interruptCalls();
			return never;
		});
		this.shard.deliver(1, 2);

		assertThat(never).isCancelled();
		assertThatIllegalStateException().isThrownBy(() -> kept.get(0).increment("count", 100))
			.withMessageContaining("may only be used until");
		assertCounted("2", 2);
	}

	@Test
	void transactionOfTheThreadIsRefused() {
		consume(new TestSettings());

		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> new TestSettings().get().checkTransacted(this.shard.handler()))
			.withMessageContaining("does not return 'void', but 'consumer.transaction' is 'jdbc'");
	}

	private void consume(TestSettings settings) {
		this.shard = new ConsumingShard(new Later(), settings, (created) -> this.shard = created);
	}

	private void assertCounted(String offset, int count) {
		this.shard.pass(Duration.ofSeconds(5));
		assertThat(this.shard.checkpoint().offset()).isEqualTo(new Offset(offset));
		assertThat(this.shard.checkpoint().state()).isEqualTo(Map.of("count", Integer.toString(count)));
	}

	private static int number(String payload) {
		return Integer.parseInt(payload.substring(1));
	}

	/** Bean of the application. */
	final class Later {

		@ShardConsumer("orders")
		CompletableFuture<Void> handle(String payload, ShardState state) {
			if (!LateHandlersTests.this.first.isEmpty()) {
				return LateHandlersTests.this.first.remove(0).apply(state);
			}
			return CompletableFuture.runAsync(() -> {
				state.increment("count", 1);
				LateHandlersTests.this.done.add(payload);
			}, LateHandlersTests.this.others);
		}

	}

}
