package io.github.shardkeeper.benchmarks;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * Entries of this JVM's class path, for JVMs that get a part of them. Has no state.
 */
public final class ClassPath {

	private ClassPath() {
	}

	/** Lists the entries, including those that the manifest of a jar names. */
	public static List<String> entries() {
		List<String> entries = new ArrayList<>();
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			entries.add(entry);
			if (entry.endsWith(".jar")) {
				entries.addAll(named(Path.of(entry).toAbsolutePath()));
			}
		}
		return entries;
	}

	/**
	 * Lists the entries, and the libraries that only some processes have: Kafka's broker,
	 * PostgreSQL, web and actuator.
	 */
	public static List<String> allEntries() {
		List<String> entries = new ArrayList<>(entries());
		String more = librariesOfProcesses();
		if (!more.isEmpty()) {
			try (Stream<Path> files = Files.list(Path.of(more).getParent())) {
				files.sorted().map(Path::toString).forEach(entries::add);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		return entries;
	}

	/**
	 * Returns a pattern for the libraries that only some processes have. It is empty
	 * without the jar of the benchmarks, as in tests: then they are among the
	 * {@linkplain #entries() entries}.
	 */
	public static String librariesOfProcesses() {
		try {
			Path classes = Path.of(ClassPath.class.getProtectionDomain().getCodeSource().getLocation().toURI());
			return Files.isRegularFile(classes) ? classes.resolveSibling("processes") + File.separator + "*" : "";
		}
		catch (URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Copies classes with their nested classes, so that a JVM can have them alone. */
	public static void copy(List<Class<?>> classes, Path directory) throws IOException {
		for (Class<?> each : classes) {
			String name = each.getName().replace('.', '/') + ".class";
			Path file = directory.resolve(name);
			Files.createDirectories(file.getParent());
			try (InputStream bytes = each.getClassLoader().getResourceAsStream(name)) {
				Files.copy(Objects.requireNonNull(bytes), file, StandardCopyOption.REPLACE_EXISTING);
			}
			copy(List.of(each.getDeclaredClasses()), directory);
		}
	}

	private static List<String> named(Path jar) {
		try (JarFile file = new JarFile(jar.toFile())) {
			String named = (file.getManifest() != null)
					? file.getManifest().getMainAttributes().getValue(Attributes.Name.CLASS_PATH) : null;
			return (named == null) ? List.of()
					: Arrays.stream(named.split(" "))
						.map((name) -> jar.resolveSibling(name))
						.filter((path) -> path.toFile().exists())
						.map(Path::toString)
						.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot read " + jar, ex);
		}
	}

}
