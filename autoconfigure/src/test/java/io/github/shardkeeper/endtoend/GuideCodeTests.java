package io.github.shardkeeper.endtoend;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The Java code on the pages compiles.
 */
class GuideCodeTests {

	private static final Path TOP = Path.of("..");

	private static final Pattern BLOCK = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);

	private static final String IMPORTS = """
			package io.github.shardkeeper.endtoend;
			import com.aliyun.openservices.log.common.auth.*;
			import com.example.DirectorySource;
			import com.google.protobuf.MessageLite;
			import io.github.shardkeeper.*;
			import io.github.shardkeeper.ShardPositions.Seek;
			import io.github.shardkeeper.ShardTemplate.Outgoing;
			import io.github.shardkeeper.assignment.*;
			import io.github.shardkeeper.autoconfigure.client.*;
			import io.github.shardkeeper.cluster.*;
			import io.github.shardkeeper.cluster.ClusterParameters.Update;
			import io.github.shardkeeper.observation.*;
			import io.github.shardkeeper.shard.*;
			import io.github.shardkeeper.source.*;
			import io.github.shardkeeper.source.ShardAppender.NewRecord;
			import io.github.shardkeeper.source.fixed.*;
			import io.github.shardkeeper.test.*;
			import io.github.shardkeeper.test.slice.*;
			import io.lettuce.core.protocol.ProtocolVersion;
			import io.micrometer.common.KeyValues;
			import jakarta.validation.Valid;
			import jakarta.validation.constraints.*;
			import java.io.*;
			import java.lang.annotation.*;
			import java.lang.reflect.Type;
			import java.nio.charset.StandardCharsets;
			import java.nio.file.*;
			import java.time.*;
			import java.util.*;
			import java.util.concurrent.CompletableFuture;
			import java.util.stream.Stream;
			import org.apache.kafka.clients.consumer.Consumer;
			import org.apache.kafka.clients.consumer.ConsumerRecord;
			import org.jspecify.annotations.Nullable;
			import org.slf4j.MDC;
			import org.junit.jupiter.api.*;
			import org.junit.jupiter.api.extension.RegisterExtension;
			import org.junit.jupiter.api.io.TempDir;
			import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
			import org.springframework.beans.factory.annotation.Autowired;
			import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
			import org.springframework.boot.test.context.SpringBootTest;
			import org.springframework.context.ConfigurableApplicationContext;
			import org.springframework.context.annotation.Bean;
			import org.springframework.core.annotation.AliasFor;
			import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
			import org.springframework.kafka.annotation.KafkaListener;
			import org.springframework.kafka.core.KafkaTemplate;
			import org.springframework.kafka.listener.*;
			import org.springframework.kafka.support.KafkaHeaders;
			import org.springframework.messaging.Message;
			import org.springframework.messaging.handler.annotation.Header;
			import org.springframework.messaging.handler.annotation.Payload;
			import org.springframework.jdbc.core.simple.JdbcClient;
			import org.springframework.scheduling.annotation.Scheduled;
			import org.springframework.stereotype.Component;
			import org.springframework.stereotype.Service;
			import org.springframework.test.context.DynamicPropertyRegistry;
			import org.springframework.test.context.DynamicPropertySource;
			import org.springframework.test.context.bean.override.mockito.MockitoBean;
			import org.springframework.util.backoff.FixedBackOff;
			import tools.jackson.core.type.TypeReference;
			import tools.jackson.databind.JsonNode;
			import tools.jackson.databind.node.ObjectNode;
			import static org.assertj.core.api.Assertions.assertThat;
			import static org.mockito.Mockito.*;
			""";

	private static final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();

	/** One for all pages: each would read the class path again. */
	private static StandardJavaFileManager files;

	@BeforeAll
	static void openFiles() throws IOException {
		files = compiler.getStandardFileManager(null, Locale.ROOT, null);
		files.setLocation(StandardLocation.CLASS_PATH,
				Stream.of(System.getProperty("java.class.path").split(File.pathSeparator)).map(File::new).toList());
	}

	@AfterAll
	static void closeFiles() throws IOException {
		files.close();
	}

	@ParameterizedTest
	@MethodSource("pages")
	void everyBlockCompiles(Path page) throws IOException {
		List<String> blocks = BLOCK.matcher(Files.readString(page)).results().map((block) -> block.group(1)).toList();
		List<JavaFileObject> sources = new ArrayList<>();
		for (int i = 0; i < blocks.size(); i++) {
			sources.add(source("Block" + i, blocks.get(i)));
		}
		DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
		// Nothing is written: the compiler ends when it has found all errors.
		compiler.getTask(null, files, found, List.of("-proc:none", "-XDshould-stop.ifNoError=FLOW"), null, sources)
			.call();

		assertThat(found.getDiagnostics()).filteredOn((problem) -> problem.getKind() == Diagnostic.Kind.ERROR)
			.extracting((problem) -> problem.getSource().getName() + ": " + problem.getMessage(Locale.ROOT))
			.isEmpty();
	}

	/** Returns the pages with code. */
	static Stream<Path> pages() throws IOException {
		List<Path> pages = new ArrayList<>(List.of(TOP.resolve("README.md"), TOP.resolve("README.zh-CN.md")));
		try (Stream<Path> all = Files.walk(TOP.resolve("docs"))) {
			all.filter((path) -> path.toString().endsWith(".md")).sorted().forEach(pages::add);
		}
		pages.removeIf((page) -> !BLOCK.matcher(read(page)).find());
		assertThat(pages).hasSizeGreaterThan(8);
		return pages.stream();
	}

	private static String read(Path page) {
		try {
			return Files.readString(page);
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * An ellipsis stands for the reader's code; a bean's constructor is omitted.
	 */
	private static JavaFileObject source(String name, String block) {
		String code = block.replace("{ … }", "{ }")
			.replace("-> …", "-> { }")
			.replace("implements ShardSource", "implements RestOfASource")
			.replaceAll("(?m)^\\s*…\\s*$", "")
			.replaceAll("(?m)^(\\tprivate) final (ShardTemplate shards;)$", "$1 $2")
			.strip();
		boolean member = Pattern.compile("^(@|static |record |class |final class |public final class )")
			.matcher(code)
			.find();
		if (!member) {
			code = "void run() {\n" + (code.contains(";") ? code : "Object value = " + code + ";") + "\n}";
		}
		String source = IMPORTS + "class " + name + " extends GuideSurroundings {\n" + code + "\n}\n";
		return new SimpleJavaFileObject(URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {

			@Override
			public CharSequence getCharContent(boolean ignoreEncodingErrors) {
				return source;
			}

		};
	}

}
