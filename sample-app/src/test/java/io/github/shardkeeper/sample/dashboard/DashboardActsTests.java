package io.github.shardkeeper.sample.dashboard;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Acts on a real group in a real browser: two instances share four shards on a Redis, and
 * somebody who has only the page mends what is wrong.
 */
@Tag("proof")
class DashboardActsTests {

	private static final String HOSTILE = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>";

	private static final List<ConfigurableApplicationContext> INSTANCES = new ArrayList<>();

	private static EmbeddedRedis redis;

	private static Browser browser;

	@BeforeAll
	static void start() {
		browser = Browser.start();
		redis = EmbeddedRedis.start();
		INSTANCES.add(instance("one"));
		INSTANCES.add(instance("two"));
	}

	private static ConfigurableApplicationContext instance(String id) {
		return new SpringApplicationBuilder(Application.class)
			.properties("spring.config.name=none", "server.port=0", "spring.main.web-application-type=servlet",
					"spring.data.redis.port=" + redis.port(), "shardkeeper.group=acts", "shardkeeper.instance-id=" + id,
					"shardkeeper.topics.visits.shards=4", "shardkeeper.topics.parked.shards=1",
					"shardkeeper.topics.prices.mode=broadcast", "shardkeeper.topics.prices.shards=1",
					"shardkeeper.topics.parked.consumer.on-failure=park-key",
					"shardkeeper.consumer.commit.interval=50ms", "shardkeeper.consumer.retry.max-attempts=1",
					"shardkeeper.consumer.show-exception-messages=true",
					"management.endpoints.web.exposure.include=shards,shardmoves,sharddashboard",
					"management.endpoint.shards.access=unrestricted", "management.endpoint.shards.show-values=always")
			.run();
	}

	@AfterAll
	static void stop() {
		if (browser != null) {
			browser.close();
		}
		INSTANCES.forEach(ConfigurableApplicationContext::close);
		if (redis != null) {
			redis.close();
		}
	}

	@BeforeEach
	void open() {
		Application.fails = false;
		browser.width(1280);
		browser.open("http://localhost:" + INSTANCES.get(0).getEnvironment().getProperty("local.server.port")
				+ "/actuator/sharddashboard");
		browser.awaitText("#live", "live");
		browser.awaitCount("#members li", 2);
		browser.awaitText("#count", "5 shards");
		browser.await(() -> owner(0).matches("one|two"), () -> browser.text("#cells"));
		browser.script("window.sameDocument = true");
	}

	@AfterEach
	void nothingFailedInThePage() {
		assertThat(browser.script("return window.sameDocument")).as("the page was not loaded again").isEqualTo(true);
		assertThat(browser.script("return window.hacked ?? null")).isNull();
		browser.assertNoErrors();
		browser.open("about:blank");
	}

	private static String owner(int shard) {
		return String.valueOf(browser.script("""
				return [...document.querySelectorAll("#cells .cell")]
					.find((cell) => cell.querySelector(".id").textContent === arguments[0])
					?.querySelector(".who").textContent ?? "";
				""", "visits/" + shard));
	}

	private static void openShard(int shard) {
		openShard("visits/" + shard);
	}

	private static void openShard(String shard) {
		browser.awaitText("#cells", shard);
		browser.script("""
				[...document.querySelectorAll("#cells .cell")]
					.find((cell) => cell.querySelector(".id").textContent === arguments[0]).click();
				""", shard);
		browser.awaitText("#shard-body", "Owner");
	}

	/** Confirms the act whose form is open, once the page says what would happen. */
	private static void confirm(String verb, String effect) {
		browser.awaitText("#effects", "This would happen:");
		assertThat(browser.text("#effects")).contains(effect);
		browser.click("#confirm", verb);
		browser.awaitText("#effects", "Done.");
		browser.click("#confirm", "Close");
	}

