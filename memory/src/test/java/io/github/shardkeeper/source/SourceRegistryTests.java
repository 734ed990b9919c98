package io.github.shardkeeper.source;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.GroupPositions.Position;
import io.github.shardkeeper.source.memory.MemoryStreamSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class SourceRegistryTests {

	private final MemoryStreamSource orders = new MemoryStreamSource(Map.of("orders", 2, "both", 1));

	private final MemoryStreamSource visits = new MemoryStreamSource(Map.of("visits", 3, "both", 4));

	@Test
	void eachTopicHasItsSource() {
		SourceRegistry sources = sources(Map.of("both", "second"));

		assertThat(sources.of("orders")).isSameAs(this.orders);
		assertThat(sources.of("both")).isSameAs(this.visits);
		assertThat(sources.name("visits")).isEqualTo("second");
		assertThat(sources.names()).containsExactlyInAnyOrder("orders", "visits", "both");
		assertThat(sources.topics()).containsOnly(Map.entry("orders", TopicShards.count(2)),
				Map.entry("visits", TopicShards.count(3)), Map.entry("both", TopicShards.count(4)));
	}

	@Test
	void unknownTopicIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> sources(Map.of("both", "first")).of("others"))
			.withMessage("There is no topic 'others'; the topics are [both, orders, visits]");
	}

	@Test
	void topicOfTwoSourcesNeedsAChoice() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> sources(Map.of()).topics())
			.withMessageContaining("both have a topic 'both'")
			.withMessageContaining("'shardkeeper.topics.both.source'");
	}

	@Test
	void configuredSourceMustHaveTheTopic() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> sources(Map.of("both", "first", "orders", "second")).topics())
			.withMessageContaining("'shardkeeper.topics.orders.source' is 'second', but this source has no topic");
	}

	@Test
	void onlySourcesOfTheTopicsAreUsed() {
		SourceRegistry sources = sources(Map.of("both", "first"));
		AtomicInteger changes = new AtomicInteger();

		assertThat(sources.having(List.of("visits", "unknown"))).containsOnlyKeys("second");
		ShardSource.Watch watch = sources.watch(List.of("visits"), changes::incrementAndGet);
		this.orders.raise("orders", 5);
		assertThat(changes).hasValue(0);
		this.visits.raise("visits", 5);
		assertThat(changes).hasValue(1);
		watch.close();
		this.visits.raise("visits", 6);
		assertThat(changes).hasValue(1);
	}

	@Test
	void startPositionsOfSeveralSourcesAreJoined() {
		ShardId order = ShardId.of("orders", 0);
		ShardId visit = ShardId.of("visits", 0);

		assertThat(sources(Map.of("both", "first")).before(StartPosition.EARLIEST, List.of(order, visit)))
			.containsOnlyKeys(order, visit);
	}

	@Test
	void positionOfAConsumerGroupIsThatOfItsSystem() {
		ShardId shard = ShardId.of("payments", 0);
		SourceRegistry sources = SourceRegistry.of(new SourceWithGroups());
		StartPosition booking = StartPosition.group("booking");

		assertThat(sources.before(booking, List.of(shard))).containsOnly(Map.entry(shard, new Offset("booking")));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> sources(Map.of("both", "first")).before(booking, List.of(ShardId.of("orders", 0))))
			.withMessageContaining("'first'")
			.withMessageContaining("has no consumer groups");
	}

	@Test
	void consumerGroupThatMustNotBeLeftHasAPositionButIsRefused() {
		ShardId free = ShardId.of("payments", 0);
		ShardId consumed = ShardId.of("payments", 1);
		SourceRegistry sources = SourceRegistry.of(new SourceWithGroups());
		StartPosition booking = StartPosition.group("booking");

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> sources.before(booking, List.of(free, consumed)))
			.withMessage("stop the other application")
			.matches(StoreUnavailableException::isRefusal);
		assertThat(sources.resolve(booking, List.of(free, consumed)))
			.containsEntry(free, Position.after(new Offset("booking")))
			.containsEntry(consumed, new Position(new Offset("booking"), "stop the other application"));
	}

	private SourceRegistry sources(Map<String, String> configured) {
		return new SourceRegistry(Map.of("first", this.orders, "second", this.visits), configured);
	}

	/** Somebody still consumes all shards but the first. */
	private static final class SourceWithGroups implements ShardSource, GroupPositions {

		@Override
		public Map<String, TopicShards> topics() {
			return Map.of("payments", TopicShards.count(2));
		}

		@Override
		public Watch watch(Runnable onChange) {
			return () -> {
			};
		}

		@Override
		public ShardReader openReader() {
			throw new UnsupportedOperationException();
		}

		@Override
		public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Map<ShardId, Position> positions(String group, Collection<ShardId> shards) {
			Offset offset = new Offset(group);
			return shards.stream()
				.collect(Collectors.toMap(Function.identity(), (shard) -> shard.id().equals("0")
						? Position.after(offset) : new Position(offset, "stop the other application")));
		}

		@Override
		public void close() {
		}

	}

}
