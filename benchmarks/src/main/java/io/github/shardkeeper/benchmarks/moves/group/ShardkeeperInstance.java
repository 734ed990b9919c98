package io.github.shardkeeper.benchmarks.moves.group;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardSessionLostEvent;

/**
 * An application with the starter whose handler writes a trace of its records. A process
 * of its own.
 */
public final class ShardkeeperInstance {

	static final String TOPIC = "numbers";

	/** Property with the number of shards. */
	static final String SHARDS = "shardkeeper.topics." + TOPIC + ".shards";

	private ShardkeeperInstance() {
	}

	/** Returns what starts this one, with the class path of this JVM. */
	static List<String> launcher() {
		return List.of("-cp", System.getProperty("java.class.path"), ShardkeeperInstance.class.getName());
	}

	/**
	 * Starts an application that has a {@link TraceWriter}, in which it says when it has
	 * started.
	 */
	static void run(Class<?> application, WebApplicationType web, String[] arguments) {
		new SpringApplicationBuilder(application).web(web)
			.bannerMode(Banner.Mode.OFF)
			.run(arguments)
			.getBean(TraceWriter.class)
			.ready();
	}

	public static void main(String[] arguments) {
		run(Application.class, WebApplicationType.NONE, arguments);
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

		@Bean
		ApplicationListener<PayloadApplicationEvent<ShardSessionLostEvent>> suspensions(TraceWriter trace) {
			return ApplicationListener.forPayload((ShardSessionLostEvent event) -> trace.suspended());
		}

	}

	/** Writes down every record. */
	record Handler(TraceWriter trace) {

		@ShardConsumer(TOPIC)
		public void handle(byte[] payload, ShardContext context) {
			this.trace.handled(Integer.parseInt(context.shard().id()), payload, context.token().value());
		}

	}

}