	private static String keyOf(int shard) {
		ShardTemplate template = INSTANCES.get(0).getBean(ShardTemplate.class);
		for (int i = 0;; i++) {
			String key = HOSTILE + i;
			if (template.shardFor("visits", key).id().equals(String.valueOf(shard))) {
				return key;
			}
		}
	}

	private static void send(int shard, String payload) {
		INSTANCES.get(0).getBean(ShardTemplate.class).send("visits", keyOf(shard), payload);
	}

	private static void awaitHandled(String payload) {
		Awaitility.await().atMost(Browser.LIMIT).until(() -> Application.HANDLED.contains(payload));
	}

	@Test
	void aShardIsPausedAndResumedFromTheListOfProblems() {
		openShard(1);
		browser.click("#shard-body", "Pause …");
		browser.awaitText("#confirm-title", "Pause visits/1");
		browser.find("#confirm input[name=reason]").sendKeys("disk <b>full</b>");
		confirm("Pause", "visits/1");
		browser.awaitText("#shard-body", "disk <b>full</b>");
		browser.click("#shard", "✕");
		browser.awaitText("#cells", "Ⅱ paused");
		send(1, "after the pause");
		browser.awaitText("#problems", "Its records wait until it is resumed");

		browser.click("#problems", "Resume …");
		confirm("Resume", "visits/1");

		browser.awaitText("#verdict", "None known");
		awaitHandled("after the pause");
		assertThat(browser.count("main b, dialog b")).isZero();
	}

	@Test
	void aTopicIsPausedAndResumed() {
		browser.click("#topics", "visits");
		browser.click("#topic-body", "Pause …");
		confirm("Pause", "all 4 shards of visits");
		browser.awaitText("#topic-body", "Ⅱ Paused");

		browser.click("#topic-body", "Resume …");
		confirm("Resume", "visits");

		browser.await(() -> !browser.text("#topic-body").contains("Ⅱ Paused"), () -> browser.text("#topic-body"));
		browser.click("#topic-panel", "✕");
		browser.awaitText("#verdict", "None known");
	}

	@Test
	void aMovedShardChangesItsCellWithoutReload() {
		String before = owner(2);
		String other = before.equals("one") ? "two" : "one";
		openShard(2);
		browser.click("#shard-body", "Move …");
		confirm("Move", "visits/2");
		browser.click("#shard", "✕");

		browser.await(() -> owner(2).equals(other), () -> browser.text("#cells"));
		browser.awaitText("#moves", "by hand");
	}

	@Test
	void aDeadLetterIsLookedAtAndSentBack() {
		Application.fails = true;
		send(3, "poison " + HOSTILE);
		browser.awaitText("#verdict", "1 dead letter");
		browser.click("#problems", "visits/3");
		browser.awaitText("#shard-body .letters", "cannot count poison " + HOSTILE);
		browser.awaitText("#shard-body .letters", "key " + HOSTILE);
		browser.find("#shard-body .letters summary").click();
		assertThat(browser.find("#shard-body .letters pre").isDisplayed()).isTrue();
		assertThat(browser.text("#shard-body .letters pre")).contains("poison " + HOSTILE);
		assertThat(browser.count("main img, main script, dialog img, dialog script")).isZero();
		Application.fails = false;

		browser.click("#shard-body .letters", "Send back …");
		confirm("Send back", "Would be sent back to be handled again: visits/3/");

		awaitHandled("poison " + HOSTILE);
		browser.await(() -> browser.text("#shard-body .letters").isEmpty(), () -> browser.text("#shard-body"));
		browser.click("#shard", "✕");
		browser.awaitText("#verdict", "None known");
	}

