package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The test of moves that the guide shows, line by line.
 */
@Timeout(60)
class TestingGuideTests {

	@RegisterExtension
	final EmbeddedGroup group = EmbeddedGroup.onRedis("shardkeeper.topics.visits.shards=4",
			"shardkeeper.consumer.commit.mode=batch");

	@Test
	void countsStayExactWhenShardsMove() {
		ConfigurableApplicationContext one = this.group.start(VisitsApplication.class, "one");
		visitOnce(one);
		ConfigurableApplicationContext two = this.group.start(VisitsApplication.class, "two");
		visitOnce(two);
		one.close();
		visitOnce(two);

		await().untilAsserted(() -> assertThat(counts(two)).hasSize(20).allSatisfy(this::isThree));
	}

	@Test
	void countsStayExactWhenAnInstanceDies() {
		ConfigurableApplicationContext one = this.group.start(VisitsApplication.class, "one");
		ConfigurableApplicationContext two = this.group.start(VisitsApplication.class, "two");
		visitOnce(one);
		visitOnce(two);
		this.group.kill("one");
		visitOnce(two);

		await().untilAsserted(() -> assertThat(counts(two)).hasSize(20).allSatisfy(this::isThree));
	}

	private void isThree(String client, long visits) {
		assertThat(visits).as(client).isEqualTo(3);
	}

	private static void visitOnce(ConfigurableApplicationContext instance) {
		ShardTemplate shards = instance.getBean(ShardTemplate.class);
		for (int client = 0; client < 20; client++) {
			shards.send("visits", "client-" + client, new Visit("client-" + client, "/"));
		}
	}

	private static Map<String, Long> counts(ConfigurableApplicationContext instance) {
		ShardTemplate shards = instance.getBean(ShardTemplate.class);
		ShardStateReader states = instance.getBean(ShardStateReader.class);
		Map<String, Long> counts = new TreeMap<>();
		for (int client = 0; client < 20; client++) {
			counts.putAll(states.read(shards.shardFor("visits", "client-" + client), Long.class));
		}
		return counts;
	}

	@Test
	void guideShowsThisTest() throws IOException {
		String here = strip(
				Files.readString(Path.of("src", "test", "java", getClass().getName().replace('.', '/') + ".java")));
		List<String> shown = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL)
			.matcher(Files.readString(Path.of("..", "docs", "guides", "testing.md")))
			.results()
			.map((block) -> block.group(1))
			.filter((block) -> block.contains("class VisitMoveTests"))
			.flatMap((block) -> strip(block).lines())
			.filter((line) -> !line.contains("class VisitMoveTests"))
			.toList();

		assertThat(shown).hasSizeGreaterThan(40);
		assertThat(here.lines()).containsAll(shown);
	}

	private static String strip(String code) {
		return code.lines().map(String::strip).collect(Collectors.joining("\n"));
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(30));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class VisitsApplication {

		@ShardConsumer("visits")
		void count(Visit visit, ShardState state) {
			state.increment(visit.client(), 1);
		}

	}

	record Visit(String client, String page) {

	}

}
