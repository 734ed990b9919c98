package io.github.shardkeeper.handler;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Methods that are called for timers: how they are found, checked and called. */
class TimerHandlersTests {

	private static final Instant DUE = Instant.parse("2026-11-29T12:00:00Z");

	private static final SourceRecord TIMER = TimerRecord.of("ann", "remind", DUE, "1");

	private final ShardContext context = mock(ShardContext.class);

	@Test
	void timerGoesToItsMethodAndARecordToTheConsumer() throws Throwable {
		Reminders bean = new Reminders();
		ShardHandler handler = detect(bean);
		ShardState state = mock(ShardState.class);
		ShardOutput output = mock(ShardOutput.class);
		ShardTimers timers = mock(ShardTimers.class);
		CallArguments arguments = new CallArguments(this.context, state, null, output, timers);
		given(this.context.shard()).willReturn(ShardId.of("orders", 1));

		handler.handle(handler.convert(this.context, record("1-0"), 1), arguments);
		handler.handle(handler.convert(this.context, TIMER, 1), arguments);

		assertThat(handler.hasTimers()).isTrue();
		assertThat(handler.takesTimers()).isTrue();
		assertThat(handler.takesState()).as("for timers").isTrue();
		assertThat(handler.takesOutput()).as("for timers").isTrue();
		assertThat(bean.calls).containsExactly("payload", timers, new ShardTimer("ann", "remind", DUE), timers, state,
				output, this.context);
	}

	@Test
	void timerOfABatchHandlerComesAlone() throws Throwable {
		Batches bean = new Batches();
		ShardHandler handler = detect(bean);
		given(this.context.shard()).willReturn(ShardId.of("orders", 1));
		CallArguments arguments = new CallArguments(this.context, null, null);

		handler.handle(List.of(handler.convert(this.context, record("1-0"), 1)), arguments);
		handler.handle(handler.convert(this.context, TIMER, 1), arguments);

		assertThat(bean.calls).containsExactly(List.of("payload"), "ann");
	}

	/** The sender of a record chooses its headers, but not its offset. */
	@Test
	void recordWithTheHeaderOfATimerIsNone() throws Throwable {
		Reminders bean = new Reminders();
		ShardHandler handler = detect(bean);
		given(this.context.shard()).willReturn(ShardId.of("orders", 1));

		handler.handle(
				handler.convert(this.context,
						new SourceRecord(new Offset("1-0"), "ann", "payload".getBytes(),
								Map.of(TimerRecord.NAME, "remind"), 0),
						1),
				new CallArguments(this.context, null, null));

		assertThat(bean.calls).startsWith("payload");
	}

	@Test
	void timerOfAnEarlierVersionCannotBeConverted() {
		ShardHandler handler = detect(new Plain());

		assertThat(handler.hasTimers()).isFalse();
		assertThatExceptionOfType(PayloadConversionException.class)
			.isThrownBy(() -> handler.convert(this.context, TIMER, 1))
			.withMessageContaining("Plain.handle(String) has no @OnShardTimer method");
	}

	@ParameterizedTest
	@ValueSource(classes = { OfPayload.class, Acknowledged.class, Twice.class })
	void timerMethodsTakeNothingOfRecords(Class<?> type) throws Exception {
		Object bean = type.getDeclaredConstructor().newInstance();

		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(bean))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("The @OnShardTimer method " + type.getSimpleName() + ".due(");
				assertThat(ex.getAction())
					.contains("ShardTimer, ShardState, ShardOutput, ShardTimers and ShardContext");
			});
	}

	@Test
	void consumerTakesNoTimer() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(new Confused()))
			.satisfies((ex) -> assertThat(ex.getDescription()).contains("@ShardConsumer method Confused.handle(",
					"ShardTimer"));
	}

	@Test
	void beanHasOneTimerMethod() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(new TwoTimers()))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("two @OnShardTimer methods", "TwoTimers.first(ShardTimer)",
						"TwoTimers.second(ShardTimer)");
				assertThat(ex.getAction()).contains("Keep one");
			});
	}

	@Test
	void timerMethodWithoutAConsumerIsRejected() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> detect(new Plain(), new WithoutConsumer()))
			.satisfies((ex) -> assertThat(ex.getDescription()).contains("@OnShardTimer", "no @ShardConsumer method"));
	}

	private static SourceRecord record(String offset) {
		return new SourceRecord(new Offset(offset), "ann", "payload".getBytes(), Instant.EPOCH);
	}

	private static ShardHandler detect(Object... all) {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		for (Object bean : all) {
			beans.registerSingleton(bean.getClass().getSimpleName(), bean);
		}
		return new ShardHandlerDetector(beans, new JsonPayloadConverter(new JsonMapper())).detect(Map.of("orders", 2))
			.get("orders");
	}

	static class Reminders {

		private final List<Object> calls = new ArrayList<>();

		@ShardConsumer("orders")
		void handle(String payload, ShardTimers timers) {
			this.calls.add(payload);
			this.calls.add(timers);
		}

		@OnShardTimer
		void due(ShardTimer timer, ShardTimers timers, ShardState state, ShardOutput output, ShardContext context) {
			this.calls.addAll(List.of(timer, timers, state, output, context));
		}

	}

	static class Batches {

		private final List<Object> calls = new ArrayList<>();

		@ShardConsumer("orders")
		void handle(List<String> payloads) {
			this.calls.add(payloads);
		}

		@OnShardTimer
		void due(ShardTimer timer) {
			this.calls.add(timer.key());
		}

	}

	static class Plain {

		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

	static class OfPayload extends Plain {

		@OnShardTimer
		void due(String payload) {
		}

	}

	static class Acknowledged extends Plain {

		@OnShardTimer
		void due(ShardTimer timer, Acknowledgment acknowledgment) {
		}

	}

	static class Twice extends Plain {

		@OnShardTimer
		void due(ShardTimer timer, ShardTimer again) {
		}

	}

	static class Confused {

		@ShardConsumer("orders")
		void handle(ShardTimer timer) {
		}

	}

	static class TwoTimers extends Plain {

		@OnShardTimer
		void first(ShardTimer timer) {
		}

		@OnShardTimer
		void second(ShardTimer timer) {
		}

	}

	static class WithoutConsumer {

		@OnShardTimer
		void due(ShardTimer timer) {
		}

	}

}
