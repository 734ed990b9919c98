package io.github.shardkeeper.sample.dashboard;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.servlet.DelegatingFilterProxyRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardGroups;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.dashboard.DashboardWatch;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

/** The dashboard over HTTP, with both web frameworks, in an application in memory. */
@Tag("proof")
class DashboardOverHttpTests {

	private static final HttpClient HTTP = HttpClient.newHttpClient();

	private static final String JSON = "application/json";

	private static final String TOMCAT_FOR_WEBFLUX = "org.springframework.boot.tomcat.autoconfigure.actuate.web.server."
			+ "TomcatReactiveManagementContextAutoConfiguration";

	private ConfigurableApplicationContext application;

	private String base;

	@AfterEach
	void stop() {
		if (this.application != null) {
			this.application.close();
		}
	}

	private void start(String framework, String... properties) {
		start(Application.class, framework, properties);
	}

	private void start(Class<?> application, String framework, String... properties) {
		start(new SpringApplicationBuilder(application).properties("shardkeeper.group=http",
				"shardkeeper.topics.visits.shards=4"), framework, properties);
	}

	private void start(SpringApplicationBuilder application, String framework, String... properties) {
		this.application = application
			.properties("spring.config.name=none", "server.port=0", "spring.data.redis.host=not-used",
					"shardkeeper.store=memory", "shardkeeper.instance-id=one",
					"spring.main.web-application-type=" + framework,
					"management.endpoints.web.exposure.include=shards,shardmoves,sharddashboard",
					// Both servers are on the class path of these tests.
					"spring.autoconfigure.exclude=" + TOMCAT_FOR_WEBFLUX)
			.properties(properties)
			.run();
		String port = this.application.getEnvironment()
			.getProperty("local.management.port", this.application.getEnvironment().getProperty("local.server.port"));
		this.base = "http://localhost:" + port;
	}

	private HttpRequest.Builder request(String path) {
		return HttpRequest.newBuilder(URI.create(this.base + path)).timeout(Duration.ofSeconds(30));
	}

	private HttpResponse<String> get(String path) throws Exception {
		return HTTP.send(request(path).build(), BodyHandlers.ofString());
	}

	private HttpResponse<String> act(String path, Map<String, String> headers) throws Exception {
		HttpRequest.Builder request = request(path).POST(BodyPublishers.ofString("{\"action\":\"rebalance\"}"));
		headers.forEach(request::header);
		return HTTP.send(request.build(), BodyHandlers.ofString());
	}

	private static String header(HttpResponse<?> response, String name) {
		return response.headers().firstValue(name).orElse("");
	}

