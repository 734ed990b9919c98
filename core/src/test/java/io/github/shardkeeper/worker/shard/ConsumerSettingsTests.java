package io.github.shardkeeper.worker.shard;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.worker.TestSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Every shape of a handler with every commit mode and ordering.
 */
class ConsumerSettingsTests {

	@ParameterizedTest
	@CsvSource({ "Plain, BACKGROUND, SHARD", "Plain, BACKGROUND, KEY", "Plain, BACKGROUND, NONE", "Plain, BATCH, SHARD",
			"WithState, BACKGROUND, SHARD", "WithState, BACKGROUND, KEY", "WithState, BACKGROUND, NONE",
			"Acknowledging, MANUAL, SHARD", "Acknowledging, MANUAL, KEY", "Acknowledging, MANUAL, NONE",
			"AcknowledgingWithState, MANUAL, SHARD", "Batch, BACKGROUND, SHARD", "Batch, BATCH, SHARD",
			"AcknowledgingBatch, MANUAL, SHARD", "Loop, BACKGROUND, SHARD", "Loop, MANUAL, SHARD",
			"Loop, BACKGROUND, KEY" })
	void handlerThatFitsTheSettingsIsAccepted(String handler, CommitMode mode, Ordering ordering) {
		assertThatCode(() -> check(handler, mode, ordering)).doesNotThrowAnyException();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					Acknowledging          | BACKGROUND | SHARD | mode' is 'background'                                  | 'manual'
					Acknowledging          | BATCH      | SHARD | mode' is 'batch'                                       | 'manual'
					AcknowledgingBatch     | BACKGROUND | SHARD | takes an Acknowledgment                                | 'manual'
					Plain                  | MANUAL     | SHARD | takes no Acknowledgment                                | 'background'
					Batch                  | MANUAL     | SHARD | takes no Acknowledgment                                | 'background'
					AcknowledgingWithState | MANUAL     | KEY   | takes a ShardState                                     | the ordering to 'shard'
					AcknowledgingWithState | MANUAL     | NONE  | 'consumer.ordering' is 'none'                          | the ordering to 'shard'
					Batch                  | BACKGROUND | KEY   | takes a list of records, but 'consumer.ordering' is 'key' | one record at a time
					AcknowledgingBatch     | MANUAL     | NONE  | takes a list of records                                | one record at a time
					""")
	void handlerThatDoesNotFitTheSettingsIsRejected(String handler, CommitMode mode, Ordering ordering, String what,
			String action) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> check(handler, mode, ordering))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains(handler + ".handle(").contains(what).contains("'orders'");
				assertThat(ex.getAction()).contains(action).contains("'shardkeeper.topics.orders.consumer'");
			});
	}

	@Test
	void handlerThatSendsNeedsAnOutboxAndOneOwner() {
		ConsumerSettings settings = new TestSettings().get();
		settings.checkOutput(handler("Sending"), false, true);
		settings.checkOutput(handler("Plain"), true, false);
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> settings.checkOutput(handler("Sending"), false, false))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("Sending.handle(", "takes a ShardOutput", "without an outbox");
				assertThat(ex.getAction()).contains("Remove the CheckpointStore bean");
			});
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> settings.checkOutput(handler("Sending"), true, true))
			.satisfies((ex) -> assertThat(ex.getDescription()).contains("every instance would send each record"));
	}

	@Test
	void handlerWithTimersNeedsAMethodForThemAStoreAndOneOwner() {
		ConsumerSettings settings = new TestSettings().get();
		settings.checkTimers(handler("Reminding"), false, true);
		settings.checkTimers(handler("Plain"), true, false);
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> settings.checkTimers(handler("WithoutTimerMethod"), false, true))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("WithoutTimerMethod.handle(", "takes a ShardTimers",
						"no @OnShardTimer method");
				assertThat(ex.getAction()).contains("@OnShardTimer", "remove the parameter");
			});
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> settings.checkTimers(handler("Reminding"), false, false))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("Reminding.handle(", "'orders'", "store without timers");
				assertThat(ex.getAction()).contains("Remove the CheckpointStore bean");
			});
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> settings.checkTimers(handler("Reminding"), true, true))
			.satisfies((ex) -> assertThat(ex.getDescription()).contains("every instance would fire each timer"));
	}

	@ParameterizedTest
	@EnumSource(CommitMode.class)
	void acknowledgmentInATransactionIsToBeRemovedWhateverTheMode(CommitMode mode) {
		ConsumerSettings settings = new TestSettings().commits(mode, Duration.ofSeconds(5), 1000).get();

		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> settings.checkTransacted(handler("Acknowledging")))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("Acknowledging.handle(", "takes an Acknowledgment",
						"'consumer.transaction' is 'jdbc'");
				assertThat(ex.getAction()).contains("'consumer.transaction' to 'none'", "remove the parameter")
					.doesNotContain("manual");
			});
	}

	private static void check(String handler, CommitMode mode, Ordering ordering) {
		new TestSettings().commits(mode, Duration.ofSeconds(5), 1000)
			.ordering(ordering, 8)
			.get()
			.check(handler(handler));
	}

	private static ShardHandler handler(String name) {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerSingleton("handler", bean(name));
		return new ShardHandlerDetector(beans, new JsonPayloadConverter(new JsonMapper())).detect(Map.of("orders", 1))
			.get("orders");
	}

	private static Object bean(String name) {
		return switch (name) {
			case "Plain" -> new Plain();
			case "WithState" -> new WithState();
			case "Acknowledging" -> new Acknowledging();
			case "AcknowledgingWithState" -> new AcknowledgingWithState();
			case "Batch" -> new Batch();
			case "AcknowledgingBatch" -> new AcknowledgingBatch();
			case "Loop" -> new Loop();
			case "Sending" -> new Sending();
			case "Reminding" -> new Reminding();
			case "WithoutTimerMethod" -> new WithoutTimerMethod();
			default -> throw new IllegalArgumentException(name);
		};
	}

	static class Plain {

		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

	static class Sending {

		@ShardConsumer("orders")
		void handle(String payload, ShardOutput output) {
		}

	}

	static class Reminding {

		@ShardConsumer("orders")
		void handle(String payload, ShardTimers timers) {
		}

		@OnShardTimer
		void due(ShardTimer timer) {
		}

	}

	static class WithoutTimerMethod {

		@ShardConsumer("orders")
		void handle(String payload, ShardTimers timers) {
		}

	}

	static class WithState {

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
		}

	}

	static class Acknowledging {

		@ShardConsumer("orders")
		void handle(String payload, Acknowledgment acknowledgment) {
		}

	}

	static class AcknowledgingWithState {

		@ShardConsumer("orders")
		void handle(String payload, Acknowledgment acknowledgment, ShardState state) {
		}

	}

	static class Batch {

		@ShardConsumer("orders")
		void handle(List<String> payloads) {
		}

	}

	static class AcknowledgingBatch {

		@ShardConsumer("orders")
		void handle(List<String> payloads, Acknowledgment acknowledgment) {
		}

	}

	static class Loop {

		@ShardConsumer(value = "orders", interval = "1s")
		void handle(ShardContext context, ShardState state) {
		}

	}

}
