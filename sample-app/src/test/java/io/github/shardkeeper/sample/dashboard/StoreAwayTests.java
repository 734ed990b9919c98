package io.github.shardkeeper.sample.dashboard;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/** What endpoints and dashboard reply when Redis has gone, with both web frameworks. */
@Tag("proof")
class StoreAwayTests {

	private static final HttpClient HTTP = HttpClient.newHttpClient();

	private String base;

	private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
		return HTTP.send(request.timeout(Duration.ofSeconds(60)).build(), BodyHandlers.ofString());
	}

	private HttpRequest.Builder at(String path) {
		return HttpRequest.newBuilder(URI.create(this.base + "/actuator/" + path));
	}

	private JsonNode group() throws Exception {
		return new JsonMapper().readTree(send(at("shards")).body()).path("groups").path(0);
	}

	private static void assertAway(HttpResponse<String> reply) {
		assertThat(reply.statusCode()).as(reply.body()).isEqualTo(503);
		assertThat(new JsonMapper().readTree(reply.body()).path("reason").asString()).contains("Redis")
			.doesNotContain("\tat ");
	}

	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void readsAndActsAreAnsweredWithTheReason(String framework) throws Exception {
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				ConfigurableApplicationContext application = start(framework, redis.port())) {
			redis.kill();

			Awaitility.await().atMost(Browser.LIMIT).until(() -> group().path("error").asString().contains("Redis"));
			for (String path : List.of("shards/visits", "shards/visits/0", "shards/visits/0/deadletters",
					"shardmoves")) {
				assertAway(send(at(path)));
			}
			for (String path : List.of("shards/visits", "shards/visits/0")) {
				assertAway(send(at(path).header("Content-Type", "application/json")
					.POST(BodyPublishers.ofString("{\"action\": \"pause\"}"))));
			}
			assertThat(send(at("sharddashboard")).statusCode()).isEqualTo(200);
			assertThat(application.isActive()).isTrue();
		}
	}

	@Test
	void thePageShowsWhatItKnewAndThatTheStoreIsAway() throws Exception {
		try (Browser browser = Browser.start();
				EmbeddedRedis redis = EmbeddedRedis.start();
				ConfigurableApplicationContext application = start("servlet", redis.port())) {
			browser.open(this.base + "/actuator/sharddashboard");
			browser.awaitCount("#cells li", 2);

			redis.kill();

			browser.awaitText("#live", "Redis");
			browser.awaitText("#verdict", "What follows was read at");
			assertThat(browser.count("#cells li")).isEqualTo(2);
			assertThat(application.isActive()).isTrue();
		}
	}

	/** Starts an application, and waits until it owns its shards. */
	private ConfigurableApplicationContext start(String framework, int port) {
		ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class)
			.properties("spring.config.name=none", "server.port=0", "spring.main.web-application-type=" + framework,
					"spring.data.redis.port=" + port, "spring.data.redis.timeout=2s", "shardkeeper.group=away",
					"shardkeeper.instance-id=one", "shardkeeper.topics.visits.shards=2",
					"management.endpoints.web.exposure.include=shards,shardmoves,sharddashboard",
					"management.endpoint.shards.access=unrestricted")
			.run();
		this.base = "http://localhost:" + application.getEnvironment().getProperty("local.server.port");
		Awaitility.await()
			.atMost(Browser.LIMIT)
			.until(() -> group().path("topics").path(0).path("states").path("OWNED").asInt() == 2);
		return application;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("visits")
		void handle(String payload) {
		}

	}

}
