package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.FaultyProxy;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A partition where the master does not require replicas: both sides have a master, and
 * an instance that owns all shards there. Afterwards one master is left, and each shard
 * has one error that names both histories.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("proof")
@Promise("State exactly once")
class TwoMastersTests {

	private static final Duration PATIENCE = Duration.ofSeconds(40);

	private static final List<ShardId> SHARDS = IntStream.range(0, 4)
		.mapToObj((id) -> ShardId.of("orders", id))
		.toList();

	private final EmbeddedRedis master = EmbeddedRedis.startReplicating();

	private final EmbeddedRedis replica = EmbeddedRedis.startReplicating("--replicaof", "127.0.0.1",
			String.valueOf(this.master.port()));

	private final FaultyProxy lose = new FaultyProxy(this.master.port(), "{none}");

	private final FaultyProxy win = new FaultyProxy(this.master.port(), "{none}");

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=" + SHARDS.size(),
			"shardkeeper.session.lease=2s", "shardkeeper.consumer.commit.interval=100ms");

	private ConfigurableApplicationContext loser;

	private ConfigurableApplicationContext winner;

	@AfterEach
	void close() {
		this.instances.started().forEach(ConfigurableApplicationContext::close);
		this.lose.close();
		this.win.close();
		this.replica.close();
		this.master.close();
	}

	@Test
	void everyDivergedShardIsOneError(CapturedOutput output) {
		this.master.emptyWithReplicas(1);
		this.loser = start("loser", this.lose);
		this.winner = start("winner", this.win);
		awaitOwned(this.loser, "loser", 2);
		awaitOwned(this.loser, "winner", 2);
		sendAndCommit(this.loser);

		this.master.cutOffReplicas();
		this.replica.call((commands) -> commands.replicaofNoOne());
		this.win.moveTo(this.replica.port());
		awaitOwned(this.loser, "loser", 4);
		awaitOwned(this.winner, "winner", 4);
		sendAndCommit(this.loser);
		sendAndCommit(this.winner);
		Map<ShardId, String> here = histories(this.loser);
		Map<ShardId, String> there = histories(this.winner);
		this.lose.moveTo(this.replica.port());

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(errors(output)).hasSize(SHARDS.size()));
		awaitOwned(this.winner, "loser", 2);
		awaitOwned(this.winner, "winner", 2);
		assertThat(errors(output)).hasSize(SHARDS.size());
		for (ShardId shard : SHARDS) {
			assertThat(errors(output)).filteredOn((line) -> line.contains(shard + " "))
				.singleElement()
				.asString()
				.contains(here.get(shard).split(" "))
				.contains(there.get(shard).split(" "));
		}
	}

	private static List<String> errors(CapturedOutput output) {
		return output.getOut().lines().filter((line) -> line.contains(" ERROR ")).toList();
	}

	private ConfigurableApplicationContext start(String name, FaultyProxy network) {
		return this.instances.start(Application.class, name, "spring.data.redis.port=" + network.port());
	}

	private static void awaitOwned(ConfigurableApplicationContext asked, String owner, int shards) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(asked.getBean(GroupReporter.class).report().shards()).filteredOn(
					(shard) -> shard.state().equals("OWNED") && String.valueOf(shard.owner()).startsWith(owner + "~"))
				.hasSize(shards));
	}

	private static void sendAndCommit(ConfigurableApplicationContext instance) {
		Map<ShardId, Offset> sent = new TreeMap<>();
		ShardTemplate template = instance.getBean(ShardTemplate.class);
		for (int key = 0; key < 50; key++) {
			var result = template.send("orders", "key-" + key, "payload");
			sent.put(result.shard(), result.offset());
		}
		assertThat(sent).containsOnlyKeys(SHARDS);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(instance.getBean(CheckpointStore.class).offsets(SHARDS)).isEqualTo(sent));
	}

	/** The offset and the token of each shard, as one side has them. */
	private static Map<ShardId, String> histories(ConfigurableApplicationContext instance) {
		Map<ShardId, String> histories = new TreeMap<>();
		Map<ShardId, Offset> offsets = instance.getBean(CheckpointStore.class).offsets(SHARDS);
		for (ShardReport shard : instance.getBean(GroupReporter.class).report().shards()) {
			ShardId id = new ShardId(shard.topic(), shard.id());
			histories.put(id, offsets.get(id) + " " + shard.token());
		}
		return histories;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
			state.increment("n", 1);
		}

	}

}
