import java.io.IOException;
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
 * each failure with the last lines of its log. Fails the build on a failure, and on a class that took too long.
 *
 * <p>The build calls it in every module, after the tests:
 * {@code java build/TestReport.java <target directory> <start of the build> <most seconds of a class>}.
 * Called without a start, it adds up all modules below a directory: {@code java build/TestReport.java .}
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
		if (args.length == 1) {
			report.addUp(Path.of(args[0]));
		}
		else {
			report.judge(Path.of(args[0]), Instant.parse(args[1]), Duration.ofSeconds(Long.parseLong(args[2])));
		}
		System.out.print(report.text);
		System.exit(report.failed ? 1 : 0);
	}

	/** One module. Files from before the build are those of an earlier one. */
	private void judge(Path target, Instant start, Duration limit) throws Exception {
		for (Path file : reports(target, 2)) {
			if (!Files.getLastModifiedTime(file).toInstant().isBefore(start)) {
				this.classes.add(TestClass.read(file));
			}
		}
		if (this.classes.isEmpty()) {
			return;
		}
		counts(target.toAbsolutePath().getParent().getFileName().toString());
		Files.writeString(target.resolve("test-times.txt"), bySeconds().map(TestClass::line).collect(Collectors.joining()));
		for (TestClass each : this.classes) {
			for (Failure failure : each.failures) {
				this.failed = true;
				failure(each, failure);
			}
			if (!limit.isZero() && each.seconds > limit.toSeconds()) {
				this.failed = true;
				line("ERROR", "%s took %.1f s. A class of the ordinary run may take %d s: make it faster, or move what "
						+ "takes long to a class with @Tag(\"proof\").", each.name, each.seconds, limit.toSeconds());
			}
		}
	}

	/** All modules, from all runs whose files are still there. */
	private void addUp(Path root) throws Exception {
		Map<String, List<TestClass>> byRun = new TreeMap<>();
		for (Path file : reports(root, 4)) {
			TestClass each = TestClass.read(file);
			this.classes.add(each);
			byRun.computeIfAbsent(each.run, (run) -> new ArrayList<>()).add(each);
		}
		byRun.forEach((run, some) -> line("INFO", "%s: %d tests in %d classes, %d skipped, %.0f s", run,
				some.stream().mapToInt((each) -> each.tests).sum(), some.size(),
				some.stream().mapToInt((each) -> each.skipped).sum(),
				some.stream().mapToDouble((each) -> each.seconds).sum()));
		line("INFO", "%d test methods in %d classes have run",
				this.classes.stream().flatMap((each) -> each.methods.stream()).distinct().count(),
				this.classes.stream().map((each) -> each.name).distinct().count());
		counts("All modules");
	}

	private void counts(String name) {
		line("INFO", "%s: %d tests in %d classes, %d skipped, %.0f s in all; the slowest:", name,
				this.classes.stream().mapToInt((each) -> each.tests).sum(), this.classes.size(),
				this.classes.stream().mapToInt((each) -> each.skipped).sum(),
				this.classes.stream().mapToDouble((each) -> each.seconds).sum());
		List<String> slowest = bySeconds().limit(SLOWEST).map(TestClass::inShort).toList();
		for (int i = 0; i < slowest.size(); i += 3) {
			line("INFO", "  %s", String.join(", ", slowest.subList(i, Math.min(slowest.size(), i + 3))));
		}
	}

	private Stream<TestClass> bySeconds() {
		return this.classes.stream().sorted(Comparator.comparingDouble((TestClass each) -> each.seconds).reversed());
	}

	private void failure(TestClass testClass, Failure failure) throws IOException {
		line("ERROR", "%s.%s (%s)", testClass.name, failure.test, testClass.run);
		failure.trace.lines().limit(TRACE_LINES).forEach((each) -> line("ERROR", "    %s", each));
		Path log = testClass.file.resolveSibling(testClass.name + "-output.txt");
		if (Files.exists(log)) {
			List<String> lines = Files.readString(log).lines().toList();
			line("ERROR", "  The last lines of %s:", log);
			lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size())
				.forEach((each) -> line("ERROR", "    %s", each.substring(0, Math.min(each.length(), LINE_LENGTH))));
		}
	}

	private void line(String level, String format, Object... args) {
		this.text.append('[').append(level).append("] ").append(String.format(Locale.ROOT, format, args)).append('\n');
	}

	private static List<Path> reports(Path directory, int depth) throws IOException {
		if (!Files.exists(directory)) {
			return List.of();
		}
		try (Stream<Path> files = Files.walk(directory, depth)) {
			return files.filter((file) -> file.getFileName().toString().matches("TEST-.*\\.xml"))
				.filter((file) -> file.getParent().getFileName().toString().startsWith("surefire-reports"))
				.sorted()
				.toList();
		}
	}

	/** A class in one of the runs that its module makes. */
	private record TestClass(Path file, String run, String name, double seconds, int tests, int skipped,
			List<String> methods, List<Failure> failures) {

		static TestClass read(Path file) throws Exception {
			Element suite = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile())
				.getDocumentElement();
			List<String> methods = new ArrayList<>();
			List<Failure> failures = new ArrayList<>();
			int skipped = 0;
			double seconds = Double.parseDouble(suite.getAttribute("time").replace(",", ""));
			NodeList cases = suite.getElementsByTagName("testcase");
			for (int i = 0; i < cases.getLength(); i++) {
				Element test = (Element) cases.item(i);
				methods.add(test.getAttribute("classname") + "." + test.getAttribute("name").replaceAll("[({\\[].*", ""));
				for (Node child = test.getFirstChild(); child != null; child = child.getNextSibling()) {
					switch (child.getNodeName()) {
						case "failure", "error" -> failures.add(new Failure(test.getAttribute("name"),
								child.getTextContent().strip()));
						case "skipped" -> skipped++;
						default -> {
						}
					}
				}
			}
			String run = file.getParent().getFileName().toString().replace("surefire-reports-", "")
				.replace("surefire-reports", "ordinary");
			return new TestClass(file, run, suite.getAttribute("name"), seconds, cases.getLength(), skipped, methods,
					failures);
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
