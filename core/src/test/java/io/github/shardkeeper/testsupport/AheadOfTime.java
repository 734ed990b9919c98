package io.github.shardkeeper.testsupport;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.javapoet.ClassName;

/** Applications that are processed ahead of time. */
public final class AheadOfTime {

	private AheadOfTime() {
	}

	/** Returns what processing a context, which was not refreshed, hints to an image. */
	public static RuntimeHints hints(GenericApplicationContext context) {
		DefaultGenerationContext generation = new DefaultGenerationContext(
				new ClassNameGenerator(ClassName.get("com.example", "Application")), new InMemoryGeneratedFiles());
		new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
		return generation.getRuntimeHints();
	}

	/**
	 * Compiles what was generated.
	 * @param sources directory with the sources
	 * @param classes directory for the classes, which may have generated ones
	 * @param classPath of the application
	 */
	public static void compile(Path sources, Path classes, String classPath) {
		List<String> arguments = new ArrayList<>(List.of("-proc:none", "-nowarn", "-d", classes.toString(), "-cp",
				classes + File.pathSeparator + classPath));
		try (Stream<Path> files = Files.walk(sources)) {
			files.filter((path) -> path.toString().endsWith(".java")).map(Path::toString).forEach(arguments::add);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
		if (status != 0) {
			throw new IllegalStateException("The compiler ended with " + status);
		}
	}

}
