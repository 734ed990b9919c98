import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.xml.parsers.DocumentBuilderFactory;

import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/**
 * Says what a module's tests did, from the files that Surefire has written: counts, the ten slowest classes, and
 * each failure with the last lines of its log. Fails the build on a failure, if no test ran, and on a class that took
 * too long.
 *
 * <p>The build calls it in every module, after the tests:
 * {@code java build/TestReport.java <target directory> <start of the build> <most seconds of a class> -Dtest=<test>
 * -Dtests.groups=<groups>}.
 * Called with a directory and a number, it adds up all modules below it, and fails if fewer test methods have run:
 * {@code java build/TestReport.java . 4900}.
 */
public final class TestReport {

	private static final int TRACE_LINES = 20;

	private static final int LOG_LINES = 30;

	private static final int LINE_LENGTH = 300;

	private static final int SLOWEST = 10;

	private final List<TestClass> classes = new ArrayList<>();

	private final StringBuilder text = new StringBuilder();

	private boolean failed;

	public static void main(String[] args) throws Exception {
		TestReport report = new TestReport();
		if (args.length == 2) {
			report.addUp(Path.of(args[0]), Integer.parseInt(args[1]));
		}
		else {
			report.judge(Path.of(args[0]), Instant.parse(args[1]), Duration.ofSeconds(Long.parseLong(args[2])),
					// The proof selects by tags, and not every module has such.
					isSet(args[3]) || isSet(args[4]));
		}
		System.out.print(report.text);
		System.exit(report.failed ? 1 : 0);
	}

	/** Maven leaves an expression as it is if its property is not set. */
	private static boolean isSet(String property) {
		return !property.contains("${") && !property.endsWith("=");
	}

	/** One module. Files from before the build are those of an earlier one. */
	private void judge(Path target, Instant start, Duration limit, boolean selected) throws Exception {
		for (Path file : reports(target, 2)) {
			if (isFrom(start, file)) {
				this.classes.add(TestClass.read(file));
			}
		}
		notEnded(target, start);
		if (this.classes.isEmpty()) {
			noTests(target, selected);
			return;
		}
		counts(module(target));
		Files.writeString(target.resolve("test-times.txt"), bySeconds().map(TestClass::line).collect(Collectors.joining()));
		skips();
		double waits = threadsForEachProcessor();
		for (TestClass each : this.classes) {
			if (each.failures.size() < each.reportedFailures) {
				this.failed = true;
				line("ERROR", "%s has %d failures; see %s", each.name, each.reportedFailures, each.file);
			}
			for (Failure failure : each.failures) {
				this.failed = true;
				failure(each, failure);
			}
			if (!limit.isZero() && each.seconds > limit.toSeconds() * waits) {
				this.failed = true;
				line("ERROR", "%s took %.1f s. A class of the ordinary run may take %d s%s: make it faster, or move what takes "
						+ "long to a class with @Tag(\"proof\").", each.name, each.seconds, limit.toSeconds(),
						(waits > 1) ? ", %.1f times as long on this busy machine".formatted(waits) : "");
			}
		}
	}

	private static boolean isFrom(Instant start, Path file) throws IOException {
		return !Files.getLastModifiedTime(file).toInstant().isBefore(start);
	}

	/** Classes that have printed something, but have no report: their JVM was ended. */
	private void notEnded(Path target, Instant start) throws IOException {
		for (Path log : files(target, 2, ".*Tests-output\\.txt")) {
			String name = log.getFileName().toString().replace("-output.txt", "");
			if (isFrom(start, log) && Files.notExists(log.resolveSibling("TEST-" + name + ".xml"))) {
				this.failed = true;
				line("ERROR", "%s has not ended", name);
				lastLines(log);
			}
		}
	}

	/**
	 * How many threads wanted each processor during the last minute, at least 1. The modules that are built at the
	 * same time, their servers, and strangers take longer by that much.
	 */
	private static double threadsForEachProcessor() {
		OperatingSystemMXBean machine = ManagementFactory.getOperatingSystemMXBean();
		return Math.max(1, machine.getSystemLoadAverage() / machine.getAvailableProcessors());
	}

	private void noTests(Path target, boolean selected) throws IOException {
		Path classes = target.resolve("test-classes");
		if (!Files.exists(classes)) {
			return;
		}
		try (Stream<Path> files = Files.walk(classes)) {
			if (files.noneMatch((file) -> file.getFileName().toString().endsWith("Tests.class"))) {
				return;
			}
		}
		this.failed = !selected;
		line(selected ? "WARNING" : "ERROR", "%s: no test has run. A class with @Tag(\"proof\") runs with -Pproof only.",
				module(target));
	}

	private static String module(Path target) {
		return target.toAbsolutePath().getParent().getFileName().toString();
	}

	/** Why tests were skipped, and how many. */
	private void skips() {
		Map<String, Long> reasons = this.classes.stream()
			.flatMap((each) -> each.skips.stream())
			.collect(Collectors.groupingBy((reason) -> reason, TreeMap::new, Collectors.counting()));
		reasons.forEach((reason, count) -> line("INFO", "  %d skipped: %s", count, reason));
		this.classes.stream()
			.filter((each) -> each.tests == 0)
			.forEach((each) -> line("WARNING", "  %s ran nothing", each.name));
	}

