package io.github.shardkeeper.benchmarks.moves;

import java.io.IOException;
import java.nio.file.Path;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;

/**
 * An application with the starter whose handler writes a trace of its records. A process
 * of its own.
 */
public final class ShardkeeperInstance {

	static final String TOPIC = "numbers";

	private ShardkeeperInstance() {
	}

	public static void main(String[] arguments) {
		new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.run(arguments);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Handler handler(@Value("${trace.file}") Path file) throws IOException {
			return new Handler(new TraceWriter(file));
		}

	}

	/**
	 * Writes down every record.
	 */
	record Handler(TraceWriter trace) {

		@ShardConsumer(TOPIC)
		public void handle(byte[] payload, ShardContext context) {
			this.trace.handled(Integer.parseInt(context.shard().id()), payload, context.token().value());
		}

	}

}
