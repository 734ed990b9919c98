package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The README's handler, and the first test that the guide shows for it.
 */
class QuickStartTests {

	private static final Path TOP = Path.of("..");

	@Test
	void firstTestDoesNotWaitForCommitInterval() throws IOException {
		List<String> arguments = new ArrayList<>(List.of("--shardkeeper.group=visits-app",
				"--shardkeeper.topics.visits.shards=8", "--shardkeeper.consumer.commit.interval=1h"));
		Matcher properties = Pattern.compile("@SpringBootTest\\(properties = \\{(.*?)}\\)")
			.matcher(Files.readString(TOP.resolve("docs/guides/handlers.md")));
		assertThat(properties.find()).isTrue();
		Pattern.compile("\"(.*?)\"")
			.matcher(properties.group(1))
			.results()
			.forEach((property) -> arguments.add("--" + property.group(1)));

		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.run(arguments.toArray(String[]::new))) {
			new VisitCounterTests(context.getBean(ShardTemplate.class), context.getBean(ShardStateReader.class))
				.countsVisits();
		}
	}

	@ParameterizedTest
	@CsvSource({ "README.md, record Visit, 2", "README.zh-CN.md, record Visit, 2",
			"docs/guides/handlers.md, countsVisits, 1" })
	void pageShowsCodeThatRunsHere(String page, String containing, int least) throws IOException {
		String source = plain(Files
			.readString(Path.of("src", "test", "java").resolve(getClass().getName().replace('.', '/') + ".java")));
		List<String> shown = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL)
			.matcher(Files.readString(TOP.resolve(page)))
			.results()
			.map((block) -> block.group(1))
			.filter((block) -> block.contains(containing))
			.flatMap((block) -> Pattern.compile("^\\t+(?:@\\w|state|this|void|await|\\.).*$", Pattern.MULTILINE)
				.matcher(block)
				.results()
				.map((line) -> line.group().strip()))
			.filter((line) -> !line.startsWith("@Autowired"))
			.toList();

		assertThat(shown).hasSizeGreaterThanOrEqualTo(least);
		assertThat(source.lines()).containsAll(shown);
	}

	private static String plain(String code) {
		return code.lines().map(String::strip).collect(Collectors.joining("\n"));
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(30));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(VisitCounter.class)
	static class Application {

	}

	record Visit(String client, String page) {

	}

	@Component
	static class VisitCounter {

		@ShardConsumer("visits")
		void count(Visit visit, ShardState state) {
			state.increment(visit.client(), 1);
		}

	}

	/** The guide's test, with its dependencies passed by hand. */
	private static final class VisitCounterTests {

		private final ShardTemplate shards;

		private final ShardStateReader states;

		VisitCounterTests(ShardTemplate shards, ShardStateReader states) {
			this.shards = shards;
			this.states = states;
		}

		void countsVisits() {
			this.shards.send("visits", "ann", new Visit("ann", "/"));
			this.shards.send("visits", "ann", new Visit("ann", "/shop"));
			await().untilAsserted(() -> assertThat(this.states.read(this.shards.shardFor("visits", "ann"), Long.class))
				.containsEntry("ann", 2L));
		}

	}

}
