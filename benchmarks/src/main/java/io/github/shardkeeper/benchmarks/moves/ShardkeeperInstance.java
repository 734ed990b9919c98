package io.github.shardkeeper.benchmarks.moves;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardSessionLostEvent;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * An application with the starter whose handler writes a trace of its records. A process
 * of its own.
 */
public final class ShardkeeperInstance {

	static final String TOPIC = "numbers";

	/** Property with the number of shards. */
	static final String SHARDS = "shardkeeper.topics." + TOPIC + ".shards";

	/** Property with the duration of each call of the handler, in milliseconds. */
	static final String WORK = "trace.work-millis";

	private ShardkeeperInstance() {
	}

	/** Returns what starts this one, with the class path of this JVM. */
	static List<String> launcher() {
		return List.of("-cp", System.getProperty("java.class.path"), ShardkeeperInstance.class.getName());
	}

	/**
	 * How an instance is started.
	 * @param launcher the class path and main class, or the jar
	 * @param redis where the group is coordinated
	 * @param shards how many there are
	 * @param group the group that it belongs to
	 * @param name its name
	 * @param trace where it writes down what it handles
	 * @param release the release of the application
	 * @param settings further properties
	 * @return what comes behind the command {@code java} and its options
	 */
	static List<String> command(List<String> launcher, RedisProcess redis, int shards, String group, String name,
			Path trace, int release, List<String> settings) {
		List<String> command = new ArrayList<>(launcher);
		command.addAll(List.of("--spring.data.redis.port=" + redis.port(), "--shardkeeper.group=" + group,
				"--shardkeeper.instance-id=" + name, "--shardkeeper.version=" + release, "--" + SHARDS + "=" + shards,
				"--trace.file=" + trace));
		settings.forEach((setting) -> command.add("--" + setting));
		return command;
	}

	public static void main(String[] arguments) throws Exception {
		InstanceProcess.run(Application.class, WebApplicationType.NONE, arguments);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		TraceWriter trace(@Value("${trace.file}") Path file) throws IOException {
			return new TraceWriter(file);
		}

		@Bean
		Handler handler(TraceWriter trace, @Value("${" + WORK + ":0}") long workMillis) {
			return new Handler(trace, workMillis);
		}

		@Bean
		ApplicationListener<PayloadApplicationEvent<ShardSessionLostEvent>> suspensions(TraceWriter trace) {
			return ApplicationListener.forPayload((ShardSessionLostEvent event) -> trace.suspended());
		}

	}

	/**
	 * Writes down every record.
	 *
	 * @param workMillis the duration of each call
	 */
	record Handler(TraceWriter trace, long workMillis) {

		@ShardConsumer(TOPIC)
		public void handle(byte[] payload, ShardContext context) throws InterruptedException {
			if (this.workMillis > 0) {
				work();
			}
			this.trace.handled(Integer.parseInt(context.shard().id()), payload, context.token().value());
		}

		private void work() throws InterruptedException {
			try {
				Thread.sleep(this.workMillis);
			}
			catch (InterruptedException ex) {
				this.trace.interrupted();
				throw ex;
			}
		}

	}

}