	@Test
	void aKeyThatWaitsIsSentBackOrDroppedAsAWhole() {
		Application.fails = true;
		ShardTemplate template = INSTANCES.get(0).getBean(ShardTemplate.class);
		for (String key : List.of("back " + HOSTILE, "dropped")) {
			template.send("parked", key, "poison of " + key);
			template.send("parked", key, "behind it, of " + key);
		}
		openShard("parked/0");
		browser.awaitText("#shard-body .waiting", "key back " + HOSTILE);
		browser.awaitText("#shard-body .waiting", "cannot count poison of dropped");
		assertThat(browser.text("#shard-body .waiting")).contains("2 records");
		assertThat(browser.count("main img, main script, dialog img, dialog script")).isZero();
		Application.fails = false;

		browser.click("#shard-body .waiting li:last-child", "Drop …");
		browser.awaitText("#confirm-title", "Drop: 2 records of the key dropped");
		confirm("Drop", "Would be deleted permanently: 2 records of 1 key");
		browser.await(() -> browser.count("#shard-body .waiting li") == 1, () -> browser.text("#shard-body"));
		browser.click("#shard-body .waiting", "Send back …");
		confirm("Send back", "Would be sent back to be handled again: 2 records of 1 key");

		awaitHandled("behind it, of back " + HOSTILE);
		browser.await(() -> browser.text("#shard-body .waiting").isEmpty(), () -> browser.text("#shard-body"));
		assertThat(Application.HANDLED)
			.containsSubsequence("poison of back " + HOSTILE, "behind it, of back " + HOSTILE)
			.doesNotContain("poison of dropped", "behind it, of dropped");
	}

	@Test
	void aDeadLetterOfABroadcastTopicIsSentBackOnTheInstanceThatAnswers() {
		browser.awaitText("#topics", "prices 1 on onebroadcast");
		Application.fails = true;
		INSTANCES.get(0).getBean(ShardTemplate.class).send("prices", "k", "poison for all");
		browser.awaitText("#problems", "prices on one");
		browser.awaitText("#verdict", "1 dead letter");
		Application.fails = false;

		browser.click("#problems", "Send back …");
		confirm("Send back", "this concerns the instance one only");

		awaitHandled("poison for all");
		browser.awaitText("#verdict", "None known");
	}

	@Test
	void anInstanceIsDrainedWithTheKeyboardOnly() {
		browser.await(() -> browser.count("button[aria-label='Drain two …']") == 1, () -> browser.text("#members"));
		tabTo("Drain two …");
		active().sendKeys(Keys.ENTER);
		browser.awaitText("#effects", "This would happen:");
		browser.await(() -> browser.find("#do").isEnabled(), () -> browser.text("#confirm"));
		active().sendKeys(Keys.TAB, "maintenance", Keys.ENTER);
		browser.awaitText("#effects", "Done.");
		active().sendKeys(Keys.ESCAPE);

		browser.await(() -> List.of(owner(0), owner(1), owner(2), owner(3)).equals(List.of("one", "one", "one", "one")),
				() -> browser.text("#cells"));
		assertThat(browser.text("#members")).contains("draining");
		browser.awaitText("#problems", "it owns no shard");

		browser.click("#problems", "Undrain …");
		confirm("Undrain", "two");
		browser.await(() -> List.of(owner(0), owner(1), owner(2), owner(3)).contains("two"),
				() -> browser.text("#cells"));
	}

	/** Presses the tab key until the element with the label has the focus. */
	private static void tabTo(String label) {
		browser.script("document.activeElement.blur()");
		browser.find("body").sendKeys(Keys.TAB);
		for (int i = 0; i < 60 && !label.equals(active().getAttribute("aria-label")); i++) {
			active().sendKeys(Keys.TAB);
		}
		assertThat(active().getAttribute("aria-label")).isEqualTo(label);
	}

	private static WebElement active() {
		return browser.driver.switchTo().activeElement();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		private static final List<String> HANDLED = new CopyOnWriteArrayList<>();

		private static volatile boolean fails;

		@ShardConsumer("parked")
		void handleInOrder(String payload) {
			handle(payload);
		}

		@ShardConsumer("prices")
		void handlePrice(String payload) {
			handle(payload);
		}

		@ShardConsumer("visits")
		void handle(String payload) {
			if (fails && payload.startsWith("poison")) {
				throw new IllegalStateException("cannot count " + payload);
			}
			HANDLED.add(payload);
		}

	}

}
