package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Meters of handler calls and sent records in an application with registries of meters
 * and observations, as with the actuator.
 */
class HandlerMetersTests {

	/** Timers of what Shardkeeper does itself. */
	private static final Set<String> NO_CALLS = Set.of("shardkeeper.heartbeat", "shardkeeper.commit",
			"shardkeeper.plan", "shardkeeper.moves", "shardkeeper.move.phases");

	private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

	private final Observed observed = new Observed();

	private final ApplicationContextRunner contexts = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class))
		.withBean(MeterRegistry.class, () -> this.meters)
		.withBean(ObservationRegistry.class, this::observations)
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop", "shardkeeper.topics.orders.shards=1",
				"shardkeeper.consumer.commit.mode=batch");

	private ObservationRegistry observations() {
		ObservationRegistry registry = ObservationRegistry.create();
		registry.observationConfig()
			.observationHandler(this.observed)
			.observationHandler(new DefaultMeterObservationHandler(this.meters));
		return registry;
	}

	@Test
	void callIsTimedOnceAndObservesNothing() {
		this.contexts.withBean(Singly.class).run((context) -> {
			assertThat(context).doesNotHaveBean(ShardInterceptor.class);
			sendAndAwait(context.getBean(ShardTemplate.class), context.getBean(Singly.class).calls, 100);
			await().untilAsserted(() -> assertThat(callTimers()).containsOnly(100L));
			assertThat(sendTimers()).containsExactly(100L);
		});
		assertThat(this.observed.count).hasValue(0);
		assertThat(this.meters.getMeters()).noneMatch(LongTaskTimer.class::isInstance);
	}

	/**
	 * Each instance has its own offsets, dead letters and buffer of a broadcast topic.
	 */
	@Test
	void broadcastTopicsAreSampled() {
		this.contexts
			.withPropertyValues("shardkeeper.topics.orders.mode=broadcast", "shardkeeper.topics.orders.start=earliest",
					"shardkeeper.consumer.retry.max-attempts=1", "management.metrics.shardkeeper.sample-interval=1s")
			.withBean(AlwaysFailing.class)
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("orders", "a", "hello");
				await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
					assertThat(gauge("shardkeeper.dead.letters.stored")).isEqualTo(1);
					assertThat(gauge("shardkeeper.shards.owned")).isEqualTo(1);
					assertThat(gauge("shardkeeper.lag")).isZero();
					assertThat(gauge("shardkeeper.shards.unreadable")).isZero();
				});
				assertThat(gauge("shardkeeper.buffer")).isZero();
				assertThat(gauge("shardkeeper.buffer.used")).isZero();
				assertThat(this.meters.find("shardkeeper.shards.unowned").meter()).as("of groups only").isNull();
			});
		assertThat(this.meters.find("shardkeeper.buffer").meter()).as("after the end of the context").isNull();
	}

	@Test
	void keysThatWaitAreCountedAndComparedWithTheirBound() {
		this.contexts
			.withPropertyValues("shardkeeper.consumer.retry.max-attempts=1", "shardkeeper.consumer.on-failure=park-key",
					"shardkeeper.consumer.park-key.max-keys=4")
			.withBean(AlwaysFailing.class)
			.run((context) -> {
				ShardTemplate template = context.getBean(ShardTemplate.class);
				template.send("orders", "a", "fails");
				template.send("orders", "a", "waits");
				await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
					assertThat(gauge("shardkeeper.parked.keys")).isEqualTo(1);
					assertThat(gauge("shardkeeper.parked.records")).isEqualTo(2);
					assertThat(gauge("shardkeeper.parked.used")).isEqualTo(0.25);
				});
			});
		assertThat(this.meters.find("shardkeeper.parked.keys").meter()).as("after the end of the context").isNull();
	}

	private double gauge(String name) {
		Gauge gauge = this.meters.find(name).tags("group", "shop", "topic", "orders").gauge();
		return (gauge != null) ? gauge.value() : -1;
	}

	@Test
	void observedCallIsTimedOnceByItsObservation() {
		this.contexts.withPropertyValues("shardkeeper.observations.enabled=true")
			.withBean(Singly.class)
			.run((context) -> {
				sendAndAwait(context.getBean(ShardTemplate.class), context.getBean(Singly.class).calls, 100);
				await().untilAsserted(() -> assertThat(callTimers()).containsExactly(100L));
				assertThat(sendTimers()).containsExactly(100L);
			});
		assertThat(this.observed.count).hasValue(200);
	}

	/** So that dashboards need not know which of them a timer comes from. */
	@Test
	void timersHaveTheSameTagsWithAndWithoutObservations() {
		for (boolean enabled : List.of(true, false)) {
			this.meters.clear();
			this.contexts.withPropertyValues("shardkeeper.observations.enabled=" + enabled)
				.withBean(Failing.class)
				.run((context) -> {
					context.getBean(ShardTemplate.class).send("orders", "a", "hello");
					await()
						.untilAsserted(() -> assertThat(errors()).isEqualTo(Set.of("IllegalStateException", "none")));
				});
			for (String name : List.of("shardkeeper.consume", "shardkeeper.send")) {
				assertThat(this.meters.find(name).timers()).as(name)
					.isNotEmpty()
					.allSatisfy((timer) -> assertThat(keys(timer)).isEqualTo(
							name.endsWith("send") ? Set.of("topic", "error") : Set.of("topic", "group", "error")));
			}
		}
	}

	@Test
	void batchIsTimedOnce() {
		this.contexts.withBean(Batches.class).run((context) -> {
			context.getBean(ShardTemplate.class)
				.sendAll("orders", IntStream.range(0, 100).mapToObj((i) -> new Outgoing("a", "record " + i)).toList());
			Batches handler = context.getBean(Batches.class);
			await().untilAsserted(() -> {
				assertThat(this.meters.get("shardkeeper.records").counter().count()).isEqualTo(100);
				assertThat(callTimers()).containsExactly((long) handler.calls.get());
			});
			assertThat(handler.calls).hasValueLessThan(100);
		});
	}

	@Test
	void metersExistBeforeTheFirstRecord() {
		this.contexts.withBean(Singly.class).run((context) -> {
			for (String name : List.of("shardkeeper.consume", "shardkeeper.records", "shardkeeper.handler.failures",
					"shardkeeper.dead.letters", "shardkeeper.commits")) {
				assertThat(this.meters.find(name).tags("group", "shop", "topic", "orders").meters()).as(name)
					.isNotEmpty();
			}
		});
	}

	@Test
	void registryThatRefusesMetersDoesNotStopConsumption() {
		this.meters.config().meterFilter(new MeterFilter() {
			@Override
			public Meter.Id map(Meter.Id id) {
				throw new IllegalStateException("caused by the test");
			}
		});
		this.contexts.withBean(Singly.class)
			.run((context) -> sendAndAwait(context.getBean(ShardTemplate.class), context.getBean(Singly.class).calls,
					3));
	}

	private void sendAndAwait(ShardTemplate shards, BlockingQueue<String> calls, int records)
			throws InterruptedException {
		for (int i = 0; i < records; i++) {
			shards.send("orders", "a", "record " + i);
		}
		for (int i = 0; i < records; i++) {
			assertThat(calls.poll(20, TimeUnit.SECONDS)).isEqualTo("record " + i);
		}
	}

	/** Returns the count of each timer that has timed a call. */
	private List<Long> callTimers() {
		return counts("shardkeeper.send");
	}

	private List<Long> sendTimers() {
		return this.meters.find("shardkeeper.send").timers().stream().map(Timer::count).toList();
	}

	private List<Long> counts(String except) {
		return this.meters.getMeters()
			.stream()
			.filter((meter) -> !meter.getId().getName().equals(except))
			.filter((meter) -> !NO_CALLS.contains(meter.getId().getName()))
			.filter(Timer.class::isInstance)
			.map((timer) -> ((Timer) timer).count())
			.filter((count) -> count > 0)
			.toList();
	}

	private Set<String> errors() {
		return this.meters.find("shardkeeper.consume")
			.timers()
			.stream()
			.filter((timer) -> timer.count() > 0)
			.map((timer) -> timer.getId().getTag("error"))
			.collect(Collectors.toSet());
	}

	private static Set<String> keys(Meter meter) {
		return meter.getId().getTags().stream().map(Tag::getKey).collect(Collectors.toSet());
	}

	/** Counts what is observed. */
	private static final class Observed implements ObservationHandler<Observation.Context> {

		private final AtomicInteger count = new AtomicInteger();

		@Override
		public void onStart(Observation.Context context) {
			this.count.incrementAndGet();
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

	}

	static class Singly {

		private final BlockingQueue<String> calls = new LinkedBlockingQueue<>();

		@ShardConsumer("orders")
		void handle(String payload) {
			this.calls.add(payload);
		}

	}

	static class AlwaysFailing {

		@ShardConsumer("orders")
		void handle(String payload) {
			throw new IllegalStateException("caused by the test");
		}

	}

	static class Failing {

		private boolean failed;

		@ShardConsumer("orders")
		void handle(String payload) {
			if (!this.failed) {
				this.failed = true;
				throw new IllegalStateException("caused by the test");
			}
		}

	}

	static class Batches {

		private final AtomicInteger calls = new AtomicInteger();

		@ShardConsumer("orders")
		void handle(List<String> records) {
			this.calls.incrementAndGet();
		}

	}

}
