package io.github.shardkeeper.sample.dashboard;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/** The page of the dashboard in a real browser, with answers that a test makes up. */
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
		List<java.util.Map<String, Object>> all = new java.util.ArrayList<>(this.group.shards);
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
