package io.github.shardkeeper.endtoend;

import java.util.concurrent.ThreadLocalRandom;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;

/**
 * An instance of a pipeline of three topics: each number goes from {@code numbers} to
 * {@code counted}, and from there to {@code results}, each time as a part of the call.
 * Some calls fail after they have sent.
 */
public final class PipelineInstance {

	static final String COUNTED = "counted";

	static final String RESULTS = "results";

	private PipelineInstance() {
	}

	public static void main(String[] args) {
		new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE).run(args);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Counting counting() {
			return new Counting();
		}

		@Bean
		Passing passing() {
			return new Passing();
		}

	}

	static final class Counting {

		@ShardConsumer(TracingInstance.TOPIC)
		void handle(String number, ShardContext context, ShardState state, ShardOutput output) {
			// The count shows that state and output are of one call.
			long count = state.increment("count", 1);
			output.send(COUNTED, context.shard().id(), context.shard().id() + " " + number + " " + count);
			failSometimes();
		}

	}

	static final class Passing {

		@ShardConsumer(COUNTED)
		void handle(ShardRecord<String> record, ShardOutput output) {
			output.send(RESULTS, record.key(), record.payload());
			failSometimes();
		}

	}

	private static void failSometimes() {
		if (ThreadLocalRandom.current().nextInt(50) == 0) {
			throw new IllegalStateException("After it has sent, caused by the test");
		}
	}

}
