package io.github.shardkeeper.sample;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOperationEvent;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.cluster.ClusterParameter;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Operations of {@code /actuator/shards} over HTTP, with Spring MVC and with WebFlux, in
 * applications with a store in memory.
 */
class ActingOverHttpTests {

	private static final HttpClient HTTP = HttpClient.newHttpClient();

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Map<WebApplicationType, ConfigurableApplicationContext> APPLICATIONS = new EnumMap<>(
			WebApplicationType.class);

	@BeforeAll
	static void start() {
		for (WebApplicationType type : List.of(WebApplicationType.SERVLET, WebApplicationType.REACTIVE)) {
			APPLICATIONS.put(type,
					start(type, "management.endpoint.shards.access=unrestricted",
							"management.endpoint.shards.show-values=always",
							"management.endpoint.clusterparameters.access=unrestricted"));
		}
		APPLICATIONS.values()
			.forEach((application) -> Awaitility.await().atMost(PATIENCE).until(() -> owned(application) == 2));
	}

	private static ConfigurableApplicationContext start(WebApplicationType type, String... properties) {
		return new SpringApplicationBuilder(Application.class).web(type)
			.properties("spring.config.name=none", "server.port=0", "spring.data.redis.host=not-used",
					"shardkeeper.group=acting", "shardkeeper.store=memory", "shardkeeper.instance-id=one",
					"shardkeeper.topics.visits.shards=2", "shardkeeper.topics.prices.mode=broadcast",
					"shardkeeper.consumer.commit.interval=50ms", "shardkeeper.consumer.retry.max-attempts=1",
					"management.endpoints.web.exposure.include=shards,shardmoves,clusterparameters")
			.properties(properties)
			.run();
	}

	@AfterAll
	static void stop() {
		APPLICATIONS.values().forEach(ConfigurableApplicationContext::close);
	}

	private static URI address(ConfigurableApplicationContext application, String path) {
		return actuator(application, "shards" + path);
	}

	private static URI actuator(ConfigurableApplicationContext application, String path) {
		return URI.create("http://localhost:" + application.getEnvironment().getRequiredProperty("local.server.port")
				+ "/actuator/" + path);
	}

