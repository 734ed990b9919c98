package io.github.shardkeeper.sample.dashboard;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import io.github.shardkeeper.sample.FreePorts;
import io.github.shardkeeper.sample.SampleInstance;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three instances of the sample in processes of their own, one of them frozen, and one
 * with a record that cannot be handled: somebody who has only the page sees what is wrong
 * with which shard, and mends it there.
 */
@DisabledOnOs(OS.WINDOWS)
@Tag("proof")
class FrozenAndPoisonedTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final int redisPort = FreePorts.next();

	private final List<SampleInstance> instances = new ArrayList<>();

	@TempDir
	private Path logs;

	@AfterEach
	void killAll() throws InterruptedException {
		for (SampleInstance instance : this.instances) {
			instance.kill();
		}
	}

	@Test
	void aFrozenInstanceAndAPoisonedRecordAreNamedAndMended() throws Exception {
		try (Browser browser = Browser.start()) {
			for (String id : List.of("one", "two", "three")) {
				this.instances.add(new SampleInstance(this.logs, List.of("--sample.redis.port=" + this.redisPort,
						"--shardkeeper.instance-id=" + id, "--shardkeeper.consumer.on-failure=halt")));
			}
			Awaitility.await()
				.atMost(PATIENCE)
				.ignoreExceptionsInstanceOf(IOException.class)
				.until(() -> shardsOf("one") > 0 && shardsOf("two") > 0 && shardsOf("three") > 0);
			browser.open(this.instances.get(0).address("/actuator/sharddashboard"));
			browser.awaitCount("#members li", 3);
			browser.awaitText("#verdict", "None known");

			String poisoned = shards("one").get(0).path("id").asString();
			poison(poisoned);
			this.instances.get(2).freeze();

			browser.awaitText("#problems", "three▲ problemNo heartbeat");
			browser.awaitText("#problems", "visits/%s▲ problemHalted at offset".formatted(poisoned));

			browser.click("#problems", "Skip the record …");
			browser.awaitText("#effects", "1 record would be skipped");
			browser.click("#confirm", "Skip the record");
			browser.awaitText("#effects", "Done.");
			browser.click("#confirm", "Close");
			browser.await(() -> !browser.text("#problems").contains("Halted"), () -> browser.text("#problems"));

			browser.awaitText("#verdict", "1 instance is gone");
			browser.await(() -> !browser.text("#cells").contains("three"), () -> browser.text("#cells"));

			this.instances.get(2).thaw();
			browser.awaitCount("#members li", 3);
			browser.awaitText("#verdict", "None known");
			assertThat(shardsOf("one") + shardsOf("two") + shardsOf("three")).isEqualTo(4);
		}
	}

	private List<JsonNode> shards(String instance) throws IOException {
		return StreamSupport.stream(this.instances.get(0).group().path("shards").spliterator(), false)
			.filter((shard) -> shard.path("owner").asString("").startsWith(instance + "~"))
			.toList();
	}

	private int shardsOf(String instance) throws IOException {
		return shards(instance).size();
	}

	/** Adds a record that is no line of an access log. */
	private void poison(String shard) {
		try (RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", this.redisPort))) {
			client.connect()
				.sync()
				.xadd("shardkeeper:{visits#%s}:stream:%s".formatted(shard, shard), Map.of("v", "garbage"));
		}
	}

}
