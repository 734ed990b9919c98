package io.github.shardkeeper.sample.dashboard;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.logging.Level;

import org.awaitility.Awaitility;
import org.openqa.selenium.By;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Debian's Chromium, without a window. */
final class Browser implements AutoCloseable {

	private static final Path CHROMIUM = Path.of("/usr/bin/chromium");

	private static final Path DRIVER = Path.of("/usr/bin/chromedriver");

	static final Duration LIMIT = Duration.ofSeconds(60);

	final ChromeDriver driver;

	private Browser(ChromeDriver driver) {
		this.driver = driver;
	}

	/** Starts a browser; the test is skipped where there is none. */
	static Browser start() {
		assumeTrue(Files.isExecutable(CHROMIUM) && Files.isExecutable(DRIVER),
				"There is no Chromium: as root on Debian, apt-get install chromium chromium-driver");
		LoggingPreferences console = new LoggingPreferences();
		console.enable(LogType.BROWSER, Level.ALL);
		ChromeOptions options = new ChromeOptions();
		options.setBinary(CHROMIUM.toFile());
		options.addArguments("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
				"--window-size=1280,900");
		options.setCapability("goog:loggingPrefs", console);
		ChromeDriverService service = new ChromeDriverService.Builder().usingDriverExecutable(DRIVER.toFile())
			.usingAnyFreePort()
			.build();
		return new Browser(new ChromeDriver(service, options));
	}

	void open(String address) {
		this.driver.get(address);
	}

	void width(int pixels) {
		this.driver.executeCdpCommand("Emulation.setDeviceMetricsOverride",
				Map.of("width", pixels, "height", 800, "deviceScaleFactor", 1, "mobile", pixels < 600));
	}

	void scheme(String scheme) {
		this.driver.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
	}

	Object script(String text, Object... arguments) {
		return ((JavascriptExecutor) this.driver).executeScript(text, arguments);
	}

	WebElement find(String selector) {
		return this.driver.findElement(By.cssSelector(selector));
	}

	int count(String selector) {
		return this.driver.findElements(By.cssSelector(selector)).size();
	}

	/** Returns the text as it is in the document, whether it is on the screen or not. */
	String text(String selector) {
		return String.valueOf(script("return document.querySelector(arguments[0])?.textContent ?? ''", selector));
	}

	void awaitText(String selector, String part) {
		await(() -> text(selector).contains(part), () -> selector + " is: " + text(selector));
	}

	void awaitCount(String selector, int number) {
		await(() -> count(selector) == number, () -> selector + " is there " + count(selector) + " times");
	}

	void await(Supplier<Boolean> condition, Supplier<String> found) {
		Awaitility.await()
			.atMost(LIMIT)
			.ignoreException(StaleElementReferenceException.class)
			.untilAsserted(() -> assertThat(condition.get()).as(found).isTrue());
	}

	/** Clicks the button with the text, in the part of the page. */
	void click(String within, String text) {
		await(() -> Boolean.TRUE.equals(script("""
				const found = [...document.querySelectorAll(arguments[0] + " button")]
					.find((one) => one.textContent === arguments[1] && !one.disabled && !one.hidden);
				found?.click();
				return Boolean(found);
				""", within, text)), () -> "No button '" + text + "' in " + within + ": " + text(within));
	}

	/** Asserts that nothing failed in the page; violations of the policy are such. */
	void assertNoErrors() {
		List<LogEntry> entries = this.driver.manage().logs().get(LogType.BROWSER).getAll();
		assertThat(entries).filteredOn((entry) -> entry.getLevel().intValue() >= Level.WARNING.intValue()).isEmpty();
	}

	@Override
	public void close() {
		this.driver.quit();
	}

}