	private static HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
		return HTTP.send(request.timeout(Duration.ofSeconds(30)).build(), BodyHandlers.ofString());
	}

	private static HttpResponse<String> post(ConfigurableApplicationContext application, String path, String body)
			throws IOException, InterruptedException {
		return send(HttpRequest.newBuilder(address(application, path))
			.header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString(body)));
	}

	private static JsonNode json(HttpResponse<String> reply) {
		assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
		return new JsonMapper().readTree(reply.body());
	}

	private static JsonNode get(ConfigurableApplicationContext application, String path)
			throws IOException, InterruptedException {
		return json(send(HttpRequest.newBuilder(address(application, path))));
	}

	private static int owned(ConfigurableApplicationContext application) throws IOException, InterruptedException {
		JsonNode topics = get(application, "").path("groups").path(0).path("topics");
		for (JsonNode topic : topics) {
			if (topic.path("topic").asString().equals("visits")) {
				return topic.path("states").path("OWNED").asInt();
			}
		}
		return 0;
	}

	@ParameterizedTest
	@EnumSource(value = WebApplicationType.class, names = { "SERVLET", "REACTIVE" })
	void deadLettersAreListedSentBackAndDropped(WebApplicationType type) throws Exception {
		ConfigurableApplicationContext application = APPLICATIONS.get(type);
		Application handler = application.getBean(Application.class);
		handler.fails = true;
		ShardTemplate template = application.getBean(ShardTemplate.class);
		ShardId shard = template.shardFor("visits", "k");
		String path = "/" + shard;
		for (int i = 0; i < 3; i++) {
			template.send("visits", "k", "<b>bad</b> " + i);
		}
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> get(application, path + "/deadletters").path("deadLetters").size() == 3);

		JsonNode page = get(application, path + "/deadletters?limit=2");
		assertThat(page.path("deadLetters").size()).isEqualTo(2);
		JsonNode oldest = page.path("deadLetters").path(0);
		assertThat(oldest.path("error").asString()).contains("cannot count");
		assertThat(oldest.path("payload").asString()).contains("bad");
		assertThat(oldest.path("key").asString()).isEqualTo("k");
		assertThat(oldest.path("payloadSize").asInt()).isPositive();
		JsonNode rest = get(application, path + "/deadletters?after=" + page.path("next").asString());
		assertThat(rest.path("deadLetters").size()).isOne();

		JsonNode planned = json(post(application, path, """
				{"action": "drop", "exception": "IllegalStateException", "dryRun": true}"""));
		assertThat(planned.path("done").asBoolean()).isFalse();
		assertThat(planned.path("effects").path(0).asString())
			.isEqualTo("Would be deleted permanently: 3 dead letters");
		handler.fails = false;
		JsonNode sent = json(post(application, path, """
				{"action": "send-back", "id": "%s", "by": "ann"}""".formatted(oldest.path("id").asString())));
		assertThat(sent.path("done").asBoolean()).isTrue();
		assertThat(sent.path("by").asString()).isEqualTo("ann");
		assertThat(sent.path("target").asString()).isEqualTo(shard.toString());
		Awaitility.await().atMost(PATIENCE).until(() -> handler.handled.contains("<b>bad</b> 0"));
		assertThat(json(post(application, path, """
				{"action": "send-back", "id": "%s"}""".formatted(oldest.path("id").asString()))).path("effects")
			.path(0)
			.asString()).contains("already");
		assertThat(json(post(application, path, "{\"action\": \"drop\", \"limit\": 1}")).path("effects")
			.path(0)
			.asString()).isEqualTo("Deleted: 1 dead letter");
		assertThat(json(post(application, "/visits", "{\"action\": \"drop\", \"reason\": \"a\\nb\"}")).path("effects")
			.path(0)
			.asString()).isEqualTo("Deleted: 1 dead letter");

		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(handler.events).extracting(ShardOperationEvent::action)
				.endsWith("send-back", "send-back", "drop", "drop"));
		assertThat(handler.events.get(handler.events.size() - 1)).satisfies((event) -> {
			assertThat(event.reason()).isEqualTo("a b");
			assertThat(event.by()).isEqualTo("unknown");
		});
	}

	@ParameterizedTest
	@EnumSource(value = WebApplicationType.class, names = { "SERVLET", "REACTIVE" })
	void broadcastTopicsOfTheInstanceAreShown(WebApplicationType type) throws Exception {
		JsonNode group = get(APPLICATIONS.get(type), "?deadLetters=true").path("groups").path(0);

		assertThat(group.path("topics").findValuesAsString("topic")).containsExactly("visits");
		assertThat(group.path("broadcast")).singleElement().satisfies((topic) -> {
			assertThat(topic.path("topic").asString()).isEqualTo("prices");
			assertThat(topic.path("shards").asInt()).isPositive();
			assertThat(topic.path("problems").isEmpty()).isTrue();
			assertThat(topic.path("deadLetters").asInt()).isZero();
		});
	}

	@Test
	void valuesAndOperationsAreOffByDefault() throws Exception {
		ConfigurableApplicationContext application = start(WebApplicationType.SERVLET);
		try {
			Application handler = application.getBean(Application.class);
			handler.fails = true;
			ShardTemplate template = application.getBean(ShardTemplate.class);
			String path = "/" + template.shardFor("visits", "k");
			template.send("visits", "k", "secret");
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> get(application, path + "/deadletters").path("deadLetters").size() == 1);

			JsonNode page = get(application, path + "/deadletters");
			assertThat(page.path("valuesShown").asBoolean()).isFalse();
			assertThat(page.toString()).doesNotContain("secret", "cannot count", "\"k\"");
			assertThat(page.path("deadLetters").path(0).path("error").asString())
				.isEqualTo("java.lang.IllegalStateException");
			for (String place : List.of("", "/visits", path)) {
				assertThat(post(application, place, "{\"action\": \"drop\"}").statusCode()).as(place).isEqualTo(405);
			}
			assertThat(get(application, path).path("deadLetters").asInt()).isOne();
		}
		finally {
			application.close();
		}
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = ';', value = { //
			"; {}; 400; Send the name of an operation as 'action'", //
			"; {\"action\": \" \"}; 400; Send the name", //
			"; {\"action\": \"dance\\nnow\"}; 400; 'action' is 'dance\\u000anow', but must be one of ",
			"; {\"action\": \"pause\"}; 400; 'action' is 'pause', but must be one of ",
			"; {\"action\": \"leave\"}; 400; 'leave' needs 'instance', for example",
			"; {\"action\": \"leave\", \"instance\": \"a\\nb\"}; 400; 'instance' is 'a\\u000ab', but must be the id",
			"; {\"action\": \"leave\", \"instance\": \"two\"}; 404; The group has no instance 'two'; its instances are one",
			"; {\"action\": \"leave\", \"instance\": \"one\", \"dryRun\": \"maybe\"}; 400; 'dryRun' is 'maybe', but must be true or false",
			"; {\"action\": \"leave\", \"instance\": \"one\", \"dryrun\": true}; 400; There is no field 'dryrun'; these exist: [action, by, dryRun, instance, reason]",
			"/visits; {\"action\": \"pause\", \"dryrun\": true}; 400; There is no field 'dryrun'; these exist: [action, by, clearState, dryRun, exception, failedBefore, failedSince, id, key, limit, reason, to]",
			"/visits/1; {\"action\": \"pause\", \"security\": 1}; 400; There is no field 'security'; these exist: [action, by, clearState,",
			"/visits; {\"action\": \"move\", \"to\": \"one\"}; 400; 'action' is 'move', but must be one of ",
			"; {\"action\": \"drain\"}; 400; 'drain' needs 'instance'",
			"; {\"action\": \"drain\", \"instance\": \"two\"}; 404; The group has no instance 'two'",
			"; {\"action\": \"undrain\", \"instance\": \"two\"}; 404; The group has no instance 'two'",
			"; {\"action\": \"rebalance\", \"instance\": \"one\"}; 400; 'rebalance' has no field 'instance'",
			"/visits/1; {\"action\": \"move\"}; 400; 'move' needs 'to', for example",
			"/visits/1; {\"action\": \"move\", \"to\": \"a b\"}; 400; 'to' is 'a b', but must be the id",
			"/visits/1; {\"action\": \"pin\", \"to\": \"two\"}; 404; The group has no instance 'two'",
			"/visits/7; {\"action\": \"pause\"}; 404; The group has no shard 'visits/7'",
			"/visits/7; {\"action\": \"unpin\"}; 404; The group has no shard 'visits/7'",
			"/carts; {\"action\": \"pause\"}; 404; The group has no topic 'carts'",
			"/prices; {\"action\": \"pause\"}; 409; 'prices' is a broadcast topic",
			"/prices/0; {\"action\": \"move\", \"to\": \"one\"}; 409; 'prices' is a broadcast topic",
			"/visits; {\"action\": \"drop\", \"to\": \"earliest\"}; 400; 'drop' has no field 'to'; it has [id, limit,",
			"/visits; {\"action\": \"drop\", \"limit\": 1001}; 400; 'limit' is '1001', but must be a number from 1 to 1000",
			"/visits; {\"action\": \"drop\", \"failedSince\": \"today\"}; 400; 'failedSince' is 'today', but must be a time",
			"/visits; {\"action\": \"drop\", \"id\": \"carts/1/1-0\"}; 400; 'id' is 'carts/1/1-0', but must be the id of a dead letter",
			"/visits; {\"action\": \"drop\", \"id\": \"visits/1/x\"}; 400; 'visits/1/x' is not the id of a dead letter",
			"/visits; {\"action\": \"drop\", \"id\": \"visits/7/1-0\"}; 404; There is no shard visits/7",
			"/visits; {\"action\": \"drop\", \"id\": \"visits/1/1-0\", \"key\": \"k\"}; 400; Send either 'id' or conditions",
			"/visits; {\"action\": \"seek\"}; 400; 'seek' needs 'to', for example",
			"/visits; {\"action\": \"seek\", \"to\": \"2026-11-21\"}; 400; '2026-11-21' is no offset of a topic in memory; those are numbers that begin with 1. Write 'earliest', 'latest', a time such as 2026-11-21T10:00:00Z, 'group:' and the name of a consumer group, an offset, or 'after' an offset as 'to'",
			"/visits; {\"action\": \"seek\", \"to\": \"2026-11-21 10:00\", \"dryRun\": true}; 400; '2026-11-21 10:00' is no offset of a topic in memory; those are numbers that begin with 1. Write 'earliest', 'latest', a time",
			"/visits/1; {\"action\": \"seek\", \"to\": \"after yesterday\"}; 400; 'yesterday' is no offset of a topic in memory; those are numbers that begin with 1. Write 'earliest', 'latest', a time",
			"/prices; {\"action\": \"seek\", \"to\": \"10:00\"}; 400; '10:00' is no offset of a topic in memory; those are numbers that begin with 1. Write 'earliest', 'latest', a time",
			"/visits/9; {\"action\": \"seek\", \"to\": \"earliest\"}; 404; There is no shard visits/9",
			"/visits/a%0Ab; {\"action\": \"seek\", \"to\": \"earliest\"}; 400; 'a\\u000ab' is no id of a shard",
			"/visits/9; {\"action\": \"drop\"}; 404; There is no shard visits/9",
			"/visits/9; {\"action\": \"retry-waiting\", \"id\": \"1\", \"key\": \"k\"}; 404; There is no shard visits/9",
			"/carts; {\"action\": \"seek\", \"to\": \"earliest\"}; 404; This instance has no topic 'carts'",
			"/carts; {\"action\": \"send-back\"}; 404; This instance has no topic 'carts'",
			"/%3Cimg%3E; {\"action\": \"send-back\"}; 400; '<img>' is no topic" })
	void badRequestIsAnsweredWithTheReason(String path, String body, int status, String reason) throws Exception {
		for (ConfigurableApplicationContext application : APPLICATIONS.values()) {
			HttpResponse<String> reply = post(application, (path != null) ? path : "", body);

			assertReason(reply, status, reason);
		}
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = ';', value = { //
			"shards?limit=many; 400; 'limit' is 'many', but must be a number from 0 to 1000",
			"shards?state=owned; 400; 'state' is 'owned', but must be one of ",
			"shards?problem=yes; 400; 'problem' is 'yes', but must be true or false",
			"shards?deadLetters=1; 400; 'deadLetters' is '1', but must be true or false",
			"shards?after=visits; 400; 'after' is 'visits', but must be a shard, written topic/id",
			"shards?member=a%20b; 400; 'member' is 'a b', but must be the id of a member or of an instance",
			"shards?member=two; 400; The group has no member 'two'; its members are [one~",
			"shards?topic=carts; 400; The group has no topic 'carts'",
			"shards?topic=a%0Ab; 400; 'topic' is 'a\\u000ab', but must be the name of a topic",
			"shards/carts; 404; The group has no topic 'carts'",
			"shards/visits?limit=-1; 400; 'limit' is '-1', but must be a number from 0 to 1000",
			"shards/visits/7; 404; The group has no shard visits/7", "shards/visits/a%20b; 400; ",
			"shards/visits/0/letters; 404; A shard has no such part; it has 'deadletters' and 'waiting'",
			"shards/visits/7/deadletters; 404; There is no shard visits/7; the topic has visits/0 to visits/1",
			"shards/visits/0/deadletters?limit=0; 400; 'limit' is '0', but must be a number from 1 to 100",
			"shards/visits/0/deadletters?after=a%0Ab; 400; 'a\\u000ab' is not the id of a dead letter; they look like ",
			"shards/visits/7/waiting?limit=x; 404; There is no shard visits/7",
			"shards/visits/0/waiting?limit=x; 400; 'limit' is 'x', but must be a number from 1 to 100",
			"shards/visits/0/waiting?after=a%0Ab; 400; 'after' is 'a\\u000ab', which does not wait any more: begin with",
			"shards/carts/0/waiting; 404; This instance has no topic 'carts'; its topics are prices, visits",
			"shardmoves?limit=x; 400; 'limit' has to be from 1 to 1000",
			"shardmoves?before=x; 400; 'before' has to be the 'id' of a move",
			"shardmoves?after=x; 400; 'after' has to be the 'id' of a move",
			"shardmoves?after=1-0&before=1-0; 400; 'before' and 'after' exclude each other",
			"shardmoves?cause=x; 400; 'cause' has to be one of [",
			"shardmoves?topic=carts&shard=visits/0; 400; 'shard' is of another topic than 'topic'",
			"clusterparameters/speeed; 404; This instance does not know the parameter 'speeed'; it knows [limits, speed]" })
	void badReadIsAnsweredWithTheReason(String path, int status, String reason) throws Exception {
		for (ConfigurableApplicationContext application : APPLICATIONS.values()) {
			assertReason(send(HttpRequest.newBuilder(actuator(application, path))), status, reason);
		}
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = ';', value = { //
			"POST; speed; {}; Send either 'value' with the new value as text, or 'revertTo' with the version",
			"POST; speed; ; Send either 'value' with the new value as text, or 'revertTo' with the version",
			"POST; speed; {\"value\": 1, \"revertTo\": 5}; Send either 'value' with",
			"POST; speeed; {\"value\": 1}; This instance does not know the parameter 'speeed'; it knows [limits, speed]",
			"POST; a%0Ab; {\"value\": 1}; This instance does not know the parameter 'a\\u000ab'; it knows [limits, speed]",
			"POST; speed; {\"value\": \"fast\"}; The value 'fast' of the parameter 'speed'",
			"POST; limits; {\"value\": \"{\"}; The value '{' of the parameter 'limits'",
			"POST; speed; {\"revertTo\": 5}; ",
			"POST; speed; {\"revertTo\": \"the last\"}; 'revertTo' is 'the last', but must be a version",
			"POST; speed; {\"revertTo\": 1e30}; 'revertTo' is '1e30', but must be a version",
			"POST; speed; {\"value\": 1, \"expectedVersion\": \"x\"}; 'expectedVersion' is 'x', but must be a version",
			"POST; speed; {\"value\": 1, \"expectedVersion\": -1}; 'expectedVersion' is '-1', but must be a version",
			"POST; speed; {\"valeu\": 1}; There is no field 'valeu'; these exist: [expectedVersion, revertTo, value]",
			"DELETE; speed?expectedVersion=x; ; 'expectedVersion' is 'x', but must be a version",
			"DELETE; speed?expectedversion=1; ; There is no field 'expectedversion'; these exist: [expectedVersion]",
			"DELETE; speeed; ; This instance does not know the parameter 'speeed'; it knows [limits, speed]" })
	void badChangeOfAParameterIsAnsweredWithTheReason(String method, String name, String body, String reason)
			throws Exception {
		for (ConfigurableApplicationContext application : APPLICATIONS.values()) {
			HttpResponse<String> reply = send(HttpRequest.newBuilder(actuator(application, "clusterparameters/" + name))
				.header("Content-Type", "application/json")
				.method(method, (body != null) ? BodyPublishers.ofString(body) : BodyPublishers.noBody()));

			assertReason(reply, 400, reason);
			assertThat(application.getBean(Application.class).speed).isEqualTo(5);
		}
	}

	private static void assertReason(HttpResponse<String> reply, int status, String reason) {
		assertThat(reply.statusCode()).as(reply.body()).isEqualTo(status);
		assertThat(new JsonMapper().readTree(reply.body()).path("reason").asString()).isNotEmpty()
			.startsWith((reason != null) ? reason : "");
	}

	/** Spring Boot itself refuses these. */
	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = ';',
			value = { "{\"action\": {\"a\": 1}}; 400", "{\"action\": ; 400", "[1]; 400" })
	void bodyThatIsNoObjectOfTextsIsAClientError(String body, int status) throws Exception {
		for (ConfigurableApplicationContext application : APPLICATIONS.values()) {
			HttpResponse<String> reply = post(application, "", body);

			assertThat(reply.statusCode()).as(reply.body()).isEqualTo(status);
			assertThat(reply.body()).doesNotContain("at org.springframework", "at io.github");
		}
	}

	/** What a form of another site can send without being asked for permission. */
	@ParameterizedTest
	@EnumSource(value = WebApplicationType.class, names = { "SERVLET", "REACTIVE" })
	void onlyJsonIsAccepted(WebApplicationType type) throws Exception {
		for (String contentType : List.of("application/x-www-form-urlencoded", "text/plain")) {
			HttpResponse<String> reply = send(
					HttpRequest.newBuilder(address(APPLICATIONS.get(type), "/visits?action=drop"))
						.header("Content-Type", contentType)
						.POST(BodyPublishers.ofString("action=drop")));

			assertThat(reply.statusCode()).as(contentType).isEqualTo(415);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		private final List<String> handled = new CopyOnWriteArrayList<>();

		private final List<ShardOperationEvent> events = new CopyOnWriteArrayList<>();

		private volatile boolean fails;

		@ClusterParameter("speed")
		private volatile int speed = 5;

		@ClusterParameter("limits")
		private volatile Limits limits = new Limits(1);

		@ShardConsumer("visits")
		void handle(String payload) {
			if (this.fails) {
				throw new IllegalStateException("cannot count " + payload);
			}
			this.handled.add(payload);
		}

		@ShardConsumer("prices")
		void price(String payload) {
		}

		@EventListener
		void operated(ShardOperationEvent event) {
			this.events.add(event);
		}

		record Limits(int most) {

		}

	}

}
