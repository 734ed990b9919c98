import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Prints how large this project is, module by module, and what of the engine hangs on what:
 * {@code java build/Measures.java}. A line of code is one that has something besides comments. The numbers show where a
 * room has grown too large to be read; none is a target.
 */
public final class Measures {

	private static final String ENGINE = "core";

	/** Features that ought to be parts of their own, and how code names them. */
	private static final Map<String, Pattern> FEATURES = new TreeMap<>(Map.of("outbox", named("outbox"), "transactions",
			named("transact"), "parked keys", named("park(ed|ing)")));

	private static final Pattern TYPE = Pattern.compile("(?<![.\\w])(class|interface|enum|record)\\s+([A-Z]\\w*)");

	private static final Pattern METHOD = Pattern.compile("(\\w+)\\s*\\([^{};]*\\)\\s*(throws[^{};]*)?$");

	public static void main(String[] args) throws IOException {
		Path root = Path.of((args.length > 0) ? args[0] : ".");
		Map<String, List<Source>> modules = modules(root);
		System.out.printf("%-15s %7s %8s %6s %6s %7s %9s %6s %7s  %-32s %s%n", "module", "code", "comments", "types", "API",
				"rooms", "max. room", "files", "median", "largest file", "longest method");
		modules.forEach((module, sources) -> System.out.println(line(module, sources)));
		List<Source> published = modules.entrySet()
			.stream()
			.filter((each) -> !Set.of("benchmarks", "sample-app").contains(each.getKey()))
			.flatMap((each) -> each.getValue().stream())
			.toList();
		System.out.println(line("published", published));
		int tests = 0;
		for (Path module : directories(root)) {
			tests += sources(module.resolve("src/test/java")).stream().mapToInt(Source::code).sum();
		}
		System.out.printf("%nTests: %,d lines of code%n", tests);
		engine(modules.get(ENGINE));
		documents(root);
	}

	private static void engine(List<Source> engine) {
		FEATURES.forEach((feature, pattern) -> System.out.printf("Files of the engine that name %s: %d%n", feature,
				engine.stream().filter((each) -> pattern.matcher(each.text).find()).count()));
		Map<String, List<Source>> worker = engine.stream()
			.filter((each) -> each.room.contains(".worker"))
			.collect(Collectors.groupingBy((each) -> each.room, TreeMap::new, Collectors.toList()));
		int arrows = 0;
		Set<String> upward = new TreeSet<>();
		List<Source> files = worker.values().stream().flatMap(List::stream).toList();
		for (Source from : files) {
			for (Source to : files) {
				if (from != to && from.names(to)) {
					arrows++;
					if (from.room.startsWith(to.room + ".")) {
						upward.add(from.name + " -> " + to.name);
					}
				}
			}
		}
		System.out.printf("The worker's rooms: %s; %d arrows between files, %d of them from a room to the one above %s%n",
				worker.entrySet()
					.stream()
					.map((each) -> each.getKey().replaceFirst(".*\\.worker", "worker") + " " + each.getValue().size())
					.collect(Collectors.joining(", ")),
				arrows, upward.size(), upward);
	}

	private static void documents(Path root) throws IOException {
		Map<String, Integer> words = new LinkedHashMap<>();
		try (Stream<Path> files = Files.walk(root.resolve("docs"))) {
			for (Path file : files.filter((each) -> each.toString().endsWith(".md")).sorted().toList()) {
				words.put(root.resolve("docs").relativize(file).toString(), words(file));
			}
		}
		System.out.printf("Documents: %,d words in %d pages; the longest: %s%n",
				words.values().stream().mapToInt(Integer::intValue).sum(), words.size(),
				words.entrySet()
					.stream()
					.sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
					.limit(5)
					.map((each) -> each.getKey() + " " + each.getValue())
					.collect(Collectors.joining(", ")));
		System.out.printf("README: %d lines, %d words%n", Files.readAllLines(root.resolve("README.md")).size(),
				words(root.resolve("README.md")));
	}

	private static int words(Path file) throws IOException {
		return Files.readString(file).strip().split("\\s+").length;
	}

	private static String line(String name, List<Source> sources) {
		int code = sources.stream().mapToInt(Source::code).sum();
		int comments = sources.stream().mapToInt((each) -> each.comments).sum();
		Source largest = sources.stream().max(Comparator.comparingInt(Source::code)).orElseThrow();
		Method longest = sources.stream()
			.flatMap((each) -> each.longestMethod().stream())
			.max(Comparator.comparingInt(Method::lines))
			.orElse(new Method("-", 0));
		Map<String, Long> rooms = sources.stream()
			.collect(Collectors.groupingBy((each) -> each.room, Collectors.counting()));
		return String.format(Locale.ROOT, "%-15s %,7d %7d%% %6d %6d %7d %9d %6d %7d  %-32s %s", name, code,
				100 * comments / (code + comments), sources.stream().mapToInt(Source::types).sum(),
				sources.stream().filter(Source::api).count(), rooms.size(),
				rooms.values().stream().mapToLong(Long::longValue).max().orElse(0), sources.size(),
				sources.stream().map(Source::code).sorted().toList().get(sources.size() / 2),
				largest.code() + " " + largest.name, longest.lines() + " " + longest.name());
	}

