package io.github.shardkeeper.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The dashboard, the alert rules and the reference name the meters, labels and values of
 * labels that an application has after records, a repeated send, a failure, a retry and a
 * dead letter, and no others; and their functions fit the types of the meters.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MonitoringFilesTests {

	private static final Path MONITORING = Path.of("..", "docs", "monitoring");

	private static final Path REFERENCE = Path.of("..", "docs", "reference", "endpoint.md");

	private static final Path KUBERNETES = Path.of("..", "docs", "guides", "kubernetes.md");

	private static final Pattern QUERY = Pattern.compile("(?m)^ +query: (.*)$");

	/** Expressions and texts of an alert rule. */
	private static final Pattern RULE = Pattern
		.compile("(?m)^ +expr: ((?:>-\\n(?: {10}.*\\n)+)|.*\\n)((?: {8}.*\\n)*)");

	private static final Pattern METRIC = Pattern.compile("\\bshardkeeper_\\w+");

	/** A metric, with the function that is called with it and its labels. */
	private static final Pattern SELECTOR = Pattern
		.compile("(?:\\b(\\w+)\\()?(shardkeeper_\\w+)(?:\\{([^}]*)})?(\\[[^\\]]*])?");

	private static final Pattern LABEL = Pattern.compile("(\\w+)(=~|!~|!=|=)\"((?:[^\"\\\\]|\\\\.)*)\"");

	private static final Pattern GROUPING = Pattern.compile("\\bby \\(([^)]*)\\)");

	private static final Pattern VARIABLE = Pattern.compile("label_values\\((\\w+), (\\w+)\\)");

	private static final Pattern LABEL_IN_TEXT = Pattern.compile("\\{\\{ ?(?:\\$labels\\.)?(\\w+) ?}}");

	private static final Pattern STATE_IN_TEXT = Pattern.compile("[?&]state=(\\w+)");

	private static final Pattern SERIES = Pattern.compile("(?m)^(shardkeeper_\\w+)\\{([^}]*)}");

	private static final Pattern TYPE = Pattern.compile("(?m)^# TYPE (shardkeeper_\\w+) (\\w+)");

	private static final Pattern DOCUMENTED = Pattern.compile("(?m)^\\| `(shardkeeper\\.[a-z.]+)` \\|");

	/** Functions of a series that only grows; it has no meaning without one of them. */
	private static final Set<String> OF_COUNTERS = Set.of("rate", "irate", "increase");

	/** Values by label and metric, from the scrape. */
	private final Map<String, Map<String, Set<String>>> scraped = new HashMap<>();

	/** Metrics that only grow. */
	private final Set<String> counters = new HashSet<>();

	private final Set<String> meters = new TreeSet<>();

	@BeforeAll
	void scrapeAnApplication() {
		try (EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=2",
				"shardkeeper.consumer.commit.mode=batch", "shardkeeper.consumer.retry.max-attempts=2",
				"shardkeeper.consumer.retry.initial-interval=1ms",
				"management.metrics.shardkeeper.sample-interval=1s")) {
			ConfigurableApplicationContext context = instances.start(Orders.class, "one");
			PrometheusMeterRegistry registry = context.getBean(PrometheusMeterRegistry.class);
			ShardTemplate template = context.getBean(ShardTemplate.class);
			template.send("orders", new Outgoing("a", "good").withId("one"));
			template.send("orders", new Outgoing("a", "repeated").withId("one"));
			template.send("orders", "a", "bad");
			await().atMost(Duration.ofSeconds(60)).until(() -> {
				String scrape = registry.scrape();
				return value(scrape, "shardkeeper_dead_letters_stored") == 1
						&& value(scrape, "shardkeeper_lag_records") == 0 && value(scrape, "shardkeeper_leader") == 1
						&& value(scrape, "shardkeeper_shards") == 2
						&& value(scrape, "shardkeeper_moves_seconds_count") == 2;
			});
			String scrape = registry.scrape();
			assertThat(value(scrape, "shardkeeper_records_total")).isEqualTo(1);
			assertThat(value(scrape, "shardkeeper_handler_failures_total")).isEqualTo(2);
			assertThat(value(scrape, "shardkeeper_retries_total")).isEqualTo(1);
			assertThat(value(scrape, "shardkeeper_dead_letters_total")).isEqualTo(1);
			assertThat(value(scrape, "shardkeeper_records_size_bytes_total")).isPositive();
			assertThat(value(scrape, "shardkeeper_lease_remaining_seconds")).isPositive();
			assertThat(value(scrape, "shardkeeper_rebalances_total")).isPositive();
			assertThat(value(scrape, "shardkeeper_plan_seconds_count")).isPositive();
			assertThat(value(scrape, "shardkeeper_buffer_records")).isZero();
			assertThat(value(scrape, "shardkeeper_buffer_used_bytes")).isZero();
			assertThat(value(scrape, "shardkeeper_outbox_records")).isZero();
			assertThat(value(scrape, "shardkeeper_outbox_used_ratio")).isZero();
			assertThat(value(scrape, "shardkeeper_shards_unreadable")).isZero();
			assertThat(value(scrape, "shardkeeper_send_repeated_total")).isEqualTo(1);
			assertThat(value(scrape, "shardkeeper_parked_keys")).isZero();
			assertThat(value(scrape, "shardkeeper_parked_records")).isZero();
			assertThat(value(scrape, "shardkeeper_parked_used_ratio")).isZero();
			instances.start(Orders.class, "two");
			// All phases of a move: the shard that moves has to get a record.
			await().atMost(Duration.ofSeconds(60)).until(() -> {
				IntStream.range(0, 10).forEach((key) -> template.send("orders", "key" + key, "good"));
				return registry.scrape().contains("phase=\"firstRecord\"");
			});
			read(registry.scrape());
			assertThat(this.scraped.get("shardkeeper_script_seconds_count").get("script")).contains("commit.lua",
					"heartbeat.lua");
			registry.getMeters().forEach((meter) -> this.meters.add(meter.getId().getName()));
		}
	}

	private void read(String scrape) {
		Map<String, String> types = new HashMap<>();
		TYPE.matcher(scrape).results().forEach((type) -> types.put(type.group(1), type.group(2)));
		SERIES.matcher(scrape).results().forEach((series) -> {
			Map<String, Set<String>> labels = this.scraped.computeIfAbsent(series.group(1), (name) -> new TreeMap<>());
			LABEL.matcher(series.group(2))
				.results()
				.forEach((label) -> labels.computeIfAbsent(label.group(1), (name) -> new TreeSet<>())
					.add(label.group(3)));
			// Those of a summary or histogram have no type of their own.
			if (!"gauge".equals(types.get(series.group(1)))) {
				this.counters.add(series.group(1));
			}
		});
		assertThat(types).isNotEmpty();
	}

	/** Returns the sum over all labels; -1 without any. */
	private static double value(String scrape, String metric) {
		List<MatchResult> found = Pattern.compile("(?m)^" + metric + "\\{[^}]*} (\\S+)")
			.matcher(scrape)
			.results()
			.toList();
		return found.isEmpty() ? -1 : found.stream().mapToDouble((each) -> Double.parseDouble(each.group(1))).sum();
	}

	@Test
	void dashboardUsesOnlyWhatIsScraped() throws IOException {
		String text = Files.readString(MONITORING.resolve("grafana-dashboard.json"));
		JsonNode dashboard = JsonMapper.shared().readTree(text);
		Set<String> problems = new TreeSet<>();
		assertThat(dashboard.get("panels").size()).isGreaterThan(10);
		for (JsonNode panel : dashboard.get("panels")) {
			for (JsonNode target : panel.get("targets")) {
				problems.addAll(problems(target.get("expr").asString(), target.get("legendFormat").asString()));
			}
		}
		List<MatchResult> variables = VARIABLE.matcher(text).results().toList();
		assertThat(variables).isNotEmpty();
		variables.forEach((variable) -> {
			if (!this.scraped.getOrDefault(variable.group(1), Map.of()).containsKey(variable.group(2))) {
				problems.add(variable.group());
			}
		});
		assertThat(problems).isEmpty();
	}

	@Test
	void alertRulesUseOnlyWhatIsScraped() throws IOException {
		List<MatchResult> rules = RULE.matcher(Files.readString(MONITORING.resolve("prometheus-rules.yml")))
			.results()
			.toList();
		assertThat(rules).hasSizeGreaterThan(5);
		Set<String> problems = new TreeSet<>();
		rules.forEach((rule) -> problems.addAll(problems(rule.group(1), rule.group(2))));
		assertThat(problems).isEmpty();
	}

	@Test
	void autoscalerUsesOnlyWhatIsScraped() throws IOException {
		List<String> queries = QUERY.matcher(Files.readString(KUBERNETES))
			.results()
			.map((query) -> query.group(1).replace("visits-app", "$group").replace("\"visits\"", "\"orders\""))
			.toList();
		assertThat(queries).hasSize(2);
		assertThat(queries).flatExtracting((query) -> problems(query, "")).isEmpty();
	}

	@Test
	void everyMeterIsDocumentedAndEveryDocumentedOneIsRegistered() throws IOException {
		Set<String> documented = DOCUMENTED.matcher(Files.readString(REFERENCE))
			.results()
			.map((row) -> row.group(1))
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(this.meters).filteredOn((name) -> name.startsWith("shardkeeper")).hasSameElementsAs(documented);
	}

	@ParameterizedTest
	@ValueSource(strings = { "shardkeeper_lags_records", "sum by (topics) (shardkeeper_lag_records)",
			"shardkeeper_lag_records{topics=\"orders\"}", "rate(shardkeeper_commits_total{outcome=\"old\"}[5m])",
			"rate(shardkeeper_moves_seconds_count{cause!=\"FIRST\"}[5m])",
			"rate(shardkeeper_moves_seconds_count{cause=~\"JOIN|DEPLOYMENT\"}[5m])", "shardkeeper_records_total",
			"rate(shardkeeper_lag_records[5m])", "deriv(shardkeeper_records_total[5m])",
			"rate(shardkeeper_commit_seconds_bucket[5m])", "rate(shardkeeper_records_total)", "up" })
	void whatIsNotScrapedIsFound(String expression) {
		assertThat(problems(expression, "")).isNotEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "{{ $labels.loop }}", "{{loop}}", "GET /actuator/shards?topic=a&state=LOST" })
	void textsThatDoNotFitTheirExpressionAreFound(String text) {
		assertThat(problems("sum by (group, topic) (shardkeeper_lag_records)", text)).isNotEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "sum by (group, topic, instance) (shardkeeper_lag_records{group=~\"$group\"} >= 0)",
			"rate(shardkeeper_moves_seconds_count{cause=~\"JOIN|DEPLOY\"}[5m])",
			"deriv((sum by (topic, instance) (shardkeeper_lag_records >= 0))[15m:1m])" })
	void whatIsScrapedIsNoProblem(String expression) {
		assertThat(problems(expression, "{{topic}} of {{ $labels.instance }}, {{ $value | humanizeDuration }}"))
			.isEmpty();
	}

	/** Returns what is wrong with an expression and a text that uses its labels. */
	private List<String> problems(String expression, String text) {
		List<String> problems = new ArrayList<>();
		List<MatchResult> selectors = SELECTOR.matcher(expression).results().toList();
		if (selectors.size() != METRIC.matcher(expression).results().count() || selectors.isEmpty()) {
			problems.add("No selectors: " + expression);
		}
		// Added by Prometheus.
		Set<String> available = new TreeSet<>(Set.of("instance"));
		for (MatchResult selector : selectors) {
			Map<String, Set<String>> labels = this.scraped.get(selector.group(2));
			if (labels == null) {
				problems.add("No metric: " + selector.group(2));
				continue;
			}
			available.addAll(labels.keySet());
			checkFunction(selector, problems);
			if (selector.group(3) != null) {
				LABEL.matcher(selector.group(3)).results().forEach((label) -> checkLabel(label, labels, problems));
			}
		}
		Set<String> grouping = GROUPING.matcher(expression)
			.results()
			.flatMap((by) -> Arrays.stream(by.group(1).split(", ")))
			.collect(Collectors.toSet());
		grouping.stream().filter((label) -> !available.contains(label)).forEach(problems::add);
		Set<String> results = grouping.isEmpty() ? available : grouping;
		LABEL_IN_TEXT.matcher(text)
			.results()
			.map((label) -> label.group(1))
			.filter((label) -> !results.contains(label))
			.forEach((label) -> problems.add(label + " in the text for " + expression));
		STATE_IN_TEXT.matcher(text)
			.results()
			.map((state) -> state.group(1))
			.filter((state) -> !this.scraped.get("shardkeeper_shards").get("state").contains(state))
			.forEach((state) -> problems.add("No state: " + state));
		return problems;
	}

	private void checkFunction(MatchResult selector, List<String> problems) {
		boolean ofCounter = selector.group(1) != null && OF_COUNTERS.contains(selector.group(1));
		if (ofCounter != this.counters.contains(selector.group(2)) || ofCounter && selector.group(4) == null) {
			problems.add("Not the type for its function: " + selector.group());
		}
	}

	private static void checkLabel(MatchResult label, Map<String, Set<String>> labels, List<String> problems) {
		Set<String> values = labels.get(label.group(1));
		if (values == null) {
			problems.add("No label: " + label.group());
			return;
		}
		if (label.group(3).equals("$group")) {
			return;
		}
		boolean isPattern = label.group(2).endsWith("~");
		for (String value : isPattern ? label.group(3).split("\\|") : new String[] { label.group(3) }) {
			if (!values.contains(value)) {
				problems.add("No value '%s': %s".formatted(value, label.group()));
			}
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Orders {

		@Bean
		PrometheusMeterRegistry registry() {
			return new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
		}

		@ShardConsumer("orders")
		void handle(String payload) {
			if (payload.equals("bad")) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

}
