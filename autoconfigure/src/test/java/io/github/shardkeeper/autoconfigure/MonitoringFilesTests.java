package io.github.shardkeeper.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The dashboard, the alert rules and the reference name the meters that an application
 * has after records, a failure, a retry and a dead letter, and no others.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MonitoringFilesTests {

	private static final Path MONITORING = Path.of("..", "docs", "monitoring");

	private static final Path REFERENCE = Path.of("..", "docs", "reference", "endpoint.md");

	private static final Pattern EXPRESSION = Pattern
		.compile("\"expr\": \"((?:[^\"\\\\]|\\\\.)*)\"|(?m)^ +expr: ((?:>-\n(?: {10}.*\n)+)|.*)");

	private static final Pattern METRIC = Pattern.compile("\\bshardkeeper_\\w+");

	private static final Pattern LABEL = Pattern.compile("(\\w+)=?[!~]?=?~?\"");

	private static final Pattern GROUPING = Pattern.compile("\\bby \\(([^)]*)\\)");

	private static final Pattern SERIES = Pattern.compile("(?m)^(shardkeeper_\\w+)\\{([^}]*)}");

	private static final Pattern DOCUMENTED = Pattern.compile("(?m)^\\| `(shardkeeper\\.[a-z.]+)` \\|");

	/** Labels by metric, from the scrape. */
	private final Map<String, Set<String>> scraped = new HashMap<>();

	private final Set<String> meters = new TreeSet<>();

	private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

	@BeforeAll
	void scrapeAnApplication() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class,
					ShardkeeperActuatorAutoConfiguration.class))
			.withBean(MeterRegistry.class, () -> this.registry)
			.withBean(Orders.class)
			.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop",
					"shardkeeper.topics.orders.shards=2", "shardkeeper.consumer.commit.mode=batch",
					"shardkeeper.consumer.retry.max-attempts=2", "shardkeeper.consumer.retry.initial-interval=1ms",
					"management.metrics.shardkeeper.sample-interval=1s")
			.run((context) -> {
				ShardTemplate template = context.getBean(ShardTemplate.class);
				template.send("orders", "a", "good");
				template.send("orders", "a", "bad");
				await().atMost(Duration.ofSeconds(60)).until(() -> {
					String scrape = this.registry.scrape();
					return value(scrape, "shardkeeper_dead_letters_stored") == 1
							&& value(scrape, "shardkeeper_lag_records") == 0 && value(scrape, "shardkeeper_leader") == 1
							&& value(scrape, "shardkeeper_shards") == 2
							&& scrape.contains("shardkeeper_moves_seconds_count");
				});
				String scrape = this.registry.scrape();
				assertThat(value(scrape, "shardkeeper_records_total")).isEqualTo(1);
				assertThat(value(scrape, "shardkeeper_handler_failures_total")).isEqualTo(2);
				assertThat(value(scrape, "shardkeeper_retries_total")).isEqualTo(1);
				assertThat(value(scrape, "shardkeeper_dead_letters_total")).isEqualTo(1);
				assertThat(value(scrape, "shardkeeper_records_size_bytes_total")).isPositive();
				assertThat(value(scrape, "shardkeeper_lease_remaining_seconds")).isPositive();
				SERIES.matcher(scrape)
					.results()
					.forEach((series) -> this.scraped.computeIfAbsent(series.group(1), (name) -> new TreeSet<>())
						.addAll(labels(series.group(2))));
				this.registry.getMeters().forEach((meter) -> this.meters.add(meter.getId().getName()));
			});
	}

	@AfterAll
	void closeRegistry() {
		this.registry.close();
	}

	/** Returns the sum over all labels; -1 without any. */
	private static double value(String scrape, String metric) {
		List<MatchResult> found = Pattern.compile("(?m)^" + metric + "\\{[^}]*} (\\S+)")
			.matcher(scrape)
			.results()
			.toList();
		return found.isEmpty() ? -1 : found.stream().mapToDouble((each) -> Double.parseDouble(each.group(1))).sum();
	}

	private static Set<String> labels(String text) {
		return LABEL.matcher(text).results().map((label) -> label.group(1)).collect(Collectors.toSet());
	}

	@Test
	void dashboardUsesOnlyWhatIsScraped() throws IOException {
		String dashboard = Files.readString(MONITORING.resolve("grafana-dashboard.json"));
		assertThat(JsonMapper.shared().readTree(dashboard).get("panels").size()).isGreaterThan(10);
		assertThat(notScraped(dashboard)).isEmpty();
	}

	@Test
	void alertRulesUseOnlyWhatIsScraped() throws IOException {
		assertThat(notScraped(Files.readString(MONITORING.resolve("prometheus-rules.yml")))).isEmpty();
	}

	@Test
	void everyMeterIsDocumentedAndEveryDocumentedOneIsRegistered() throws IOException {
		Set<String> documented = DOCUMENTED.matcher(Files.readString(REFERENCE))
			.results()
			.map((row) -> row.group(1))
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(this.meters).filteredOn((name) -> name.startsWith("shardkeeper")).hasSameElementsAs(documented);
	}

	private Set<String> notScraped(String file) {
		Set<String> missing = new TreeSet<>();
		List<MatchResult> expressions = EXPRESSION.matcher(file).results().toList();
		assertThat(expressions).hasSizeGreaterThan(5);
		for (MatchResult each : expressions) {
			String expression = ((each.group(1) != null) ? each.group(1) : each.group(2)).replace("\\\"", "\"");
			Set<String> labels = labels(expression);
			GROUPING.matcher(expression).results().forEach((by) -> labels.addAll(List.of(by.group(1).split(", "))));
			// Added by Prometheus.
			labels.remove("instance");
			Set<String> available = new TreeSet<>();
			List<MatchResult> metrics = METRIC.matcher(expression).results().toList();
			assertThat(metrics).as(expression).isNotEmpty();
			for (MatchResult metric : metrics) {
				if (!this.scraped.containsKey(metric.group())) {
					missing.add(metric.group());
				}
				available.addAll(this.scraped.getOrDefault(metric.group(), Set.of()));
			}
			labels.stream()
				.filter((label) -> !available.contains(label))
				.forEach((label) -> missing.add(label + " in " + expression));
		}
		return missing;
	}

	static class Orders {

		@ShardConsumer("orders")
		void handle(String payload) {
			if (payload.equals("bad")) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

}