	private static Map<String, List<Source>> modules(Path root) throws IOException {
		Map<String, List<Source>> modules = new LinkedHashMap<>();
		for (Path module : directories(root)) {
			List<Source> sources = sources(module.resolve("src/main/java"));
			if (!sources.isEmpty()) {
				modules.put(module.getFileName().toString(), sources);
			}
		}
		return modules;
	}

	private static List<Path> directories(Path root) throws IOException {
		try (Stream<Path> files = Files.list(root)) {
			return files.filter((each) -> Files.exists(each.resolve("pom.xml"))).sorted().toList();
		}
	}

	private static List<Source> sources(Path directory) throws IOException {
		if (!Files.exists(directory)) {
			return List.of();
		}
		List<Source> sources = new ArrayList<>();
		try (Stream<Path> files = Files.walk(directory)) {
			for (Path file : files.filter((each) -> each.toString().endsWith(".java")).sorted().toList()) {
				if (!file.getFileName().toString().contains("-info")) {
					sources.add(Source.read(file));
				}
			}
		}
		return sources;
	}

	private static Pattern named(String feature) {
		return Pattern.compile("(?i)" + feature);
	}

	/** Blanks comments, and what stands between quotes, and keeps lines as they are. */
	private static String withoutComments(String text) {
		StringBuilder code = new StringBuilder(text.length());
		Matcher tokens = Pattern.compile("\"\"\".*?\"\"\"|\"(\\\\.|[^\"\\\\\n])*\"|'(\\\\.|[^'\\\\])'|//[^\n]*|/\\*.*?\\*/",
				Pattern.DOTALL)
			.matcher(text);
		int from = 0;
		while (tokens.find()) {
			code.append(text, from, tokens.start());
			boolean comment = tokens.group().startsWith("/");
			tokens.group().chars().forEach((each) -> code.append((each == '\n') ? "\n" : comment ? " " : "_"));
			from = tokens.end();
		}
		return code.append(text.substring(from)).toString();
	}

	private record Method(String name, int lines) {
	}

	private record Source(String name, String room, String text, int comments, boolean roomIsInternal) {

		static Source read(Path file) throws IOException {
			String text = Files.readString(file);
			String code = withoutComments(text);
			long blank = text.lines().filter(String::isBlank).count();
			int withCode = (int) code.lines().filter((each) -> !each.isBlank()).count();
			Matcher room = Pattern.compile("package ([\\w.]+);").matcher(code);
			Path info = file.resolveSibling("package-info.java");
			return new Source(file.getFileName().toString().replace(".java", ""), room.find() ? room.group(1) : "", code,
					(int) (text.lines().count() - blank - withCode),
					Files.exists(info) && withoutComments(Files.readString(info)).contains("@Internal"));
		}

		int code() {
			return (int) this.text.lines().filter((each) -> !each.isBlank()).count();
		}

		int types() {
			return (int) TYPE.matcher(this.text).results().count();
		}

		/** Whether the file's type is for applications: public, and not marked as internal. */
		boolean api() {
			String head = this.text.substring(0, Math.max(0, this.text.indexOf('{', this.text.indexOf(this.name))));
			return !this.roomIsInternal && !head.contains("@Internal") && Pattern
				.compile("(?m)^public [\\w\\s-]*(class|interface|enum|record|@interface) " + this.name + "\\b")
				.matcher(this.text)
				.find();
		}

		boolean names(Source other) {
			return Pattern.compile("\\b" + other.name + "\\b").matcher(this.text).find()
					&& (this.room.equals(other.room) || this.text.contains("import " + other.room + "." + other.name + ";")
							|| this.text.contains("import static " + other.room + "." + other.name + "."));
		}

		Optional<Method> longestMethod() {
			List<Method> methods = new ArrayList<>();
			Deque<Integer> starts = new ArrayDeque<>();
			Deque<String> heads = new ArrayDeque<>();
			int from = 0;
			for (int i = 0; i < this.text.length(); i++) {
				char each = this.text.charAt(i);
				if (each == '{') {
					heads.push(this.text.substring(from, i).strip());
					starts.push(i);
				}
				else if (each == '}' && !starts.isEmpty()) {
					String head = heads.pop();
					int start = starts.pop();
					Matcher method = METHOD.matcher(head);
					boolean inType = !heads.isEmpty() && TYPE.matcher(heads.peek()).find();
					if (inType && method.find()) {
						methods.add(new Method(this.name + "." + method.group(1), (int) this.text.substring(start, i)
							.lines()
							.filter((line) -> !line.isBlank())
							.count() + 1));
					}
				}
				if (each == '{' || each == '}' || each == ';') {
					from = i + 1;
				}
			}
			return methods.stream().max(Comparator.comparingInt(Method::lines));
		}

	}

}
