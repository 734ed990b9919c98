package io.github.shardkeeper.autoconfigure.failure;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.FailureAction.Kind;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.autoconfigure.properties.FailureRule;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

class FailureTableTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	@Test
	void ruleMatchesSubclassesAndCauses() {
		FailureTable table = table(rule(IOException.class, Kind.HALT));

		assertThat(choose(table, new IOException(), 1)).isEqualTo(FailureAction.halt());
		assertThat(choose(table, new FileNotFoundException(), 1)).isEqualTo(FailureAction.halt());
		assertThat(choose(table, new IllegalStateException(new UncheckedIOException(new IOException())), 1))
			.isEqualTo(FailureAction.halt());
		assertThat(choose(table, new IllegalStateException(), 1)).isEqualTo(FailureAction.asConfigured());
		assertThat(choose(table(rule(Error.class, Kind.HALT)), new StackOverflowError(), 1))
			.isEqualTo(FailureAction.halt());
	}

	@Test
	void causesWithoutEndAreNotFollowedForever() {
		Exception one = new IllegalStateException();
		Exception two = new IllegalStateException(one);
		one.initCause(two);

		assertThat(choose(table(rule(IOException.class, Kind.HALT)), one, 1)).isEqualTo(FailureAction.asConfigured());
	}

	/** The order is that of the properties, not that of the causes. */
	@Test
	void firstRuleThatMatchesApplies() {
		FailureTable table = table(rule(FileNotFoundException.class, Kind.AS_CONFIGURED),
				rule(IOException.class, Kind.DEAD_LETTER), rule(RuntimeException.class, Kind.HALT));

		assertThat(choose(table, new FileNotFoundException(), 1)).isEqualTo(FailureAction.asConfigured());
		assertThat(choose(table, new UncheckedIOException(new IOException()), 1)).isEqualTo(FailureAction.deadLetter());
	}

	@Test
	void delayGrowsWithTheAttemptsUpToItsMaximum() {
		FailureTable table = table(
				new FailureRule(List.of(Exception.class), Kind.RETRY, SECOND, 2, SECOND.multipliedBy(5), null));

		assertThat(choose(table, new Exception(), 1)).isEqualTo(FailureAction.retry(SECOND));
		assertThat(choose(table, new Exception(), 2)).isEqualTo(FailureAction.retry(SECOND.multipliedBy(2)));
		assertThat(choose(table, new Exception(), 3)).isEqualTo(FailureAction.retry(SECOND.multipliedBy(4)));
		assertThat(choose(table, new Exception(), 4)).isEqualTo(FailureAction.retry(SECOND.multipliedBy(5)));
		assertThat(choose(table, new Exception(), Integer.MAX_VALUE))
			.isEqualTo(FailureAction.retry(SECOND.multipliedBy(5)));
	}

	@Test
	void delayHasABoundWithoutAMaximum() {
		FailureTable table = table(new FailureRule(List.of(Exception.class), Kind.RETRY_QUEUE, SECOND, 10, null, null));

		assertThat(choose(table, new Exception(), 1_000_000))
			.isEqualTo(FailureAction.retryQueue(FailureRule.MAX_DELAY));
	}

	@Test
	void nextRuleAppliesOnceTheAttemptsOfOneAreUsedUp() {
		FailureTable table = table(new FailureRule(List.of(IOException.class), Kind.RETRY, SECOND, 1, null, 3),
				rule(Exception.class, Kind.PARK_KEY));

		assertThat(choose(table, new IOException(), 2)).isEqualTo(FailureAction.retry(SECOND));
		assertThat(choose(table, new IOException(), 3)).isEqualTo(FailureAction.parkKey());
	}

	private static FailureTable table(FailureRule... rules) {
		return new FailureTable(List.of(rules));
	}

	private static FailureRule rule(Class<? extends Throwable> type, Kind action) {
		return new FailureRule(List.of(type), action, null, 1, null, null);
	}

	private static FailureAction choose(FailureTable table, Throwable failure, int attempt) {
		return table.choose(mock(ShardContext.class), new ShardRecord<>(ShardId.of("orders", 0), new Offset("1"), null,
				new byte[0], Map.of(), Instant.EPOCH, attempt), failure);
	}

}
