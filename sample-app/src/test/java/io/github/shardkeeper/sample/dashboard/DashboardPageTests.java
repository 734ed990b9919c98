package io.github.shardkeeper.sample.dashboard;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/** The page of the dashboard in a real browser, with replies that a test makes up. */
class DashboardPageTests {

	private static final String HOSTILE = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>";

	private static Browser browser;

	private StubbedGroup group;

	@BeforeAll
	static void startBrowser() {
		browser = Browser.start();
	}

	@AfterAll
	static void stopBrowser() {
		if (browser != null) {
			browser.close();
		}
	}

	@BeforeEach
	void startGroup() throws IOException {
		this.group = StubbedGroup.start();
		browser.scheme("light");
		browser.width(1280);
		shards(4);
	}

	@AfterEach
	void stopGroup() {
		browser.open("about:blank");
		this.group.close();
	}

	private void shards(int number) {
		this.group.members = List.of(StubbedGroup.member("host-1~aaa", true, number / 2),
				StubbedGroup.member("host-2~bbb", false, number - number / 2));
		this.group.shards = IntStream.range(0, number)
			.mapToObj((index) -> StubbedGroup.shard("visits", String.valueOf(index),
					(index % 2 == 0) ? "host-1~aaa" : "host-2~bbb", null))
			.toList();
	}

	private void open() {
		browser.open(this.group.page());
		browser.awaitText("#group", "visits-app");
	}

