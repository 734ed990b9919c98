package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application starts with the configuration of the guide's manifest, has the health
 * groups that its probes read, and stops within the pod's grace period.
 */
class KubernetesGuideTests {

	private static final Path GUIDE = Path.of("..", "docs", "guides", "kubernetes.md");

	private static final Pattern BLOCK = Pattern.compile("```yaml\\n(.*?)```", Pattern.DOTALL);

	/** Objects of the manifests by kind. */
	private final Map<String, Map<String, Object>> objects = new HashMap<>();

	@BeforeEach
	void readManifests() throws IOException {
		BLOCK.matcher(Files.readString(GUIDE))
			.results()
			.map((block) -> block.group(1))
			.filter((block) -> block.startsWith("apiVersion"))
			.flatMap((block) -> documents(block).stream())
			.forEach((document) -> this.objects.put((String) document.get("kind"), document));
		assertThat(this.objects).containsOnlyKeys("ConfigMap", "Deployment", "PodDisruptionBudget", "ScaledObject");
	}

	@Test
	void probesReadHealthGroupsThatExist() {
		try (ConfigurableApplicationContext context = start()) {
			HealthEndpoint health = context.getBean(HealthEndpoint.class);
			HealthEndpointGroups groups = context.getBean(HealthEndpointGroups.class);

			for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
				String path = text(container(), probe, "httpGet", "path");
				assertThat(path).startsWith("/actuator/health/");
				String group = path.substring("/actuator/health/".length());
				assertThat(groups.getNames()).contains(group);
				assertThat(health.healthForPath(group).getStatus()).as(probe).isEqualTo(Status.UP);
				assertThat(groups.get(group).isMember("shardkeeper")).as(probe).isFalse();
			}
			assertThat(groups.get("liveness").isMember("shardkeeperLoops")).isTrue();
			assertThat(health.healthForPath("shardkeeperLoops").getStatus()).isEqualTo(Status.UP);
			assertThat(health.healthForPath("shardkeeper").getStatus()).isEqualTo(Status.UP);
		}
	}

	@Test
	void gracePeriodIsLongerThanShutdown() {
		try (ConfigurableApplicationContext context = start()) {
			Duration phase = DurationStyle.detectAndParse(
					context.getEnvironment().getProperty("spring.lifecycle.timeout-per-shutdown-phase", ""));
			Duration handover = context.getBean(ShardkeeperProperties.class).handover().timeout();

			assertThat(Duration.ofSeconds(number(pod(), "terminationGracePeriodSeconds"))).isGreaterThan(phase);
			assertThat((handover != null) ? handover : phase).isLessThanOrEqualTo(phase);
		}
	}

	@Test
	void thereAreNotMoreInstancesThanShards() {
		try (ConfigurableApplicationContext context = start()) {
			int shards = context.getEnvironment()
				.getRequiredProperty("shardkeeper.topics.visits.shards", Integer.class);

			assertThat(number(this.objects.get("ScaledObject"), "spec", "maxReplicaCount")).isEqualTo(shards);
		}
	}

	@Test
	void objectsBelongTogether() {
		String name = text(this.objects.get("Deployment"), "metadata", "name");

		assertThat(text(this.objects.get("ScaledObject"), "spec", "scaleTargetRef", "name")).isEqualTo(name);
		assertThat(at(this.objects.get("PodDisruptionBudget"), "spec", "selector"))
			.isEqualTo(at(this.objects.get("Deployment"), "spec", "selector"));
		assertThat(at(this.objects.get("Deployment"), "spec", "template", "metadata", "labels"))
			.isEqualTo(at(this.objects.get("Deployment"), "spec", "selector", "matchLabels"));
		assertThat(text(container(), "livenessProbe", "httpGet", "port"))
			.isEqualTo(((Map<?, ?>) list(container(), "ports").get(0)).get("name"));
	}

	private ConfigurableApplicationContext start() {
		String configuration = text(this.objects.get("ConfigMap"), "data", "application.yaml");
		SpringApplication application = new SpringApplicationBuilder(Visits.class).web(WebApplicationType.NONE)
			.initializers((context) -> addLast(context.getEnvironment(), configuration))
			.build();
		return application.run("--shardkeeper.store=memory", "--management.health.redis.enabled=false");
	}

	private static void addLast(ConfigurableEnvironment environment, String yaml) {
		try {
			for (PropertySource<?> source : new YamlPropertySourceLoader().load("ConfigMap",
					new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)))) {
				environment.getPropertySources().addLast(source);
			}
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private Map<String, Object> pod() {
		return map(at(this.objects.get("Deployment"), "spec", "template", "spec"));
	}

	private Map<String, Object> container() {
		return map(list(pod(), "containers").get(0));
	}

	private static List<Map<String, Object>> documents(String yaml) {
		List<Map<String, Object>> documents = new ArrayList<>();
		new Yaml().loadAll(yaml).forEach((document) -> documents.add(map(document)));
		return documents;
	}

	private static Object at(Map<String, Object> object, String... path) {
		Object value = object;
		for (String name : path) {
			value = map(value).get(name);
			assertThat(value).as(name).isNotNull();
		}
		return value;
	}

	private static String text(Map<String, Object> object, String... path) {
		return (String) at(object, path);
	}

	private static int number(Map<String, Object> object, String... path) {
		return (int) at(object, path);
	}

	private static List<?> list(Map<String, Object> object, String... path) {
		return (List<?>) at(object, path);
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Object> map(Object value) {
		return (Map<String, Object>) value;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Visits {

		@ShardConsumer("visits")
		void count(String visit) {
		}

	}

}