	/** Also if its length is not announced. */
	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void bodyOfAnActIsBounded(String framework) throws Exception {
		start(framework, "management.endpoint.shards.access=unrestricted");
		byte[] large = "{\"action\":\"rebalance\",\"reason\":\"%s\"}".formatted("x".repeat(1_500_000)).getBytes();
		HttpRequest.Builder act = request("/actuator/shards").header("Content-Type", JSON);

		HttpResponse<String> announced = HTTP.send(act.POST(BodyPublishers.ofByteArray(large)).build(),
				BodyHandlers.ofString());
		HttpResponse<String> streamed = HTTP.send(
				act.POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(large))).build(),
				BodyHandlers.ofString());

		assertThat(announced.statusCode()).isEqualTo(413);
		assertThat(announced.body()).contains("\"reason\"", "more than 1000000 bytes");
		assertThat(streamed.statusCode()).isIn(400, 413);
		assertThat(act("/actuator/shards", Map.of("Content-Type", JSON)).statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void pageAndFilesHaveTheirTypesAndHeaders(String framework) throws Exception {
		start(framework, "management.endpoints.web.base-path=/manage",
				"management.endpoints.web.path-mapping.sharddashboard=ops/board");

		HttpResponse<String> page = get("/manage/ops/board");
		assertThat(page.statusCode()).isEqualTo(200);
		assertThat(header(page, "content-type")).isEqualToIgnoringCase("text/html;charset=UTF-8");
		assertThat(header(page, "cache-control")).isEqualTo("no-store");
		assertThat(page.body()).contains("data-shards=\"../shards\"", "data-moves=\"../shardmoves\"",
				"src=\"board/dashboard.js\"");
		assertThat(page.body()).doesNotContain("{{", "<style", "onclick");
		for (Map.Entry<String, String> file : Map
			.of("dashboard.css", "text/css", "dashboard.js", "text/javascript", "icon.svg", "image/svg+xml")
			.entrySet()) {
			HttpResponse<String> reply = get("/manage/ops/board/" + file.getKey());
			assertThat(reply.statusCode()).isEqualTo(200);
			assertThat(header(reply, "content-type")).startsWith(file.getValue());
			assertThat(header(reply, "cache-control")).contains("max-age");
			assertThat(header(reply, "content-security-policy")).startsWith("default-src 'none'; script-src 'self'");
			assertThat(header(reply, "x-content-type-options")).isEqualTo("nosniff");
		}
		assertThat(header(page, "content-security-policy")).contains("frame-ancestors 'none'").doesNotContain("unsafe");
		assertThat(get("/manage/ops/board/dashboard.html").statusCode()).isEqualTo(404);
		assertThat(get("/manage/ops/board/package-info.class").statusCode()).isEqualTo(404);
		assertThat(header(get("/manage/shards"), "content-security-policy")).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void viewersAreToldOfMovesAndNothingIsReadWithoutThem(String framework) throws Exception {
		start(framework);
		DashboardWatch watch = this.application.getBean(DashboardWatch.class);
		HttpResponse<InputStream> stream = HTTP.send(request("/actuator/sharddashboard/events").build(),
				BodyHandlers.ofInputStream());
		assertThat(stream.statusCode()).isEqualTo(200);
		assertThat(header(stream, "content-type")).startsWith("text/event-stream");
		assertThat(header(stream, "cache-control")).isEqualTo("no-store");
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> watch.viewers() == 1);

		CompletableFuture<Void> told = CompletableFuture
			.runAsync(() -> new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8)).lines()
				.anyMatch((line) -> line.startsWith("data:") && !line.contains("\"move\":\"\"")));
		move();
		told.get(60, TimeUnit.SECONDS);
		stream.body().close();
		// The next heartbeat cannot be sent.
		Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> watch.viewers() == 0);
	}

	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void aHeadRequestIsNoViewer(String framework) throws Exception {
		start(framework);
		HttpRequest head = request("/actuator/sharddashboard/events").method("HEAD", BodyPublishers.noBody()).build();

		HttpResponse<Void> reply = HTTP.send(head, BodyHandlers.discarding());

		assertThat(reply.statusCode()).isEqualTo(200);
		assertThat(header(reply, "content-type")).startsWith("text/event-stream");
		assertThat(header(reply, "cache-control")).isEqualTo("no-store");
		assertThat(this.application.getBean(DashboardWatch.class).viewers()).isZero();
		assertThat(HTTP
			.send(request("/actuator/sharddashboard").method("HEAD", BodyPublishers.noBody()).build(),
					BodyHandlers.discarding())
			.statusCode()).isEqualTo(200);
	}

	private void move() {
		this.application.getBean(MoveHistory.class)
			.append(List.of(new ShardMove(ShardId.parse("visits/3"), new MemberId("two~abc"), new MemberId("three~abc"),
					new Token(5), MoveCause.JOIN, System.currentTimeMillis(), System.currentTimeMillis(),
					System.currentTimeMillis())));
	}

	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void openStreamsDoNotDelayShutdownAndAreBounded(String framework) throws Exception {
		start(framework, "server.shutdown=graceful", "spring.lifecycle.timeout-per-shutdown-phase=10m");
		DashboardWatch watch = this.application.getBean(DashboardWatch.class);
		for (int i = 0; i < DashboardWatch.MOST_VIEWERS; i++) {
			HTTP.send(request("/actuator/sharddashboard/events").build(), BodyHandlers.ofInputStream());
		}
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> watch.viewers() == DashboardWatch.MOST_VIEWERS);
		assertThat(get("/actuator/sharddashboard/events").statusCode()).isEqualTo(503);

		CompletableFuture.runAsync(this.application::close).get(60, TimeUnit.SECONDS);
		assertThat(watch.viewers()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void actsOfOtherSitesAreRefused(String framework) throws Exception {
		start(framework);
		String here = this.base;
		Map<String, String> cross = Map.of("Content-Type", JSON, "Origin", "https://evil.example", "X-Shardkeeper-Act",
				"1");

		assertThat(act("/actuator/shards", cross).statusCode()).isEqualTo(403);
		assertThat(act("/actuator/shards/visits/3;a=b", cross).statusCode()).isEqualTo(403);
		assertThat(act("/actuator/shards",
				Map.of("Content-Type", JSON, "Sec-Fetch-Site", "cross-site", "X-Shardkeeper-Act", "1"))
			.body()).contains("another origin");
		assertThat(act("/actuator/shards", Map.of("Content-Type", JSON, "Origin", here)).body())
			.contains("X-Shardkeeper-Act");
		assertThat(
				act("/actuator/shards", Map.of("Content-Type", "text/plain", "Origin", here, "X-Shardkeeper-Act", "1"))
					.body())
			.contains("JSON");
		// Access to the endpoint lets no act through here, so that these are not found.
		assertThat(act("/actuator/shards", Map.of("Content-Type", JSON)).statusCode()).isNotEqualTo(403);
		assertThat(act("/actuator/shards", Map.of("Content-Type", JSON, "Origin", here, "X-Shardkeeper-Act", "1"))
			.statusCode()).isNotEqualTo(403);
		assertThat(get("/actuator/sharddashboard").body()).contains("data-acts=\"false\"");
	}

	@Test
	void actsAreGuardedWithoutTheDashboard() throws Exception {
		start("servlet", "management.endpoints.web.exposure.include=shards");

		assertThat(get("/actuator/sharddashboard").statusCode()).isEqualTo(404);
		assertThat(act("/actuator/shards", Map.of("Content-Type", JSON, "Origin", "https://evil.example")).statusCode())
			.isEqualTo(403);
	}

	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void movesAppearWithoutReloadOnAnotherPort(String framework) {
		try (Browser browser = Browser.start()) {
			start(framework, "management.server.port=0");
			browser.open(this.base + "/actuator/sharddashboard");
			browser.awaitText("#live", "live");
			browser.awaitCount("#cells li", 4);
			browser.awaitText("#count", "4 shards");
			browser.script("window.sameDocument = true");

			move();

			browser.awaitText("#moves", "visits/3 two → three");
			assertThat(browser.script("return window.sameDocument")).isEqualTo(true);
			assertThat(browser.count("button.act:not([hidden])")).isZero();
			browser.assertNoErrors();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "servlet", "reactive" })
	void everyGroupHasItsPageAndItsActs(String framework) {
		try (Browser browser = Browser.start()) {
			start(OfBilling.class, framework, "shardkeeper.groups.billing.topics.invoices.shards=3",
					"management.endpoint.shards.access=unrestricted");
			browser.open(this.base + "/actuator/sharddashboard");
			browser.awaitText("#group", "http");
			browser.awaitCount("#cells li", 4);
			assertThat(browser.text("#groups [aria-current]")).isEqualTo("http");

			browser.find("#groups a:not([aria-current])").click();
			browser.awaitText("#group", "billing");
			browser.awaitText("#live", "live");
			browser.awaitCount("#cells li", 3);
			browser.awaitText("#cells", "invoices/2");
			assertThat(browser.text("#cells")).doesNotContain("visits");

			browser.click("#topics", "invoices");
			browser.click("#topic-body", "Pause …");
			browser.awaitText("#effects", "all 3 shards of invoices");
			browser.click("#confirm", "Pause");
			browser.awaitText("#topic-body", "Ⅱ Paused");
			ShardGroups groups = this.application.getBean(ShardGroups.class);
			assertThat(groups.get("billing", ShardCoordinator.class).directives().pauseOf(ShardId.of("invoices", 1)))
				.isNotNull();
			assertThat(this.application.getBean(ShardCoordinator.class).directives().pauseOf(ShardId.of("visits", 1)))
				.isNull();
			browser.assertNoErrors();
		}
	}

	@Test
	void pageNeedsNoGroupWithoutName() {
		try (Browser browser = Browser.start()) {
			start(new SpringApplicationBuilder(OnlyOfBilling.class), "servlet",
					"shardkeeper.groups.billing.topics.invoices.shards=3");
			browser.open(this.base + "/actuator/sharddashboard");
			browser.awaitText("#group", "billing");
			browser.awaitText("#live", "live");
			browser.awaitCount("#cells li", 3);
			assertThat(browser.find("#groups").isDisplayed()).isFalse();

			browser.open(this.base + "/actuator/sharddashboard?group=sales");
			browser.awaitText("#verdict", "There is no group 'sales'; the groups are [billing]");
		}
	}

	@Test
	void tokenOfSpringSecurityReachesThePage() throws Exception {
		start(SecuredApplication.class, "servlet");
		assertThat(get("/actuator/sharddashboard").statusCode()).isEqualTo(401);

		HttpResponse<String> page = HTTP.send(
				request("/actuator/sharddashboard").header("Authorization", "Basic YW5uYTpzZWNyZXQ=").build(),
				BodyHandlers.ofString());
		assertThat(page.statusCode()).isEqualTo(200);
		String session = header(page, "set-cookie").replaceAll(";.*", "");
		Map<String, String> headers = Map.of("Content-Type", JSON, "Origin", this.base, "X-Shardkeeper-Act", "1",
				"Authorization", "Basic YW5uYTpzZWNyZXQ=", "Cookie", session);

		assertThat(act("/actuator/shards", headers).statusCode()).isEqualTo(403);
		Map<String, String> withToken = new java.util.HashMap<>(headers);
		withToken.put(header(page, "x-shardkeeper-csrf-header"), header(page, "x-shardkeeper-csrf-token"));
		assertThat(act("/actuator/shards", withToken).statusCode()).isNotEqualTo(403);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("visits")
		void handle(String payload) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfBilling extends Application {

		@ShardConsumer(value = "invoices", group = "billing")
		void bill(String payload) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class OnlyOfBilling {

		@ShardConsumer(value = "invoices", group = "billing")
		void bill(String payload) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebSecurity
	static class SecuredApplication extends Application {

		@Bean
		SecurityFilterChain rules(HttpSecurity http) throws Exception {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

		/** As Spring Boot registers it. */
		@Bean
		DelegatingFilterProxyRegistrationBean registration() {
			DelegatingFilterProxyRegistrationBean registration = new DelegatingFilterProxyRegistrationBean(
					"springSecurityFilterChain");
			registration.setOrder(-100);
			return registration;
		}

		@Bean
		UserDetailsService users() {
			return new InMemoryUserDetailsManager(
					User.withUsername("anna").password("{noop}secret").roles("OPS").build());
		}

	}

}