	@Test
	void showsMembersShardsAndMovesBehindAPrefixAndAllOfItByPolling() {
		open();
		browser.awaitCount("#cells li", 4);
		browser.awaitCount("#members li", 2);
		browser.awaitText("#live", "polling");
		browser.awaitText("#verdict", "None known");

		this.group.moves = List.of(StubbedGroup.move(1, "visits", "3", "host-2~bbb", "host-1~aaa"));

		browser.awaitCount("#moves li", 1);
		assertThat(browser.text("#moves li")).contains("visits/3", "host-2 → host-1", "member joined");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void anInstanceThatIsBehindChangesNothing() {
		this.group.generation = 9;
		open();
		browser.awaitCount("#cells li", 4);

		this.group.generation = 8;
		shards(2);
		browser.script("window.reads = 0; new PerformanceObserver((list) => window.reads += list.getEntries().length)"
				+ ".observe({ type: 'resource' })");
		browser.await(() -> ((Number) browser.script("return window.reads")).intValue() > 4, () -> "no reads");
		assertThat(browser.count("#cells li")).isEqualTo(4);

		this.group.generation = 10;
		browser.awaitCount("#cells li", 2);
	}

	@Test
	void problemsComeFirstAndSayWhere() {
		shards(300);
		List<Map<String, Object>> all = new ArrayList<>(this.group.shards);
		all.set(277, StubbedGroup.shard("visits", "277", "host-1~aaa", "Halted at offset 41: cannot be converted"));
		this.group.shards = all;
		open();

		browser.awaitText("#verdict", "1 shard has a problem");
		browser.awaitText("#problems", "visits/277");
		assertThat(browser.text("#problems")).contains("Halted at offset 41");
		browser.awaitText("#cells li", "visits/277");
		browser.click("#problems", "visits/277");
		browser.awaitText("#shard-body", "its owner had more than its share");
		assertThat(browser.text("#shard-body")).contains("Halted at offset 41", "12 records");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void aSilentMemberIsNamedWithItsShards() {
		this.group.members.get(1).put("silentSince", "2026-11-21T04:12:22.450Z");
		open();

		browser.awaitText("#verdict", "1 member is silent");
		assertThat(browser.text("#problems li.bad")).contains("host-2", "No heartbeat", "2 shards wait for it",
				"visits/1, visits/3", "since");
		assertThat(browser.text("#members")).contains("silent");
		assertThat(browser.text("#cells")).contains("visits/1host-2▲ owner is silent");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void anInstanceThatIsGoneIsNamedUntilItComesBack() {
		Map<String, Object> move = StubbedGroup.move(1, "visits", "3", "host-9~zzz", "host-1~aaa");
		move.put("cause", "CRASH");
		move.put("planned", Instant.now().toString());
		this.group.moves = List.of(move);
		open();

		browser.awaitText("#verdict", "1 instance is gone");
		assertThat(browser.text("#problems li.warn")).contains("host-9", "1 shard has moved to host-1: visits/3");

		this.group.members = List.of(StubbedGroup.member("host-1~aaa", true, 2),
				StubbedGroup.member("host-9~new", false, 2));
		browser.awaitText("#verdict", "None known");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void deadLettersAreNamedAndTheirValuesAreHiddenUnlessShown() {
		this.group.shards.get(1).put("deadLetters", 2);
		open();

		browser.awaitText("#verdict", "2 dead letters");
		assertThat(browser.text("#problems li.warn")).contains("visits/1", "2 records have failed", "Send back …",
				"Drop …");
		browser.click("#problems", "visits/1");
		browser.awaitText("#shard-body .letters", "could not be converted");
		assertThat(browser.text("#shard-body .letters")).contains("texts are hidden", "2,110 bytes");
		assertThat(browser.count("#shard-body .letters pre")).isZero();

		browser.click("#shard-body .letters", "Drop …");
		browser.awaitText("#effects", "This would happen:");
		assertThat(this.group.acts).singleElement()
			.satisfies((act) -> assertThat(act.path("id").asString()).isEqualTo("visits/1/7-0"));
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void outboxIsShownForAShardThatSends() {
		this.group.shards.get(1)
			.put("outbox", Map.of("records", 1200, "size", 91_200, "since", "2026-11-21T04:16:43.791Z"));
		Map<String, Object> countedElsewhere = new TreeMap<>(Map.of("records", 1));
		countedElsewhere.put("size", null);
		countedElsewhere.put("since", null);
		this.group.shards.get(2).put("outbox", countedElsewhere);
		open();

		browser.awaitCount("#cells li", 4);
		browser.script("document.querySelector('#cells li:nth-child(2) button').click()");
		browser.awaitText("#shard-body", "1,200 records wait · 91,200 bytes · since 21/11/2026");
		browser.script("document.querySelector('#cells li:nth-child(3) button').click()");
		browser.awaitText("#shard-body", "1 record waits");
		assertThat(browser.text("#shard-body")).contains("Outbox").doesNotContain("bytes");
		browser.script("document.querySelector('#cells li:nth-child(1) button').click()");
		browser.awaitText("#shard-body", "12 records");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void timersOfAShardAreCountedAndTheNextIsShown() {
		this.group.shards.get(1)
			.put("timers", Map.of("waiting", 1200, "next",
					List.of(Map.of("key", "ann", "name", "remind", "dueAt", "2026-11-21T04:16:43.791Z"))));
		open();

		browser.awaitCount("#cells li", 4);
		browser.script("document.querySelector('#cells li:nth-child(2) button').click()");
		browser.awaitText("#shard-body", "1,200 · next 21/11/2026");
		assertThat(browser.text("#shard-body")).contains("Timers", "remind of ann");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void dropOfManyShardsIsAnActOnTheirTopic() {
		shards(8);
		this.group.shards.forEach((shard) -> shard.put("deadLetters", 3));
		open();

		browser.awaitText("#verdict", "24 dead letters");
		browser.awaitCount("#problems li", 1);
		assertThat(browser.text("#problems li")).contains("visits", "in 8 shards", "and 4 more");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void aHaltedShardOffersToSkipItsRecord() {
		List<Map<String, Object>> all = new ArrayList<>(this.group.shards);
		all.set(2, StubbedGroup.shard("visits", "2", "host-1~aaa", "Halted at offset 41-7, which it cannot handle: x"));
		this.group.shards = all;
		open();

		browser.click("#problems", "Skip the record …");
		browser.awaitText("#effects", "This would happen:");
		assertThat(this.group.acts).singleElement().satisfies((act) -> {
			assertThat(act.path("action").asString()).isEqualTo("seek");
			assertThat(act.path("to").asString()).isEqualTo("after 41-7");
		});
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void onlyTheInstanceThatAnswersCanLeaveAndThenJoin() {
		open();
		browser.awaitCount("#members button[aria-label='Leave host-1 …']", 1);
		assertThat(browser.count("#members button[aria-label='Leave host-2 …']")).isZero();

		this.group.left = true;

		browser.awaitText("#outside", "host-0, which replies, is not in the group");
		browser.click("#outside", "Join …");
		browser.awaitText("#effects", "This would happen:");
		assertThat(this.group.acts).singleElement().satisfies((act) -> {
			assertThat(act.path("action").asString()).isEqualTo("join");
			assertThat(act.path("instance").asString()).isEqualTo("host-0");
		});
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void offsetsThatAreTimesShowThePaceAndWhyThereIsNoRate() {
		open();
		browser.awaitCount("#cells li", 4);
		browser.find("#cells li button").click();
		browser.awaitText("#shard-body", "rate, now 0 records/s");

		Map<String, Object> ofStream = StubbedGroup.shard("visits", "0", "host-1~aaa", null);
		ofStream.put("offset", "1795234342450-0");
		this.group.shards = List.of(ofStream);

		browser.click("#shard", "✕");
		browser.find("#cells li button").click();
		browser.awaitText("#shard-body", "The rate in records is not known");
		browser.assertNoErrors();
	}

	@Test
	void hostileNamesAreText() {
		this.group.members = List.of(StubbedGroup.member(HOSTILE + "~aaa", true, 1));
		this.group.shards = List.of(StubbedGroup.shard(HOSTILE, "0", HOSTILE + "~aaa", "Failed: " + HOSTILE));
		this.group.moves = List.of(StubbedGroup.move(1, HOSTILE, "0", null, HOSTILE + "~aaa"));
		open();

		browser.awaitText("#members", HOSTILE);
		browser.awaitText("#problems", "Failed: " + HOSTILE);
		browser.awaitText("#moves", HOSTILE);
		browser.click("#problems", HOSTILE + "/0");
		browser.awaitText("#shard-body", HOSTILE);
		browser.click("#shard-body", "Pause …");
		browser.awaitText("#effects", "<b>visits/0</b> is paused");
		assertThat(browser.count("main img, main script, dialog img, dialog script, #effects b")).isZero();
		assertThat(browser.script("return window.hacked ?? null")).isNull();
		browser.assertNoErrors();
	}

	@Test
	void anActSaysWhatWillHappenAndThenDoesIt() {
		open();
		browser.awaitCount("#cells li", 4);
		browser.find("#cells li:nth-child(1) button").click();
		browser.click("#shard-body", "Pause …");
		browser.awaitText("#effects", "This would happen:");
		assertThat(this.group.acts).hasSize(1).allMatch((act) -> act.path("dryRun").asBoolean());

		browser.find("#confirm input[name=reason]").sendKeys("disk is full");
		browser.await(() -> browser.find("#do").isEnabled(), () -> browser.text("#confirm"));
		browser.click("#confirm", "Pause");
		browser.awaitText("#effects", "Done.");

		assertThat(this.group.acts).filteredOn((act) -> !act.path("dryRun").asBoolean())
			.singleElement()
			.satisfies((act) -> {
				assertThat(act.path("action").asString()).isEqualTo("pause");
				assertThat(act.path("reason").asString()).isEqualTo("disk is full");
			});
		browser.awaitText("#shard-body", "Paused by anna");
		browser.awaitText("#cells li .how", "paused");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void afterAnActItsFormIsOnlyClosed() {
		open();
		browser.awaitCount("#cells li", 4);
		browser.find("#cells li:nth-child(1) button").click();
		browser.click("#shard-body", "Pause …");
		browser.awaitText("#effects", "This would happen:");
		assertThat(buttonsOfTheForm()).containsExactly("Cancel", "Pause");
		browser.click("#confirm", "Pause");
		browser.awaitText("#effects", "Done.");

		assertThat(buttonsOfTheForm()).containsExactly("Close");
		assertThat(active().getText()).isEqualTo("Close");
		active().sendKeys(Keys.ENTER);
		browser.await(() -> !browser.find("#confirm").isDisplayed(), () -> "the form is open");
		browser.click("#shard-body", "Resume …");
		browser.awaitText("#effects", "This would happen:");
		assertThat(buttonsOfTheForm()).containsExactly("Cancel", "Resume");
		browser.assertNoErrors();
	}

	private static List<String> buttonsOfTheForm() {
		return browser.driver.findElements(By.cssSelector("#confirm button"))
			.stream()
			.filter(WebElement::isDisplayed)
			.map(WebElement::getText)
			.toList();
	}

	/** Topics, ids and instances often begin alike, and are long. */
	@Tag("proof")
	@ParameterizedTest
	@CsvSource({ "1280, 40", "360, 80" })
	void endsOfLongIdsAreVisible(int width, int number) {
		List<String> members = List.of("shop-orders-7d9f8c6b5-x2kqz~aaa", "shop-orders-7d9f8c6b5-8hw4t~bbb");
		this.group.members = List.of(StubbedGroup.member(members.get(0), true, number / 2),
				StubbedGroup.member(members.get(1), false, number / 2));
		List<Map<String, Object>> all = new ArrayList<>(IntStream.range(0, number)
			.mapToObj((index) -> StubbedGroup.shard("orders-placed-by-customers-in-europe", String.valueOf(index),
					members.get(index % 2), null))
			.toList());
		all.get(3).put("state", "REVOKING");
		all.get(3).put("target", members.get(0));
		this.group.shards = all;
		browser.width(width);
		open();
		browser.awaitCount("#cells li", number);

		assertThat(browser.script("""
				const outside = [];
				document.querySelectorAll("#cells .cell").forEach((cell) => {
					const box = cell.getBoundingClientRect();
					[".id", ".who", ".how"].map((name) => cell.querySelector(name)).forEach((place) => {
						const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
						let last = null;
						while (texts.nextNode()) {
							last = texts.currentNode;
						}
						const range = document.createRange();
						range.setStart(last, Math.max(0, last.length - 3));
						range.setEnd(last, last.length);
						const end = range.getBoundingClientRect();
						if (end.width > 0 && (end.left < box.left || end.right > box.right)) {
							outside.push(place.textContent);
						}
					});
				});
				return outside;
				""")).asInstanceOf(InstanceOfAssertFactories.LIST).isEmpty();
		assertThat(browser.script("return document.documentElement.scrollWidth > document.documentElement.clientWidth"))
			.as("scrolls sideways")
			.isEqualTo(false);

		assertThat(browser.find("#whole").isDisplayed()).isFalse();
		browser.script("document.querySelector('#cells button').focus()");
		active().sendKeys(Keys.ARROW_RIGHT);
		assertThat(browser.find("#whole").isDisplayed()).isTrue();
		assertThat(browser.find("#whole").getText()).startsWith("orders-placed-by-customers-in-europe/")
			.contains("shop-orders-7d9f8c6b5-");
		browser.find("#search").sendKeys("x");
		assertThat(browser.find("#whole").isDisplayed()).isFalse();
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void twoSessionsOfOneInstanceAreToldApart() {
		this.group.members = List.of(StubbedGroup.member("host-1~aaa", true, 2),
				StubbedGroup.member("host-2~bbb", false, 1), StubbedGroup.member("host-2~ccc", false, 1));
		this.group.moves = List.of(StubbedGroup.move(2, "visits", "1", "host-2~bbb", "host-2~ccc"),
				StubbedGroup.move(1, "visits", "3", "host-1~aaa", "host-2~bbb"));
		this.group.shards.get(1).put("target", "host-2~ccc");
		open();

		browser.awaitCount("#moves li", 2);
		assertThat(browser.text("#moves li:nth-child(1)")).contains("host-2~bbb → host-2~ccc");
		assertThat(browser.text("#moves li:nth-child(2)")).contains("host-1 → host-2").doesNotContain("~");
		assertThat(browser.text("#members li:nth-child(1) .name")).isEqualTo("host-1");
		assertThat(browser.text("#members li:nth-child(3) .name")).isEqualTo("host-2~ccc");
		assertThat(browser.text("#member")).isEqualTo("allhost-1host-2~bbbhost-2~ccc");
		browser.awaitText("#cells", "host-2~bbb→ host-2~ccc");
		browser.assertNoErrors();
	}

	private static Map<String, Object> moveAgo(long id, int minutes) {
		Map<String, Object> move = StubbedGroup.move(id, "visits", String.valueOf(id % 4), "host-9~zzz", "host-1~aaa");
		move.put("planned", Instant.now().minus(Duration.ofMinutes(minutes)).toString());
		return move;
	}

	/** Moves with these ids, the newest first. */
	private static List<Map<String, Object>> moves(int from, int to, int minutesAgo) {
		return IntStream.rangeClosed(from, to).mapToObj((id) -> moveAgo(from + to - id, minutesAgo)).toList();
	}

	@Test
	@Tag("proof")
	void allMovesOfTheLastMinutesAreCounted() {
		List<Map<String, Object>> before = moves(1, 200, 45);
		List<Map<String, Object>> recent = moves(201, 512, 10);
		this.group.moves = join(recent, before);
		open();

		browser.awaitText("#spark figcaption", "last 30 minutes: 312");
		assertThat(browser.count("#moves li")).isEqualTo(50);

		// More at once than the page reads at a time.
		this.group.moves = join(moves(513, 632, 0), join(recent, before));
		browser.awaitText("#spark figcaption", "last 30 minutes: 432");
		browser.awaitCount("#moves li", 170);
		for (int listed = 220; listed <= 320; listed += 50) {
			browser.click("main", "Earlier moves");
			browser.awaitCount("#moves li", listed);
		}
		assertThat(
				browser.script("return [...document.querySelectorAll('#moves li')].map((item) => item.dataset.name)"))
			.isEqualTo(IntStream.range(0, 320).mapToObj((index) -> 632 - index + "-0").toList());
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void movesThatAreNotCountedAreSaid() {
		this.group.moves = join(moves(1001, 3500, 7), moves(1, 1000, 25));
		open();

		browser.awaitText("#spark figcaption", "the newest 2,050; those before the last 7 minutes are not counted");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void allShardsOfAnInstanceThatIsGoneAreCounted() {
		List<Map<String, Object>> crashed = moves(1, 120, 5);
		crashed.forEach((move) -> move.put("cause", "CRASH"));
		this.group.moves = crashed;
		open();

		browser.awaitText("#problems li.warn", "host-9");
		browser.awaitText("#problems li.warn", "120 shards have moved to host-1");
		browser.assertNoErrors();
	}

	private static List<Map<String, Object>> join(List<Map<String, Object>> first, List<Map<String, Object>> then) {
		return Stream.concat(first.stream(), then.stream()).toList();
	}

	private static Map<String, Object> broadcast(String topic, int shards, Map<String, String> problems, Long letters) {
		Map<String, Object> broadcast = new TreeMap<>(Map.of("topic", topic, "shards", shards, "problems", problems));
		broadcast.put("deadLetters", letters);
		return broadcast;
	}

	@Test
	void broadcastTopicsAreShownWithWhatIsWrongHere() {
		this.group.broadcast = List.of(
				broadcast("prices", 4, Map.of("2", "Halted at offset 41-7, which it cannot handle: x"), 3L),
				broadcast("rates", 1, Map.of(), null));
		open();

		browser.awaitText("#verdict", "1 broadcast shard has a problem, 3 dead letters");
		assertThat(browser.text("#topics")).contains("prices 4 on host-1broadcast1 ▲", "rates 1 on host-1broadcast");
		assertThat(browser.text("#problems")).contains("prices/2 on host-1", "Halted at offset 41-7",
				"prices on host-1", "3 records have failed");
		browser.click("#problems", "Skip the record …");
		browser.awaitText("#effects", "This would happen:");
		assertThat(this.group.acts).singleElement()
			.satisfies((act) -> assertThat(act.path("to").asString()).isEqualTo("after 41-7"));
		browser.click("#confirm", "Cancel");

		browser.click("#topics", "prices");
		browser.awaitText("#topic-body", "every instance, for itself");
		assertThat(browser.text("#topic-body"))
			.contains("host-1, which replies", "Problem of 2", "Seek …", "Send dead letters back …",
					"Drop dead letters …")
			.doesNotContain("Pause");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void instanceWithBroadcastTopicsOnlyNeedNotJoin() {
		this.group.left = true;
		this.group.broadcast = List.of(broadcast("prices", 4, Map.of(), 0L));
		open();

		browser.awaitText("#outside",
				"host-0, which replies, is not in the group, and consumes broadcast topics for itself");
		assertThat(browser.count("#outside button")).isZero();
		assertThat(browser.text("#topics")).contains("prices 4 on host-0broadcast");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void tenThousandShardsAreSearched() {
		shards(10_000);
		open();

		browser.awaitText("#count", "10,000 shards");
		browser.await(() -> browser.text("#count").equals("10,000 shards"), () -> browser.text("#count"));
		assertThat(browser.count("#cells li")).isEqualTo(200);
		browser.find("#search").sendKeys("visits/98765");
		browser.awaitText("#count", "0 of 10,000 match");
		browser.find("#search").clear();
		browser.find("#search").sendKeys("visits/9876");
		browser.awaitCount("#cells li", 1);
		browser.awaitText("#cells", "visits/9876");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void keyboardReachesAShardAndComesBack() {
		open();
		browser.awaitCount("#cells li", 4);
		browser.script("document.querySelector('#cells button').focus()");
		active().sendKeys(Keys.ARROW_RIGHT);
		assertThat(active().getAttribute("aria-label")).startsWith("visits/1, owned, host-2");
		active().sendKeys(Keys.ENTER);
		browser.awaitText("#shard-body", "host-2~bbb");
		assertThat(active().getAttribute("id")).isEqualTo("shard-title");
		active().sendKeys(Keys.ESCAPE);
		browser.await(() -> String.valueOf(active().getAttribute("aria-label")).startsWith("visits/1"),
				() -> active().getAttribute("outerHTML"));
		active().sendKeys("/");
		assertThat(active().getAttribute("id")).isEqualTo("search");
		browser.assertNoErrors();
	}

	@Test
	@Tag("proof")
	void darkSchemeAndPhoneWidth() {
		browser.width(360);
		browser.scheme("dark");
		shards(40);
		open();
		browser.awaitCount("#cells li", 40);

		assertThat(browser.script("return getComputedStyle(document.body).backgroundColor"))
			.isEqualTo("rgb(18, 21, 26)");
		assertThat(browser.script("return document.documentElement.scrollWidth")).isEqualTo(360L);
		browser.find("#cells li button").click();
		browser.awaitText("#shard-body", "12 records");
		assertThat(browser.script("return document.querySelector('#shard').getBoundingClientRect().right <= 360"))
			.isEqualTo(true);
		browser.assertNoErrors();
	}

	private static WebElement active() {
		return browser.driver.switchTo().activeElement();
	}

}
