package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;

/**
 * A {@link ShardkeeperInstance} whose process has taken part in moves before: of a group
 * of two that it makes up by itself. What it is compiled for then shows what a process
 * that has just started pays for. A process of its own.
 */
public final class WarmedInstance {

	private static final int MOVES = 4;

	private static final long PATIENCE_NANOS = 60_000_000_000L;

	private WarmedInstance() {
	}

	public static void main(String[] arguments) throws InterruptedException {
		try (ConfigurableApplicationContext stays = start(arguments, "stays")) {
			await(stays);
			for (int i = 0; i < MOVES; i++) {
				try (ConfigurableApplicationContext goes = start(arguments, "goes-" + i)) {
					await(goes);
				}
			}
		}
		ShardkeeperInstance.main(arguments);
	}

	private static ConfigurableApplicationContext start(String[] arguments, String instance) {
		List<String> changed = new ArrayList<>();
		String name = "";
		for (String argument : arguments) {
			if (argument.startsWith("--shardkeeper.instance-id=")) {
				name = argument.substring(argument.indexOf('=') + 1);
			}
			else if (!argument.startsWith("--shardkeeper.group=")) {
				changed.add(argument);
			}
		}
		changed.add("--shardkeeper.group=before-" + name);
		changed.add("--shardkeeper.instance-id=" + instance);
		changed.add("--shardkeeper.topics." + ShardkeeperInstance.TOPIC + ".start=latest");
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.run(changed.toArray(String[]::new));
	}

	/** Waits until it consumes half of the shards at least. */
	private static void await(ConfigurableApplicationContext application) throws InterruptedException {
		int half = application.getEnvironment()
			.getRequiredProperty("shardkeeper.topics." + ShardkeeperInstance.TOPIC + ".shards", Integer.class) / 2;
		Set<String> shards = application.getBean(Handler.class).shards();
		long deadline = System.nanoTime() + PATIENCE_NANOS;
		while (shards.size() < half) {
			if (System.nanoTime() - deadline > 0) {
				throw new IllegalStateException("Only " + shards + " of " + half + " shards were consumed");
			}
			TimeUnit.MILLISECONDS.sleep(20);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Handler handler() {
			return new Handler(ConcurrentHashMap.newKeySet());
		}

	}

	/**
	 * Collects the shards of its records.
	 */
	record Handler(Set<String> shards) {

		@ShardConsumer(ShardkeeperInstance.TOPIC)
		public void handle(byte[] payload, ShardContext context) {
			this.shards.add(context.shard().id());
		}

	}

}
