package io.github.shardkeeper.sample;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;

import static org.assertj.core.api.Assertions.assertThat;

/** {@code /actuator/shards} over HTTP, in an application with 150 shards in memory. */
class ShardsOverHttpTests {

	private static final HttpClient HTTP = HttpClient.newHttpClient();

	private static ConfigurableApplicationContext application;

	@BeforeAll
	static void start() {
		application = new SpringApplicationBuilder(Application.class)
			.properties("spring.config.name=none", "server.port=0", "spring.data.redis.host=not-used",
					"shardkeeper.group=http", "shardkeeper.store=memory", "shardkeeper.instance-id=one",
					"shardkeeper.topics.visits.shards=150", "management.endpoints.web.exposure.include=shards")
			.run();
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.until(() -> group("").path("topics").path(0).path("states").path("OWNED").asInt() == 150);
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	private static HttpResponse<String> get(String path) throws IOException, InterruptedException {
		String port = application.getEnvironment().getRequiredProperty("local.server.port");
		return HTTP.send(HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/actuator/shards" + path))
			.timeout(Duration.ofSeconds(30))
			.build(), BodyHandlers.ofString());
	}

	private static JsonNode json(String path) throws IOException, InterruptedException {
		HttpResponse<String> reply = get(path);
		assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
		return new JsonMapper().readTree(reply.body());
	}

	private static JsonNode group(String query) throws IOException, InterruptedException {
		return json(query).path("groups").path(0);
	}

	@Test
	void pagesHaveAllShards() throws Exception {
		JsonNode first = group("");
		JsonNode second = group("?after=" + first.path("next").asString());

		assertThat(first.path("matching").asInt()).isEqualTo(150);
		assertThat(first.path("shards").size()).isEqualTo(100);
		assertThat(first.path("shards").path(99).path("id").asString()).isEqualTo("99");
		assertThat(second.path("shards").size()).isEqualTo(50);
		assertThat(second.path("next").isNull()).isTrue();
		assertThat(group("?limit=1000&member=one&state=OWNED&problem=false&topic=visits").path("shards").size())
			.isEqualTo(150);
	}

	@Test
	void topicAndShardHaveTheirOwnAddresses() throws Exception {
		JsonNode topic = json("/visits?limit=3");
		JsonNode shard = json("/visits/17");

		assertThat(topic.path("topics").path(0).path("shards").asInt()).isEqualTo(150);
		assertThat(topic.path("shards").size()).isEqualTo(3);
		assertThat(shard.path("shard").path("id").asString()).isEqualTo("17");
		assertThat(shard.path("shard").path("owner").asString()).startsWith("one~");
		assertThat(shard.path("deadLetters").asInt(-1)).isZero();
		assertThat(shard.path("unreadable").size()).isZero();
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = ';', value = { //
			"?limit=1001; 400; 'limit' is '1001', but must be a number from 0 to 1000",
			"?limit=many; 400; 'limit' is 'many', but must be a number from 0 to 1000",
			"?limit=1&limit=2; 400; 'limit' is '1,2', but must be a number from 0 to 1000",
			"?state=LOST; 400; 'state' is 'LOST', but must be one of FREE, OWNED, REVOKING, QUIET, COMPLETED",
			"?problem=1; 400; 'problem' is '1', but must be true or false",
			"?after=17; 400; 'after' is '17', but must be a shard", "?topic=carts; 400; The group has no topic 'carts'",
			"?topic=%3Cimg%3E; 400; 'topic' is '<img>', but must be the name of a topic",
			"?topic=a%0Ab; 400; 'topic' is 'a\\u000ab', but must be the name of a topic",
			"?member=two; 400; The group has no member 'two'; its members are [one~",
			"/visits?member=two; 400; The group has no member 'two'", "/visits?limit=-1; 400; 'limit' is '-1'", //
			"/carts; 404; The group has no topic 'carts'", "/visits/150; 404; The group has no shard visits/150",
			"/visits/a%20b; 400; Not a valid shard id: 'a b'" })
	void badRequestIsAnsweredWithTheReason(String path, int status, String reason) throws Exception {
		HttpResponse<String> reply = get(path);

		assertThat(reply.statusCode()).isEqualTo(status);
		assertThat(reply.headers().firstValue("content-type"))
			.hasValueSatisfying((type) -> assertThat(type).contains("json"));
		assertThat(new JsonMapper().readTree(reply.body()).path("reason").asString()).startsWith(reason);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("visits")
		void handle(String payload) {
		}

	}

}
