package io.github.shardkeeper.endtoend;

import java.util.concurrent.ThreadLocalRandom;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;

/**
 * An instance of a pipeline of three topics: each number goes from {@code numbers} to
 * {@code counted}, and from there to {@code results}, each time as a part of the call. If
 * there is a database, the first call also writes a row. Some calls fail after they have
 * sent.
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
		Counting counting(ObjectProvider<JdbcClient> database) {
			return new Counting(database.getIfAvailable());
		}

		@Bean
		Passing passing() {
			return new Passing();
		}

	}

	/** The client is {@code null} without a database. */
	record Counting(JdbcClient database) {

		@ShardConsumer(TracingInstance.TOPIC)
		void handle(String number, ShardContext context, ShardState state, ShardOutput output) {
			// The count shows that state and output are of one call.
			long count = state.increment("count", 1);
			output.send(COUNTED, context.shard().id(), context.shard().id() + " " + number + " " + count);
			if (this.database != null) {
				this.database.sql("insert into counted (shard, number) values (?, ?)")
					.params(context.shard().id(), Long.valueOf(number))
					.update();
			}
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
