package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;

/**
 * An application that writes down each record that its handler sees, for tests that run
 * it as a process of its own.
 */
public final class TracingInstance {

	static final String TOPIC = "numbers";

	private TracingInstance() {
	}

	public static void main(String[] args) {
		new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE).run(args);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Tracer tracer(@Value("${trace.file}") Path file) {
			return new Tracer(file);
		}

	}

	static final class Tracer {

		private final FileChannel trace;

		Tracer(Path file) {
			try {
				this.trace = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		/** One write per line: whole lines even if the process is killed. */
		@ShardConsumer(TOPIC)
		void handle(String number, ShardContext context, ShardState state) throws IOException {
			long sum = state.increment("sum", Long.parseLong(number));
			long count = state.increment("count", 1);
			String line = "%d %s %s %s %s %d %d%n".formatted(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()),
					context.member().instance(), context.shard().id(), number, context.token(), sum, count);
			this.trace.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
		}

	}

}
