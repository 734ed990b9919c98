package io.github.shardkeeper.sample.dashboard;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
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
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Endpoints and dashboard behind Spring Security with Spring Boot's
 * {@code EndpointRequest} and with its protection against CSRF, with both web frameworks:
 * one user may look, the other may also act.
 */
@Tag("proof")
class SecuredEndpointsTests {

	private static final HttpClient HTTP = HttpClient.newHttpClient();

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final String NOBODY = "";

	private static final String VIEWER = "vera";

	private static final String OPERATOR = "olga";

	private static final String PAUSE = "{\"action\": \"pause\", \"by\": \"mallory\", \"dryRun\": true}";

	/** Users of both web frameworks; their roles are what the rules are about. */
	static List<UserDetails> users() {
		return List.of(User.withUsername(VIEWER).password("{noop}secret").roles("VIEWER").build(),
				User.withUsername(OPERATOR).password("{noop}secret").roles("VIEWER", "OPS").build());
	}

	private ConfigurableApplicationContext application;

	private String base;

	@AfterEach
	void stop() {
		if (this.application != null) {
			this.application.close();
		}
	}

	private void start(String framework, String... properties) {
		this.application = new SpringApplicationBuilder(Application.class, ServletSecurity.class,
				ReactiveSecurity.class)
			.properties("spring.config.name=none", "server.port=0", "spring.data.redis.host=not-used",
					"test.security=true", "shardkeeper.group=secured", "shardkeeper.store=memory",
					"shardkeeper.instance-id=one", "shardkeeper.topics.visits.shards=1",
					"shardkeeper.consumer.commit.interval=50ms", "shardkeeper.consumer.retry.max-attempts=1",
					"spring.main.web-application-type=" + framework,
					"management.endpoints.web.exposure.include=shards,shardmoves,sharddashboard",
					"management.endpoint.shards.access=unrestricted",
					"management.endpoint.shards.show-values=when-authorized", "management.endpoint.shards.roles=OPS")
			.properties(properties)
			.run();
		this.base = "http://localhost:" + this.application.getEnvironment().getProperty("local.server.port");
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> json(get(VIEWER, "/actuator/shards")).path("groups")
				.path(0)
				.path("topics")
				.path(0)
				.path("states")
				.path("OWNED")
				.asInt() == 1);
	}

	private HttpRequest.Builder request(String user, String path) {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(this.base + path))
			.timeout(Duration.ofSeconds(30));
		return user.isEmpty() ? request : request.header("Authorization",
				"Basic " + Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8)));
	}

	private HttpResponse<String> get(String user, String path) throws Exception {
		return HTTP.send(request(user, path).build(), BodyHandlers.ofString());
	}

	private HttpResponse<String> act(String user, String path, String body, Map<String, String> headers)
			throws Exception {
		HttpRequest.Builder request = request(user, path).header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString(body));
		headers.forEach(request::header);
		// On a connection of its own: Spring Security refuses without reading the body.
		return HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
	}

	private static JsonNode json(HttpResponse<String> reply) {
		assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
		return new JsonMapper().readTree(reply.body());
	}

	/** Returns the headers with which the page of a user sends an act. */
	private Map<String, String> ofPage(String user) throws Exception {
		HttpResponse<String> page = get(user, "/actuator/sharddashboard");
		Map<String, String> headers = new HashMap<>(Map.of("Origin", this.base, "X-Shardkeeper-Act", "1"));
		headers.put(header(page, "x-shardkeeper-csrf-header"), header(page, "x-shardkeeper-csrf-token"));
		headers.put("Cookie", header(page, "set-cookie").replaceAll(";.*", ""));
		return headers;
	}

	private static String header(HttpResponse<?> response, String name) {
		return response.headers().firstValue(name).orElseThrow(() -> new AssertionError("No header " + name));
	}

	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void rulesOfEndpointRequestHold(String framework) throws Exception {
		start(framework);

		for (String path : List.of("shards", "shards/visits/0", "shardmoves", "sharddashboard",
				"sharddashboard/dashboard.js", "sharddashboard/events")) {
			assertThat(get(NOBODY, "/actuator/" + path).statusCode()).as(path).isEqualTo(401);
		}
		for (String path : List.of("shards", "shards/visits/0", "shardmoves", "sharddashboard",
				"sharddashboard/dashboard.js")) {
			assertThat(get(VIEWER, "/actuator/" + path).statusCode()).as(path).isEqualTo(200);
		}
		HttpRequest head = request(NOBODY, "/actuator/sharddashboard/events").method("HEAD", BodyPublishers.noBody())
			.build();
		assertThat(HTTP.send(head, BodyHandlers.discarding()).statusCode()).isEqualTo(401);
		assertThat(act(VIEWER, "/actuator/shards/visits", PAUSE, ofPage(VIEWER)).statusCode()).isEqualTo(403);
		assertThat(act(OPERATOR, "/actuator/shards/visits", PAUSE, ofPage(OPERATOR)).statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void tokenAndGuardAreBothNeeded(String framework) throws Exception {
		start(framework);
		Map<String, String> complete = ofPage(OPERATOR);

		Map<String, String> withoutToken = new HashMap<>(complete);
		withoutToken.keySet().removeIf((name) -> name.toLowerCase().contains("csrf"));
		assertThat(act(OPERATOR, "/actuator/shards/visits", PAUSE, withoutToken).statusCode()).isEqualTo(403);

		Map<String, String> ofAnotherSite = new HashMap<>(complete);
		ofAnotherSite.put("Origin", "https://evil.example");
		HttpResponse<String> refused = act(OPERATOR, "/actuator/shards/visits", PAUSE, ofAnotherSite);
		assertThat(refused.statusCode()).isEqualTo(403);
		assertThat(refused.body()).contains("another origin");

		Map<String, String> withoutHeader = new HashMap<>(complete);
		withoutHeader.remove("X-Shardkeeper-Act");
		assertThat(act(OPERATOR, "/actuator/shards/visits", PAUSE, withoutHeader).body()).contains("X-Shardkeeper-Act");

		assertThat(act(OPERATOR, "/actuator/shards/visits", PAUSE, complete).statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void whoIsSignedInIsNamedWhateverTheRequestSays(String framework) throws Exception {
		start(framework);

		JsonNode reply = json(act(OPERATOR, "/actuator/shards/visits",
				PAUSE.replace("true", "false").replace("mallory", "mallory\\nforged"), ofPage(OPERATOR)));

		assertThat(reply.path("by").asString()).isEqualTo("olga (named mallory forged in the request)");
		JsonNode paused = json(get(VIEWER, "/actuator/shards/visits/0")).path("shard").path("paused");
		assertThat(paused.path("by").asString()).startsWith(OPERATOR).doesNotContain("\n");
	}

	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void payloadsAndTextsAreShownToTheRoleOnly(String framework) throws Exception {
		start(framework);
		this.application.getBean(ShardTemplate.class).send("visits", "key of ann", "payload of ann");
		String letters = "/actuator/shards/visits/0/deadletters";
		Awaitility.await().atMost(PATIENCE).until(() -> json(get(VIEWER, letters)).path("deadLetters").size() == 1);

		JsonNode hidden = json(get(VIEWER, letters));
		assertThat(hidden.path("valuesShown").asBoolean()).isFalse();
		assertThat(hidden.toString()).doesNotContain("of ann").contains("java.lang.IllegalStateException");

		JsonNode shown = json(get(OPERATOR, letters));
		assertThat(shown.path("valuesShown").asBoolean()).isTrue();
		JsonNode letter = shown.path("deadLetters").path(0);
		assertThat(letter.path("key").asString()).isEqualTo("key of ann");
		assertThat(letter.path("payload").asString()).isEqualTo("payload of ann");
		assertThat(letter.path("error").asString()).contains("cannot count payload of ann");
		assertThat(letter.path("stackTrace").asString()).contains("SecuredEndpointsTests");
	}

	@Test
	void thePageSaysInPlainWordsWhatAUserMayNotDo() {
		try (Browser browser = Browser.start()) {
			start("servlet");
			open(browser, VIEWER);
			browser.click("#topics", "visits");
			browser.click("#topic-body", "Pause …");
			browser.awaitText("#effects", "You may not do this: your user lacks the right");
			assertThat(browser.find("#do").isEnabled()).isFalse();

			this.application.getBean(InMemoryUserDetailsManager.class).deleteUser(VIEWER);

			browser.awaitText("#live", "You are not signed in, or no longer");
			browser.awaitText("#verdict", "What follows was read at");
			browser.awaitCount("#cells li", 1);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "session", "cookie", "spa" })
	void thePageSendsTheTokenHoweverItIsKept(String csrf) {
		try (Browser browser = Browser.start()) {
			start("servlet", "test.csrf=" + csrf);
			open(browser, OPERATOR);
			browser.click("#topics", "visits");
			browser.click("#topic-body", "Pause …");
			browser.awaitText("#effects", "This would happen:");
			browser.click("#confirm", "Pause");
			browser.awaitText("#topic-body", "Paused by " + OPERATOR);
		}
	}

	/** Opens the page. The browser remembers the password; scripts may not use it. */
	private void open(Browser browser, String user) {
		browser.open(this.base.replace("//", "//" + user + ":secret@") + "/actuator/sharddashboard");
		browser.open(this.base + "/actuator/sharddashboard");
		browser.awaitText("#verdict", "None known");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("visits")
		void handle(String payload) {
			throw new IllegalStateException("cannot count " + payload);
		}

	}

}
