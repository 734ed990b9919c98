package io.github.shardkeeper.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardSessionLostEvent;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.routing.RoutingCheckpointStore;

/**
 * An application that writes a trace of each record that its handler sees, and of the
 * store's replies to its commits, for tests that run it as a process of its own.
 */
public final class TracingInstance {

	static final String TOPIC = "numbers";

	/** Topic in Kafka, consumed if {@code trace.kafka} is set. */
	static final String KAFKA_TOPIC = "numbers-in-kafka";

	private TracingInstance() {
	}

	public static void main(String[] args) {
		new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE).run(args);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		TraceWriter traceWriter(@Value("${trace.file}") Path file,
				@Value("${shardkeeper.instance-id}") String instance) {
			return new TraceWriter(file, instance);
		}

		@Bean
		ApplicationListener<PayloadApplicationEvent<ShardSessionLostEvent>> suspensions(TraceWriter trace) {
			return ApplicationListener.forPayload((ShardSessionLostEvent event) -> trace.suspended());
		}

		@Bean
		Tracer tracer(TraceWriter trace, @Value("${trace.work:0ms}") Duration longestWork) {
			return new Tracer(trace, longestWork);
		}

		@Bean
		@ConditionalOnBooleanProperty("trace.kafka")
		KafkaTracer kafkaTracer(Tracer tracer) {
			return new KafkaTracer(tracer);
		}

		@Bean
		@ConditionalOnBooleanProperty("trace.unreliable")
		UnreliableHandlers unreliableHandlers() {
			return new UnreliableHandlers();
		}

		@Bean
		@ConditionalOnBooleanProperty("trace.forwarding")
		Forwarding forwarding() {
			return new Forwarding();
		}

		@Bean
		@ConditionalOnBooleanProperty("trace.bookings")
		Bookings bookings(JdbcClient client) {
			return new Bookings(client);
		}

		@Bean
		@ConditionalOnBooleanProperty("trace.reminders")
		Reminders reminders() {
			return new Reminders();
		}

		@Bean
		StateMigration<Reminders.Put> reminderVersions(@Value("${shardkeeper.instance-id}") String instance) {
			return Reminders.migration(instance);
		}

		@Bean
		static BeanPostProcessor tracedCheckpoints(ObjectProvider<TraceWriter> trace) {
			return new BeanPostProcessor() {
				@Override
				public Object postProcessAfterInitialization(Object bean, String name) {
					// That by topic contains the traced one.
					return (bean instanceof CheckpointStore store && !(bean instanceof RoutingCheckpointStore))
							? new TracedCheckpoints(store, trace.getObject()) : bean;
				}
			};
		}

	}

	/** Does the same with records of Kafka. */
	record KafkaTracer(Tracer tracer) {

		@ShardConsumer(KAFKA_TOPIC)
		void handle(String number, ShardContext context, ShardState state) throws InterruptedException {
			this.tracer.handle(number, context, state);
		}

	}

	static final class Tracer {

		/** Number of calls of which one ignores its interruption. */
		private static final int STUBBORN = 4;

		private final TraceWriter trace;

		private final Duration longestWork;

		Tracer(TraceWriter trace, Duration longestWork) {
			this.trace = trace;
			this.longestWork = longestWork;
		}

		@ShardConsumer(TOPIC)
		void handle(String number, ShardContext context, ShardState state) throws InterruptedException {
			long begin = Trace.nowMicros();
			long value = Long.parseLong(number);
			long sum = state.increment("sum", value);
			long count = state.increment("count", 1);
			boolean completed = false;
			try {
				work(value % STUBBORN != 0);
				completed = true;
			}
			finally {
				this.trace.call(completed, begin, context.shard(), context.token(), value, sum, count);
			}
		}

		private void work(boolean heedsInterruption) throws InterruptedException {
			long work = ThreadLocalRandom.current().nextLong(this.longestWork.toNanos() + 1);
			long end = System.nanoTime() + work;
			for (long left = work; left > 0; left = end - System.nanoTime()) {
				try {
					TimeUnit.NANOSECONDS.sleep(left);
				}
				catch (InterruptedException ex) {
					if (heedsInterruption) {
						throw ex;
					}
				}
			}
		}

	}

}
