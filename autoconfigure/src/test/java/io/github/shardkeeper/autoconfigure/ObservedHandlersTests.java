package io.github.shardkeeper.autoconfigure;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.opentelemetry.sdk.trace.data.SpanData;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.observation.ShardConsumeContext;
import io.github.shardkeeper.observation.ShardConsumeConvention;
import io.github.shardkeeper.observation.TestTracing;
import io.github.shardkeeper.template.SendObserver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Observations of handlers, with one worker thread for all calls.
 */
class ObservedHandlersTests {

	private final ApplicationContextRunner contexts = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop", "shardkeeper.topics.orders.shards=1",
				"shardkeeper.consumer.threads=1", "shardkeeper.observations.enabled=true");

	@Test
	void everyCallHasItsOwnObservation() throws Exception {
		try (TestTracing tracing = new TestTracing()) {
			Records handler = new Records(tracing.registry());
			this.contexts.withBean(ObservationRegistry.class, tracing::registry)
				.withBean(Records.class, () -> handler)
				.run((context) -> {
					context.getBean(ShardTemplate.class).send("orders", "a", "first");
					context.getBean(ShardTemplate.class).send("orders", "a", "second");
					assertThat(handler.next()).isEqualTo("first in shardkeeper.consume, traced");
					assertThat(handler.next()).isEqualTo("second in shardkeeper.consume, traced");
				});
			assertThat(handler.next()).isEqualTo("revoked in nothing");
			List<SpanData> sent = spans(tracing, "send orders");
			List<SpanData> processed = spans(tracing, "process orders");
			assertThat(sent).hasSize(2);
			assertThat(processed).extracting(SpanData::getParentSpanId)
				.containsExactly(sent.get(0).getSpanId(), sent.get(1).getSpanId());
			assertThat(sent.get(0).getTraceId()).isNotEqualTo(sent.get(1).getTraceId());
		}
	}

	@Test
	void traceContinuesThroughAllHandlers() {
		try (TestTracing tracing = new TestTracing()) {
			Telling handler = new Passing(tracing.registry());
			this.contexts.withPropertyValues("shardkeeper.topics.bills.shards=1")
				.withBean(ObservationRegistry.class, tracing::registry)
				.withBean("handler", Telling.class, () -> handler)
				.run((context) -> {
					((Passing) handler).shards = context.getBean(ShardTemplate.class);
					Observation request = Observation.start("request", tracing.registry());
					request.scoped(() -> {
						context.getBean(ShardTemplate.class).send("orders", "a", "first");
					});
					request.stop();
					assertThat(handler.next()).isEqualTo("order first in shardkeeper.consume, traced");
					assertThat(handler.next()).isEqualTo("bill first in shardkeeper.consume, traced");
				});
			SpanData request = spans(tracing, "request").get(0);
			SpanData order = spans(tracing, "process orders").get(0);
			SpanData bill = spans(tracing, "process bills").get(0);
			assertThat(tracing.spans()).hasSize(5)
				.allSatisfy((span) -> assertThat(span.getTraceId()).isEqualTo(request.getTraceId()));
			assertThat(spans(tracing, "send bills").get(0).getParentSpanId()).isEqualTo(order.getSpanId());
			assertThat(bill.getParentSpanId()).isEqualTo(spans(tracing, "send bills").get(0).getSpanId());
		}
	}

	@Test
	void batchesAreObserved() {
		try (TestTracing tracing = new TestTracing()) {
			Batches handler = new Batches(tracing.registry());
			this.contexts.withBean(ObservationRegistry.class, tracing::registry)
				.withBean(Batches.class, () -> handler)
				.run((context) -> {
					context.getBean(ShardTemplate.class).send("orders", "a", "first");
					assertThat(handler.next()).isEqualTo("[first] in shardkeeper.consume, traced");
				});
		}
	}

	@Test
	void loopsAreObserved() {
		try (TestTracing tracing = new TestTracing()) {
			Loop handler = new Loop(tracing.registry());
			this.contexts.withBean(ObservationRegistry.class, tracing::registry)
				.withBean(Loop.class, () -> handler)
				.run((context) -> assertThat(handler.next()).isEqualTo("loop in shardkeeper.consume, traced"));
		}
	}

	@Test
	void conventionBeanOverridesNames() {
		try (TestTracing tracing = new TestTracing()) {
			Records handler = new Records(tracing.registry());
			this.contexts.withBean(ObservationRegistry.class, tracing::registry)
				.withBean(Records.class, () -> handler)
				.withBean(ShardConsumeConvention.class, OwnConvention::new)
				.run((context) -> {
					context.getBean(ShardTemplate.class).send("orders", "a", "first");
					assertThat(handler.next()).isEqualTo("first in bookings, traced");
				});
			assertThat(spans(tracing, "book")).hasSize(1);
		}
	}

	@Test
	void springBootsRegistryIsUsed() {
		this.contexts.withConfiguration(AutoConfigurations.of(ObservationAutoConfiguration.class))
			.run((context) -> assertThat(context).hasSingleBean(ShardInterceptor.class)
				.hasSingleBean(SendObserver.class));
		this.contexts.run((context) -> assertThat(context).doesNotHaveBean(ShardInterceptor.class)
			.doesNotHaveBean(SendObserver.class));
	}

	@Test
	void nothingIsObservedWithoutRegistry() {
		Records handler = new Records(ObservationRegistry.NOOP);
		this.contexts.withBean(Records.class, () -> handler).run((context) -> {
			context.getBean(ShardTemplate.class).send("orders", "a", "first");
			assertThat(handler.next()).isEqualTo("first in nothing");
		});
	}

	private static List<SpanData> spans(TestTracing tracing, String name) {
		return tracing.spans().stream().filter((span) -> span.getName().equals(name)).toList();
	}

	/** Logs the current observation of each call. */
	abstract static class Telling {

		private final ObservationRegistry registry;

		private final BlockingQueue<String> calls = new LinkedBlockingQueue<>();

		Telling(ObservationRegistry registry) {
			this.registry = registry;
		}

		final void logObservation(Object what) {
			Observation observation = this.registry.getCurrentObservation();
			this.calls.add(what + " in " + ((observation != null) ? observation.getContext().getName() : "nothing")
					+ ((MDC.get("traceId") != null) ? ", traced" : ""));
		}

		final @Nullable String next() throws InterruptedException {
			return this.calls.poll(60, TimeUnit.SECONDS);
		}

	}

	static class Records extends Telling {

		Records(ObservationRegistry registry) {
			super(registry);
		}

		@ShardConsumer("orders")
		void handle(ShardRecord<String> record) {
			logObservation(record.payload());
		}

		@OnShardRevoked
		void revoked() {
			logObservation("revoked");
		}

	}

	static class Passing extends Telling {

		private volatile @Nullable ShardTemplate shards;

		Passing(ObservationRegistry registry) {
			super(registry);
		}

		@ShardConsumer("orders")
		void order(String order) {
			logObservation("order " + order);
			this.shards.send("bills", "a", order);
		}

		@ShardConsumer("bills")
		void bill(String order) {
			logObservation("bill " + order);
		}

	}

	static class Batches extends Telling {

		Batches(ObservationRegistry registry) {
			super(registry);
		}

		@ShardConsumer("orders")
		void handle(List<String> records) {
			logObservation(records);
		}

	}

	static class Loop extends Telling {

		Loop(ObservationRegistry registry) {
			super(registry);
		}

		@ShardConsumer(value = "orders", interval = "1h")
		void handle() {
			logObservation("loop");
		}

	}

	static class OwnConvention implements ShardConsumeConvention {

		@Override
		public String getName() {
			return "bookings";
		}

		@Override
		public String getContextualName(ShardConsumeContext context) {
			return "book";
		}

	}

}
