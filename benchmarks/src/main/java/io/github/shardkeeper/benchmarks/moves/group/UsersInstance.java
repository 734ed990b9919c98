package io.github.shardkeeper.benchmarks.moves.group;

import java.io.IOException;
import java.nio.file.Path;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;

/**
 * An application as users have it: with a web server, the actuator and a handler that
 * keeps something. A process of its own.
 */
public final class UsersInstance {

	private UsersInstance() {
	}

	public static void main(String[] arguments) {
		ShardkeeperInstance.run(Application.class, WebApplicationType.SERVLET, arguments);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		TraceWriter trace(@Value("${trace.file}") Path file) throws IOException {
			return new TraceWriter(file);
		}

		@Bean
		Handler handler(TraceWriter trace) {
			return new Handler(trace);
		}

	}

	/**
	 * Counts the records, sums up their sizes, and writes down every one.
	 */
	record Handler(TraceWriter trace) {

		@ShardConsumer(ShardkeeperInstance.TOPIC)
		public void handle(byte[] payload, ShardContext context, ShardState state) {
			state.increment("count", 1);
			long bytes = state.get("bytes", Long.class).orElse(0L);
			state.put("bytes", bytes + payload.length);
			this.trace.handled(Integer.parseInt(context.shard().id()), payload, context.token().value());
		}

	}

}