	/** All modules, from all runs whose files are still there. */
	private void addUp(Path root, int least) throws Exception {
		Map<String, List<TestClass>> byRun = new TreeMap<>();
		for (Path file : reports(root, 4)) {
			TestClass each = TestClass.read(file);
			this.classes.add(each);
			byRun.computeIfAbsent(each.run, (run) -> new ArrayList<>()).add(each);
		}
		byRun.forEach((run, some) -> line("INFO", "%s", counted(run, some)));
		counts("All modules");
		long methods = this.classes.stream().flatMap((each) -> each.methods.stream()).distinct().count();
		this.failed = methods < least;
		line(this.failed ? "ERROR" : "INFO", "%d test methods in %d classes have run; expected are at least %d", methods,
				this.classes.stream().map((each) -> each.name).distinct().count(), least);
	}

	private void counts(String name) {
		line("INFO", "%s in all; the slowest:", counted(name, this.classes));
		List<String> slowest = bySeconds().limit(SLOWEST).map(TestClass::inShort).toList();
		for (int i = 0; i < slowest.size(); i += 3) {
			line("INFO", "  %s", String.join(", ", slowest.subList(i, Math.min(slowest.size(), i + 3))));
		}
	}

	private static String counted(String name, List<TestClass> classes) {
		return String.format(Locale.ROOT, "%s: %d tests in %d classes, %d skipped, %.0f s", name,
				classes.stream().mapToInt((each) -> each.tests).sum(), classes.size(),
				classes.stream().mapToInt((each) -> each.skips.size()).sum(),
				classes.stream().mapToDouble((each) -> each.seconds).sum());
	}

	private Stream<TestClass> bySeconds() {
		return this.classes.stream().sorted(Comparator.comparingDouble((TestClass each) -> each.seconds).reversed());
	}

	private void failure(TestClass testClass, Failure failure) throws IOException {
		line("ERROR", "%s.%s (%s)", testClass.name, failure.test, testClass.run);
		failure.trace.lines().limit(TRACE_LINES).forEach((each) -> line("ERROR", "    %s", each));
		Path log = testClass.file.resolveSibling(testClass.name + "-output.txt");
		if (Files.exists(log)) {
			lastLines(log);
		}
	}

	private void lastLines(Path log) throws IOException {
		List<String> lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8).lines().toList();
		line("ERROR", "  The last lines of %s:", log);
		lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size())
			.forEach((each) -> line("ERROR", "    %s", each.substring(0, Math.min(each.length(), LINE_LENGTH))));
	}

	private void line(String level, String format, Object... args) {
		this.text.append('[').append(level).append("] ").append(String.format(Locale.ROOT, format, args)).append('\n');
	}

	private static List<Path> reports(Path directory, int depth) throws IOException {
		return files(directory, depth, "TEST-.*\\.xml");
	}

	private static List<Path> files(Path directory, int depth, String name) throws IOException {
		if (!Files.exists(directory)) {
			return List.of();
		}
		try (Stream<Path> files = Files.walk(directory, depth)) {
			return files.filter((file) -> file.getFileName().toString().matches(name))
				.filter((file) -> file.getParent().getFileName().toString().startsWith("surefire-reports"))
				.sorted()
				.toList();
		}
	}

	/** A class in one of the runs that its module makes. */
	private record TestClass(Path file, String run, String name, double seconds, int tests, List<String> skips,
			List<String> methods, List<Failure> failures, int reportedFailures) {

		static TestClass read(Path file) throws Exception {
			Element suite = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile())
				.getDocumentElement();
			List<String> methods = new ArrayList<>();
			List<Failure> failures = new ArrayList<>();
			List<String> skips = new ArrayList<>();
			double seconds = Double.parseDouble(suite.getAttribute("time").replace(",", ""));
			NodeList cases = suite.getElementsByTagName("testcase");
			for (int i = 0; i < cases.getLength(); i++) {
				Element test = (Element) cases.item(i);
				methods.add(test.getAttribute("classname") + "." + test.getAttribute("name").replaceAll("[({\\[].*", ""));
				for (Node child = test.getFirstChild(); child != null; child = child.getNextSibling()) {
					switch (child.getNodeName()) {
						case "failure", "error" -> failures.add(new Failure(test.getAttribute("name"),
								child.getTextContent().strip()));
						case "skipped" -> skips.add(((Element) child).hasAttribute("message")
								? ((Element) child).getAttribute("message") : "an assumption of the test does not hold");
						default -> {
						}
					}
				}
			}
			String run = file.getParent().getFileName().toString().replace("surefire-reports-", "")
				.replace("surefire-reports", "ordinary");
			return new TestClass(file, run, suite.getAttribute("name"), seconds, cases.getLength(), skips, methods,
					failures, number(suite, "errors") + number(suite, "failures"));
		}

		private static int number(Element suite, String attribute) {
			return Integer.parseInt(suite.getAttribute(attribute));
		}

		String inShort() {
			return String.format(Locale.ROOT, "%s %.1f s", this.name.substring(this.name.lastIndexOf('.') + 1),
					this.seconds);
		}

		String line() {
			return String.format(Locale.ROOT, "%7.2f s %5d tests  %s%s%n", this.seconds, this.tests, this.name,
					this.run.equals("ordinary") ? "" : " (" + this.run + ")");
		}

	}

	private record Failure(String test, String trace) {
	}

}
