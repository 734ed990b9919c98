package io.github.shardkeeper.handler;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardRecordFilter;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;

/** What filters and interceptors see of the calls of a handler, and what they change. */
class CallHooksTests {

	private final ShardContext shard = mock(ShardContext.class);

	private final Acknowledgment acknowledgment = mock(Acknowledgment.class);

	private final List<Object> seen = new ArrayList<>();

	private final ShardInterceptor recorder = (context, records, call) -> {
		records.forEach((record) -> this.seen.add(record.payload() + " for the " + record.attempt() + "."));
		call.proceed();
		this.seen.add("returned");
	};

	CallHooksTests() {
		given(this.shard.shard()).willReturn(ShardId.of("orders", 0));
	}

	@Test
	void interceptorSeesTheRecordAsTheHandlerTakesIt() throws Throwable {
		ShardHandler handler = handler(new Numbers(this.seen), List.of(), this.recorder);

		handler.handle(handler.convert(this.shard, record("7"), 2), arguments());
		handler.handle(handler.convert(this.shard, TimerRecord.of("ann", "remind", Instant.EPOCH, "1"), 1),
				arguments());

		ShardTimer timer = new ShardTimer("ann", "remind", Instant.EPOCH);
		assertThat(this.seen).containsExactly("7 for the 2.", 7, "returned", timer + " for the 1.", timer, "returned");
	}

	@Test
	void interceptorOfAHandlerWithoutRecordsSeesNone() throws Throwable {
		ShardHandler handler = handler(new Loop(this.seen), List.of(), this.recorder);

		assertThat(handler.handle(null, arguments())).isZero();

		assertThat(this.seen).containsExactly("loop", "returned");
	}

	/** Also if its payload cannot be converted. */
	@Test
	void skippedRecordIsAcknowledgedWithoutACall() throws Throwable {
		ShardHandler handler = handler(new Numbers(this.seen), List.of((context, record) -> {
			this.seen.add(new String(record.payload()) + " for the " + record.attempt() + ".");
			return !record.headers().containsKey("test");
		}), this.recorder);

		SourceRecord skipped = record("no number", Map.of("test", "yes"));
		assertThat(handler.handle(handler.convert(this.shard, skipped, 1), arguments())).isEqualTo(1);

		assertThat(this.seen).containsExactly("no number for the 1.");
		then(this.acknowledgment).should().acknowledge();
	}

	@Test
	void handlerGetsTheRecordsOfABatchThatAllFiltersAccept() throws Throwable {
		ShardHandler handler = handler(new Batches(this.seen), List.of(isNot("1"), isNot("3")), this.recorder);

		assertThat(handler.handle(batch(handler, "1", "2", "3", "4"), arguments())).isEqualTo(2);
		assertThat(this.seen).containsExactly("2 for the 1.", "4 for the 1.", List.of(2, 4), "returned");
		then(this.acknowledgment).should(never()).acknowledge();

		this.seen.clear();
		assertThat(handler.handle(batch(handler, "1", "3"), arguments())).isEqualTo(2);
		assertThat(this.seen).isEmpty();
		then(this.acknowledgment).should().acknowledge();
	}

	@Test
	void timerIsNotFiltered() throws Throwable {
		ShardHandler handler = handler(new Numbers(this.seen), List.of((context, record) -> false), this.recorder);

		handler.handle(handler.convert(this.shard, TimerRecord.of("ann", "remind", Instant.EPOCH, "1"), 1),
				arguments());

		assertThat(this.seen).contains(new ShardTimer("ann", "remind", Instant.EPOCH));
	}

	/** So that it is retried: the payload is not at fault. */
	@Test
	void failureOfAFilterIsOneOfTheCall() {
		StackOverflowError failure = new StackOverflowError();
		ShardHandler handler = handler(new Batches(this.seen), List.of((context, record) -> {
			throw failure;
		}), this.recorder);
		Object converted = batch(handler, "1", "2");

		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> handler.handle(converted, arguments()))
			.isSameAs(failure);
		assertThat(this.seen).isEmpty();
	}

	private CallArguments arguments() {
		return new CallArguments(this.shard, null, this.acknowledgment);
	}

	private static ShardRecordFilter isNot(String payload) {
		return (context, record) -> !new String(record.payload()).equals(payload);
	}

	private Object batch(ShardHandler handler, String... payloads) {
		List<Object> converted = new ArrayList<>();
		for (String payload : payloads) {
			converted.add(handler.convert(this.shard, record(payload), 1));
		}
		return converted;
	}

	private static SourceRecord record(String payload) {
		return record(payload, Map.of());
	}

	private static SourceRecord record(String payload, Map<String, String> headers) {
		return new SourceRecord(new Offset("1-0"), "ann", payload.getBytes(), headers, 0);
	}

	private static ShardHandler handler(Object bean, List<ShardRecordFilter> filters, ShardInterceptor interceptor) {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerSingleton("handler", bean);
		return new ShardHandlerDetector(new AnnotatedBeans(beans), new JsonPayloadConverter(new JsonMapper()),
				MessageArguments.NONE, CallHooks.of(filters, List.of(interceptor)), (topic) -> TopicSchedule.NONE)
			.detect(Map.of("orders", 1))
			.get("orders");
	}

	record Numbers(List<Object> seen) {

		@ShardConsumer("orders")
		void handle(ShardRecord<Integer> order) {
			this.seen.add(order.payload());
		}

		@OnShardTimer
		void due(ShardTimer timer) {
			this.seen.add(timer);
		}

	}

	record Batches(List<Object> seen) {

		@ShardConsumer("orders")
		void handle(List<Integer> orders) {
			this.seen.add(orders);
		}

	}

	record Loop(List<Object> seen) {

		@ShardConsumer(value = "orders", interval = "1s")
		void run() {
			this.seen.add("loop");
		}

	}

}
