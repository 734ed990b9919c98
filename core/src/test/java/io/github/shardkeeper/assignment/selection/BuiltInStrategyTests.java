package io.github.shardkeeper.assignment.selection;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class BuiltInStrategyTests {

	@ParameterizedTest
	@CsvSource({ "sticky, StickyAssignment", "range, RangeAssignment", "round-robin, RoundRobinAssignment",
			"average, RangeAssignment", "circle, CircleAssignment", "consistent-hash, ConsistentHashAssignment",
			"incremental, IncrementalAssignment" })
	void namesAreSettled(String name, String type) {
		assertThat(BuiltInStrategy.named(name).strategy().getClass().getSimpleName()).isEqualTo(type);
	}

	@ParameterizedTest
	@EnumSource
	void everyStrategyIsFoundByItsName(BuiltInStrategy strategy) {
		assertThat(BuiltInStrategy.named(strategy.settingName())).isSameAs(strategy);
		assertThat(strategy.strategy()).isSameAs(strategy.strategy());
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "stick", "Sticky", "round_robin" })
	void unknownNameIsRejectedWithTheValidNames(String name) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> BuiltInStrategy.named(name))
			.withMessageContainingAll("'shardkeeper.assignment.strategy'", "'" + name + "'", "sticky, range,",
					"incremental");
	}

	@Test
	void messageNamesThePropertyOfTheTopic() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> BuiltInStrategy.named("circular", "shardkeeper.topics.orders.strategy"))
			.withMessageContaining("'shardkeeper.topics.orders.strategy' is 'circular'");
	}

}
