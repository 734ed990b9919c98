package io.github.shardkeeper.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.annotation.Order;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardSendInterceptor;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Interceptors and observers of the application run besides those of meters and traces.
 */
class ObserverBeansTests {

	private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

	private final ObservationRegistry observations = ObservationRegistry.create();

	private final ApplicationContextRunner contexts = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class))
		.withBean(MeterRegistry.class, () -> this.meters)
		.withBean(ObservationRegistry.class, () -> this.observations)
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop", "shardkeeper.topics.orders.shards=1",
				"shardkeeper.topics.copies.shards=1");

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void observersOfTheApplicationAndMetersBothRun(boolean observed) {
		this.observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(this.meters));
		BlockingQueue<String> events = new LinkedBlockingQueue<>();
		this.contexts.withPropertyValues("shardkeeper.observations.enabled=" + observed)
			.withBean(Inner.class, () -> new Inner(events, this.observations))
			.withBean(Outer.class, () -> new Outer(events, this.observations))
			.withBean(Handler.class, () -> new Handler(events))
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("orders", "ann", "hello");
				String within = observed ? " within shardkeeper.consume" : "";
				List<String> handled = List.of("outer sends", "inner sends", "outer calls" + within,
						"inner calls" + within, "hello from outer and inner", "outer sends", "inner sends",
						"outer calls" + within, "inner calls" + within, "again hello from outer and inner");
				// The record may be handled before its sender knows that it is appended.
				List<String> sent = List.of("inner has sent to orders", "outer has sent to orders");
				List<String> all = new ArrayList<>();
				while (all.size() < handled.size() + sent.size()) {
					all.add(poll(events));
				}
				assertThat(all).filteredOn(sent::contains).isEqualTo(sent);
				assertThat(all).filteredOn((event) -> !sent.contains(event))
					.as("the second time with ShardOutput")
					.isEqualTo(handled);
				await().untilAsserted(() -> {
					assertThat(count("shardkeeper.send")).isEqualTo(1);
					assertThat(count("shardkeeper.consume")).isEqualTo(2);
				});
			});
	}

	private static String poll(BlockingQueue<String> events) throws InterruptedException {
		return events.poll(20, TimeUnit.SECONDS);
	}

	private long count(String timer) {
		return this.meters.find(timer).timers().stream().mapToLong(Timer::count).sum();
	}

	/** Tells of calls and sends, and adds its name to the headers. */
	abstract static class Telling implements ShardInterceptor, ShardSendInterceptor {

		private final BlockingQueue<String> events;

		private final ObservationRegistry observations;

		private final String name;

		Telling(BlockingQueue<String> events, ObservationRegistry observations, String name) {
			this.events = events;
			this.observations = observations;
			this.name = name;
		}

		@Override
		public void intercept(ShardContext shard, List<ShardRecord<?>> records, Call call) throws Throwable {
			this.events.add(this.name + " calls" + ((this.observations.getCurrentObservation() != null)
					? " within " + this.observations.getCurrentObservation().getContext().getName() : ""));
			call.proceed();
		}

		@Override
		public Outgoing sending(String topic, Outgoing record) {
			this.events.add(this.name + " sends");
			String others = record.headers().get("by");
			return record.withHeader("by", (others != null) ? others + " and " + this.name : this.name);
		}

		@Override
		public void sent(String topic, Outgoing record, Appended appended) {
			this.events.add(this.name + " has sent to " + topic);
		}

	}

	@Order(1)
	static class Outer extends Telling {

		Outer(BlockingQueue<String> events, ObservationRegistry observations) {
			super(events, observations, "outer");
		}

	}

	@Order(2)
	static class Inner extends Telling {

		Inner(BlockingQueue<String> events, ObservationRegistry observations) {
			super(events, observations, "inner");
		}

	}

	static class Handler {

		private final BlockingQueue<String> events;

		Handler(BlockingQueue<String> events) {
			this.events = events;
		}

		@ShardConsumer("orders")
		void handle(ShardRecord<String> order, ShardOutput output) {
			this.events.add(order.payload() + " from " + order.headers().get("by"));
			output.send("copies", order.key(), "again " + order.payload());
		}

		@ShardConsumer("copies")
		void handle(ShardRecord<String> copy) {
			this.events.add(copy.payload() + " from " + copy.headers().get("by"));
		}

	}

}
