package io.github.shardkeeper.benchmarks.moves.group;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

import org.springframework.boot.loader.tools.Layouts;
import org.springframework.boot.loader.tools.Library;
import org.springframework.boot.loader.tools.LibraryScope;
import org.springframework.boot.loader.tools.Repackager;
import org.springframework.util.FileSystemUtils;

import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.Libraries;

/**
 * Jar of {@link UsersInstance} with the libraries that such an application has, as Spring
 * Boot's build plugins make it. Classes load from it as they do for users. Has no state.
 */
final class BootJar {

	private BootJar() {
	}

	/** Makes the jar when it is first needed; it is deleted with this JVM. */
	static Path users() {
		return Holder.USERS;
	}

	private static Path create() throws IOException {
		Path directory = Files.createTempDirectory("shardkeeper-benchmark-jar");
		Runtime.getRuntime().addShutdownHook(new Thread(() -> FileSystemUtils.deleteRecursively(directory.toFile())));
		Path classes = directory.resolve("classes");
		ClassPath.copy(List.of(UsersInstance.class, ShardkeeperInstance.class, TraceWriter.class, Payload.class),
				classes);
		File source = pack(classes, directory.resolve("source.jar"));
		List<File> libraries = libraries(directory);
		Path jar = directory.resolve("application.jar");
		Repackager repackager = new Repackager(source);
		repackager.setMainClass(UsersInstance.class.getName());
		repackager.setLayout(new Layouts.Jar());
		repackager.repackage(jar.toFile(), (callback) -> {
			for (File library : libraries) {
				callback.library(new Library(library, LibraryScope.COMPILE));
			}
		});
		return jar;
	}

	private static List<File> libraries(Path directory) throws IOException {
		List<File> libraries = new ArrayList<>();
		for (String name : ClassPath.allEntries()) {
			Path entry = Path.of(name);
			if (Libraries.SHARDKEEPER_WEB.contain(entry)) {
				libraries.add(Files.isDirectory(entry) ? packModule(entry, directory) : entry.toFile());
			}
		}
		return libraries;
	}

	private static File packModule(Path classes, Path directory) throws IOException {
		return pack(classes, directory.resolve("shardkeeper-" + Libraries.module(classes) + ".jar"));
	}

	private static File pack(Path classes, Path jar) throws IOException {
		try (OutputStream file = Files.newOutputStream(jar);
				JarOutputStream packed = new JarOutputStream(file);
				Stream<Path> all = Files.walk(classes)) {
			for (Path each : all.filter(Files::isRegularFile).toList()) {
				packed.putNextEntry(new JarEntry(classes.relativize(each).toString().replace(File.separatorChar, '/')));
				Files.copy(each, packed);
			}
		}
		return jar.toFile();
	}

	private static final class Holder {

		private static final Path USERS;

		static {
			try {
				USERS = create();
			}
			catch (IOException ex) {
				throw new IllegalStateException("The application's jar cannot be made", ex);
			}
		}

	}

}
