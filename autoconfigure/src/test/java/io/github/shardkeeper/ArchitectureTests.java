package io.github.shardkeeper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The floor plan. It lists exactly the arrows that exist: a new or removed arrow changes
 * a test.
 */
class ArchitectureTests {

	private static final String ROOT = "io.github.shardkeeper";

	/** Room of the API for applications. */
	private static final String API = "api";

	private static final Set<String> PURE = Set.of("shard", "report", "assignment", "assignment.sticky",
			"assignment.rules", "assignment.load", "assignment.selection", "directive", "protocol", "protocol.leader",
			"protocol.member", "schedule", "parking");

	/** Directories of the modules whose classes are on the class path of this test. */
	private static final Set<String> MODULES = Set.of("core", "memory", "operations", "tools", "test", "redis", "kafka",
			"sls", "jdbc", "autoconfigure");

	private static final JavaClasses CLASSES = new ClassFileImporter()
		.withImportOption(new ImportOption.DoNotIncludeTests())
		.withImportOption((location) -> !location.contains("-tests.jar"))
		.importPackages(ROOT);

	@Test
	void arrowsGoDownOnly() {
		Map<String, Set<String>> plan = new LinkedHashMap<>();
		plan.put("text", Set.of());
		plan.put("shard", Set.of("text"));
		plan.put(API, Set.of("shard"));
		plan.put("time", Set.of());
		plan.put("schedule", Set.of("shard"));
		plan.put("parking", Set.of("time", "shard"));
		plan.put("loop", Set.of("time", "text"));
		plan.put("assignment", Set.of("shard"));
		plan.put("assignment.sticky", Set.of("assignment", "shard"));
		plan.put("assignment.rules", Set.of("assignment", "shard"));
		plan.put("assignment.load", Set.of("assignment.sticky", "assignment", "shard"));
		plan.put("assignment.selection",
				Set.of("assignment.sticky", "assignment.rules", "assignment.load", "assignment", "shard"));
		plan.put("directive", Set.of("assignment", "shard", "text"));
		plan.put("protocol", Set.of("assignment.load", "assignment", "time", "shard", "text"));
		plan.put("protocol.member", Set.of("protocol", "time", "shard"));
		plan.put("protocol.leader",
				Set.of("protocol", "directive", "assignment.load", "assignment.sticky", "assignment", "time", "shard"));
		plan.put("source", Set.of("time", API, "shard", "text"));
		plan.put("source.memory", Set.of("source", "time", API, "shard"));
		plan.put("source.fixed", Set.of("source", "shard"));
		plan.put("template", Set.of("source", "time", API, "shard", "text"));
		plan.put("checkpoint", Set.of(API, "shard", "text"));
		plan.put("checkpoint.memory", Set.of("checkpoint", "shard"));
		plan.put("checkpoint.routing", Set.of("checkpoint", API, "shard"));
		plan.put("state.value", Set.of("checkpoint", API, "shard", "text"));
		plan.put("state", Set.of("state.value", "checkpoint", API, "text"));
		plan.put("output", Set.of("checkpoint", "source", "time", API, "shard", "text"));
		plan.put("coordination.store",
				Set.of("protocol.leader", "protocol.member", "protocol", "directive", API, "shard"));
		plan.put("coordination.member", Set.of("coordination.store", "protocol.leader", "protocol.member", "protocol",
				"directive", "assignment", "loop", "time", API, "shard", "text"));
		plan.put("coordination.leader", Set.of("coordination.member", "coordination.store", "protocol.leader",
				"protocol.member", "protocol", "directive", "assignment", "loop", "time", API, "shard", "text"));
		plan.put("coordination",
				Set.of("coordination.leader", "coordination.member", "coordination.store", "protocol.leader",
						"protocol.member", "protocol", "directive", "assignment", "loop", "time", API, "shard",
						"text"));
		plan.put("report", Set.of("coordination", "shard"));
		plan.put("history", Set.of("report", "coordination.store", "protocol", "loop", "time", API, "shard", "text"));
		plan.put("coordination.memory", Set.of("coordination.store", "protocol.leader", "protocol.member", "protocol",
				"directive", "time", "shard", "text"));
		plan.put("cluster", Set.of("shard"));
		plan.put("cluster.session", Set.of("cluster", "coordination", "coordination.member", "coordination.store",
				"loop", "time", API, "shard", "text"));
		plan.put("cluster.barrier", Set.of("cluster.session", "cluster", "time", API, "shard", "text"));
		plan.put("cluster.parameter", Set.of("cluster.session", "cluster", "loop", API, "shard", "text"));
		plan.put("handler", Set.of("checkpoint", "source", "schedule", API, "shard", "text"));
		plan.put("cluster.lock", Set.of("handler", "cluster.session", "cluster", "loop", "time", API, "shard", "text"));
		plan.put("cluster.signal",
				Set.of("handler", "source", "loop", "time", "cluster.session", "cluster", API, "shard", "text"));
		plan.put("cluster.memory",
				Set.of("cluster.signal", "cluster.lock", "cluster.parameter", "cluster.barrier", "cluster.session",
						"cluster", "coordination.memory", "coordination.store", "protocol", "shard", "text"));
		plan.put("handler.messaging", Set.of("handler", "source", API, "shard"));
		plan.put("worker.record", Set.of("state", "checkpoint", "source", "shard"));
		plan.put("worker.shard", Set.of("worker.record", "handler", "coordination.member", "output", "state",
				"state.value", "checkpoint", "source", "loop", "parking", "time", API, "shard", "text"));
		plan.put("worker.retry",
				Set.of("worker.record", "worker.shard", "checkpoint", "source", "parking", "time", "shard", "text"));
		plan.put("worker.timer",
				Set.of("worker.retry", "worker.record", "worker.shard", "handler", "checkpoint", "time", API, "shard"));
		plan.put("worker.progress", Set.of("worker.timer", "worker.retry", "worker.shard", "worker.record", "output",
				"state", "checkpoint", "source", "time", "shard", "text"));
		plan.put("worker.commit",
				Set.of("worker.progress", "worker.timer", "worker.retry", "worker.shard", "worker.record", "handler",
						"output", "state", "checkpoint", "source", "protocol.member", "loop", "time", API, "shard",
						"text"));
		plan.put("worker.call", Set.of("worker.commit", "worker.progress", "worker.shard", "worker.record", "handler",
				"state", "source", "protocol", "loop", "time", API));
		plan.put("worker.failure", Set.of("worker.record", "worker.shard", "worker.retry", "worker.progress",
				"worker.call", "handler", "checkpoint", "source", "schedule", "loop", "time", API, "shard", "text"));
		plan.put("worker",
				Set.of("worker.failure", "worker.call", "worker.commit", "worker.progress", "worker.timer",
						"worker.retry", "worker.shard", "worker.record", "handler", "coordination.member", "output",
						"state", "checkpoint", "source", "protocol.member", "protocol", "loop", "schedule", "time", API,
						"shard", "text"));
		plan.put("consumer", Set.of("worker", "worker.failure", "worker.shard", "worker.record", "handler",
				"coordination", "coordination.member", "output", "state", "state.value", "checkpoint", "source",
				"protocol.leader", "protocol.member", "protocol", "directive", "loop", "time", API, "shard", "text"));
		plan.put("operations.stored",
				Set.of("coordination.store", "state.value", "checkpoint", "source", "directive", API, "shard", "text"));
		plan.put("operations.request",
				Set.of("operations.stored", "source", "protocol", "directive", API, "shard", "text"));
		plan.put("operations.reporting",
				Set.of("operations.request", "report", "coordination", "coordination.member", "coordination.store",
						"checkpoint", "source", "protocol", "directive", "loop", "schedule", "time", API, "shard",
						"text"));
		plan.put("operations.housekeeping",
				Set.of("coordination.member", "checkpoint", "source", "loop", "time", API, "shard", "text"));
		plan.put("operations.steering", Set.of("operations.request", "coordination", "coordination.store",
				"protocol.leader", "protocol", "directive", "shard"));
		plan.put("operations.failure", Set.of("operations.request", "report", "checkpoint", API, "shard"));
		plan.put("operations",
				Set.of("operations.failure", "operations.steering", "operations.reporting", "operations.request",
						"report", "coordination", "coordination.member", "coordination.store", "checkpoint", "source",
						"protocol", API, "shard", "text"));
		plan.put("test", Set.of("worker.timer", "coordination.memory", "coordination.store", "checkpoint.memory",
				"state", "state.value", "checkpoint", "source.memory", "source", API, "shard"));
		plan.put("test.slice",
				Set.of("consumer", "worker.shard", "handler", "coordination", "coordination.member",
						"coordination.memory", "coordination.store", "output", "state", "state.value", "checkpoint",
						"checkpoint.memory", "source", "source.memory", "source.fixed", "assignment", "protocol",
						"directive", "loop", "time", API, "shard"));
		plan.put("redis", Set.of(API, "shard", "text"));
		plan.put("redis.coordination", Set.of("redis", "history", "coordination.store", "protocol.leader",
				"protocol.member", "protocol", "directive", API, "shard", "text"));
		plan.put("redis.checkpoint", Set.of("redis", "checkpoint", API, "shard", "text"));
		plan.put("redis.cluster",
				Set.of("redis.coordination", "redis", "cluster.signal", "cluster.lock", "cluster.parameter",
						"cluster.barrier", "cluster.session", "cluster", "coordination.store", "protocol", API, "shard",
						"text"));
		plan.put("redis.stream", Set.of("redis", "source", API, "shard", "text"));
		plan.put("kafka.client", Set.of("source", "loop", "time", API, "shard", "text"));
		plan.put("kafka.record", Set.of("kafka.client", "source", API, "shard", "text"));
		plan.put("kafka.reading",
				Set.of("kafka.record", "kafka.client", "source", "loop", "time", API, "shard", "text"));
		plan.put("kafka",
				Set.of("kafka.reading", "kafka.record", "kafka.client", "source", "time", API, "shard", "text"));
		plan.put("sls", Set.of("source", "time", API, "shard", "text"));
		plan.put("jdbc", Set.of("checkpoint", "loop", "time", API, "shard", "text"));
		plan.put("observation", Set.of("template", API, "shard"));
		plan.put("actuate",
				Set.of("operations", "operations.reporting", "operations.request", "consumer", "worker.failure",
						"worker.shard", "worker.record", "cluster", "history", "report", "coordination",
						"coordination.member", "output", "template", "directive", "loop", API, "shard", "text"));
		plan.put("dashboard", Set.of("loop", "time"));
		plan.put("autoconfigure.client", Set.of());
		plan.put("autoconfigure.payload", Set.of("handler.messaging", "handler", "source", "shard", "text"));
		plan.put("autoconfigure.properties",
				Set.of("autoconfigure.payload", "worker.shard", "history", "coordination.member", "coordination.store",
						"checkpoint", "template", "source", "protocol", "assignment.load", "schedule", API, "shard",
						"text"));
		plan.put("autoconfigure.failure", Set.of("autoconfigure.properties", API, "shard"));
		plan.put("autoconfigure.source",
				Set.of("autoconfigure.properties", "autoconfigure.payload", "autoconfigure.client", "sls", "kafka",
						"kafka.record", "kafka.client", "operations.stored", "output", "template", "source.fixed",
						"source", API, "shard", "text"));
		plan.put("autoconfigure.store",
				Set.of("autoconfigure.source", "autoconfigure.properties", "autoconfigure.payload",
						"autoconfigure.client", "jdbc", "redis.stream", "redis.cluster", "redis.checkpoint",
						"redis.coordination", "redis", "operations.housekeeping", "consumer", "worker.shard",
						"cluster.memory", "cluster.signal", "cluster.lock", "handler", "cluster.parameter",
						"cluster.barrier", "cluster.session", "coordination.memory", "history", "coordination",
						"coordination.member", "coordination.store", "checkpoint.memory", "checkpoint.routing",
						"checkpoint", "source", "time", API, "shard", "text"));
		plan.put("autoconfigure.cluster",
				Set.of("autoconfigure.properties", "autoconfigure.payload", "cluster.signal", "cluster.lock", "handler",
						"cluster.parameter", "cluster.barrier", "cluster.session", "cluster", "coordination",
						"coordination.member", "coordination.store", "time", "shard"));
		plan.put("autoconfigure",
				Set.of("autoconfigure.cluster", "autoconfigure.store", "autoconfigure.source", "autoconfigure.failure",
						"autoconfigure.properties", "autoconfigure.payload", "actuate", "observation", "kafka",
						"operations", "operations.housekeeping", "operations.reporting", "operations.request",
						"operations.stored", "consumer", "worker.shard", "handler", "cluster", "history",
						"coordination", "coordination.member", "coordination.store", "output", "state.value",
						"checkpoint", "template", "source.fixed", "source.memory", "source", "protocol",
						"assignment.selection", "assignment.load", "assignment", "loop", "time", API, "shard", "text"));
		plan.put("autoconfigure.dashboard", Set.of("autoconfigure", "dashboard", "actuate", "operations.reporting",
				"operations.request", "history", "report", "coordination.member", "loop", "time", API, "text"));
		plan.put("autoconfigure.group", Set.of("autoconfigure", "autoconfigure.properties", "actuate", "consumer",
				"checkpoint", "coordination.member", "coordination.store", "source", API, "shard", "text"));

		assertThat(lines(arrows(ArchitectureTests::room))).containsExactlyInAnyOrderElementsOf(lines(plan));
		List<String> below = new ArrayList<>();
		plan.forEach((room, arrows) -> {
			assertThat(below).as("rooms below " + room).containsAll(arrows);
			below.add(room);
		});
	}

	/**
	 * The page leaves out the API, {@code shard} and {@code text}, which most rooms use.
	 */
	@Test
	void thePageHasTheSameArrows() throws IOException {
		Set<String> everywhere = Set.of(API, "shard", "text");
		Map<String, Set<String>> arrows = arrows(ArchitectureTests::room);
		arrows.values().forEach((uses) -> uses.removeAll(everywhere));
		Map<String, Set<String>> documented = new TreeMap<>();
		String page = Files.readString(Path.of("..", "docs", "internals", "architecture.md"));
		page.substring(page.indexOf("| room |"))
			.lines()
			.skip(2)
			.takeWhile((row) -> row.startsWith("|"))
			.forEach((row) -> {
				String[] cells = row.split("\\|");
				String room = cells[1].strip().equals("root") ? API : cells[1].strip().replace("`", "");
				Set<String> uses = cells[3].strip().equals("everything") ? arrows.get(room)
						: Set.of(cells[3].replaceAll("[`–]", "").strip().split("\\s+"));
				documented.put(room, uses.equals(Set.of("")) ? Set.of() : uses);
			});

		assertThat(lines(documented)).containsExactlyInAnyOrderElementsOf(lines(arrows));
	}

	@Test
	void noPackageStandsInTwoModules() {
		Map<String, Set<String>> modules = new TreeMap<>();
		for (JavaClass type : CLASSES) {
			modules.computeIfAbsent(type.getPackageName(), (name) -> new TreeSet<>()).add(module(type));
		}

		assertThat(modules).allSatisfy((name, of) -> assertThat(of).hasSize(1));
		assertThat(modules.values().stream().flatMap(Set::stream).collect(Collectors.toSet())).isEqualTo(MODULES);
	}

	@Test
	void thereAreNoCycles() {
		slices().matching(ROOT + ".(**)")
			.should()
			.beFreeOfCycles()
			.ignoreDependency(DescribedPredicate.alwaysTrue(), equivalentTo(Internal.class))
			.check(CLASSES);
	}

	@Test
	void librariesAreUsedWhereTheyBelong() {
		Map<String, Set<String>> plan = new TreeMap<>();
		plan.put(API, Set.of("spring", "jackson"));
		plan.put("text", Set.of("slf4j"));
		plan.put("shard", Set.of());
		plan.put("report", Set.of());
		plan.put("time", Set.of());
		plan.put("schedule", Set.of("spring"));
		plan.put("parking", Set.of());
		plan.put("loop", Set.of("spring", "slf4j"));
		plan.put("assignment", Set.of());
		plan.put("assignment.sticky", Set.of());
		plan.put("assignment.rules", Set.of());
		plan.put("assignment.load", Set.of());
		plan.put("assignment.selection", Set.of());
		plan.put("directive", Set.of());
		plan.put("protocol", Set.of());
		plan.put("protocol.member", Set.of());
		plan.put("protocol.leader", Set.of());
		plan.put("source", Set.of("jackson", "slf4j"));
		plan.put("source.memory", Set.of());
		plan.put("source.fixed", Set.of());
		plan.put("template", Set.of("slf4j"));
		plan.put("checkpoint", Set.of("jackson"));
		plan.put("checkpoint.memory", Set.of());
		plan.put("checkpoint.routing", Set.of());
		plan.put("state.value", Set.of("jackson"));
		plan.put("state", Set.of("jackson"));
		plan.put("output", Set.of("slf4j"));
		plan.put("coordination.store", Set.of());
		plan.put("coordination.member", Set.of("slf4j"));
		plan.put("coordination.leader", Set.of("slf4j"));
		plan.put("coordination", Set.of("slf4j"));
		plan.put("history", Set.of("slf4j"));
		plan.put("coordination.memory", Set.of("slf4j"));
		plan.put("cluster", Set.of("spring"));
		plan.put("cluster.session", Set.of("spring", "slf4j"));
		plan.put("cluster.lock", Set.of("spring", "slf4j"));
		plan.put("cluster.barrier", Set.of("slf4j"));
		plan.put("cluster.signal", Set.of("spring", "slf4j"));
		plan.put("cluster.parameter", Set.of("spring", "jackson", "slf4j"));
		plan.put("cluster.memory", Set.of("slf4j"));
		plan.put("handler", Set.of("spring", "slf4j", "reactor"));
		plan.put("handler.messaging", Set.of("spring", "spring-messaging"));
		plan.put("worker.record", Set.of());
		plan.put("worker.shard", Set.of("spring", "slf4j"));
		plan.put("worker.retry", Set.of("slf4j"));
		plan.put("worker.timer", Set.of());
		plan.put("worker.progress", Set.of("slf4j"));
		plan.put("worker.commit", Set.of("slf4j"));
		plan.put("worker.call", Set.of("spring"));
		plan.put("worker.failure", Set.of("spring", "slf4j"));
		plan.put("worker", Set.of("slf4j"));
		plan.put("consumer", Set.of("spring", "slf4j"));
		plan.put("operations.stored", Set.of("jackson"));
		plan.put("operations.request", Set.of("slf4j"));
		plan.put("operations.reporting", Set.of("slf4j"));
		plan.put("operations.housekeeping", Set.of("slf4j"));
		plan.put("operations.steering", Set.of());
		plan.put("operations.failure", Set.of());
		plan.put("operations", Set.of("slf4j", "spring"));
		plan.put("test", Set.of("lettuce", "apache-kafka", "spring", "spring-boot", "junit", "assertj", "awaitility",
				"embedded-redis", "jackson"));
		plan.put("test.slice", Set.of("spring", "spring-boot", "junit"));
		plan.put("redis", Set.of("lettuce", "spring", "spring-data", "slf4j"));
		plan.put("redis.coordination", Set.of("lettuce", "jackson", "slf4j"));
		plan.put("redis.checkpoint", Set.of("lettuce", "slf4j"));
		plan.put("redis.cluster", Set.of("lettuce"));
		plan.put("redis.stream", Set.of("lettuce", "slf4j"));
		plan.put("kafka.client", Set.of("apache-kafka", "slf4j"));
		plan.put("kafka.record", Set.of("apache-kafka", "slf4j"));
		plan.put("kafka.reading", Set.of("apache-kafka", "slf4j"));
		plan.put("kafka", Set.of("apache-kafka", "slf4j"));
		plan.put("sls", Set.of("aliyun-log", "httpclient", "jackson", "slf4j"));
		plan.put("jdbc", Set.of("spring", "hikari", "slf4j"));
		plan.put("observation", Set.of("micrometer"));
		plan.put("actuate", Set.of("spring", "spring-boot", "micrometer", "slf4j"));
		plan.put("dashboard", Set.of("spring", "spring-boot", "servlet", "reactor"));
		plan.put("autoconfigure.dashboard", Set.of("spring", "spring-boot", "jackson", "reactor", "slf4j"));
		plan.put("autoconfigure.payload",
				Set.of("slf4j", "jackson", "jakarta-validation", "spring", "spring-boot", "spring-messaging"));
		plan.put("autoconfigure.client", Set.of("lettuce", "spring"));
		plan.put("autoconfigure.properties", Set.of("slf4j", "spring", "spring-boot"));
		plan.put("autoconfigure.failure", Set.of("spring"));
		plan.put("autoconfigure.source",
				Set.of("aliyun-log", "apache-kafka", "micrometer", "slf4j", "spring", "spring-boot"));
		plan.put("autoconfigure.store", Set.of("lettuce", "slf4j", "spring", "spring-boot", "spring-data"));
		plan.put("autoconfigure.cluster", Set.of("jakarta-validation", "spring", "spring-boot"));
		plan.put("autoconfigure", Set.of("micrometer", "slf4j", "spring", "spring-boot"));
		plan.put("autoconfigure.group", Set.of("slf4j", "spring", "spring-boot"));

		assertThat(lines(arrows(ArchitectureTests::library))).containsExactlyInAnyOrderElementsOf(lines(plan));
	}

	@Test
	void publicApiUsesOnlyHintsOfSpring() {
		noClasses().that()
			.resideInAPackage(ROOT)
			.should()
			.dependOnClassesThat(DescribedPredicate.describe("are Spring's, but no hint",
					(type) -> type.getPackageName().startsWith("org.springframework")
							&& !type.getPackageName().equals("org.springframework.aot.hint.annotation")))
			.check(CLASSES);
	}

	@Test
	void thePureRoomsKnowNoThreadsAndNoClocks() {
		noClasses().that(arePure())
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("java.util.concurrent..", "java.io..", "java.net..", "java.nio..")
			.orShould()
			.dependOnClassesThat()
			.haveNameMatching(
					"java\\.lang\\.(Thread|ThreadLocal|Runtime|Process.*)|java\\.util\\.(Timer|Random)|java\\.time\\.(Clock|InstantSource)")
			.check(CLASSES);
		assertThat(callers("java.lang.System", "nanoTime", "currentTimeMillis"))
			.noneMatch((type) -> PURE.contains(room(type)));
		assertThat(callers("java.time.Instant", "now")).noneMatch((type) -> PURE.contains(room(type)));
	}

	/**
	 * All others get the time from there; the Redis rooms and {@code sls} measure
	 * timeouts.
	 */
	@Test
	void theMonotonicClockIsReadInOnePlace() {
		assertThat(names(callers("java.lang.System", "nanoTime"))).containsExactlyInAnyOrder("MonotonicClock",
				"PendingReplies", "RedisCoordinationStore", "ScriptTimes", "StreamShardCounts", "SlsShardSource",
				"StartupTimeout", "StreamFetcher");
	}

	/**
	 * Substitutes in memory for the clocks of stores and source; the time at which people
	 * see that a record has failed, or that somebody has changed something; the time of a
	 * log that is sent; the age that meters show; the clock that is compared with Redis;
	 * the age of the application; and the clock by which a reader of the state finds what
	 * has expired.
	 */
	@Test
	void theWallClockIsReadInOnePlacePerStoreInMemoryAndForPeople() {
		assertThat(names(Stream
			.of(callers("java.lang.System", "currentTimeMillis"), callers("java.time.Instant", "now"),
					callers("java.time.InstantSource", "system"), callers("java.time.Clock"))
			.flatMap(Set::stream)
			.collect(Collectors.toSet()))).containsExactlyInAnyOrder("SystemClock", "MemoryCheckpointStore",
					"MemoryMoveHistory", "ClusterToolsConfiguration", "JdbcDataPlane", "MeterConfiguration",
					"OperationAudit", "RedisConnector", "SlsShardSource");
	}

	/** Others would write what they are given, line breaks included. */
	@Test
	void loggersArePrintable() {
		assertThat(names(callers("org.slf4j.LoggerFactory", "getLogger"))).containsExactly("PrintableLogger");
	}

	@Test
	void threadsSleepOnlyBetweenTwoAttempts() {
		assertThat(names(callers("java.lang.Thread", "sleep"))).containsExactly("LoopThread");
	}

	/** The application may block all of its threads. */
	@Test
	void nothingRunsOnTheCommonPool() {
		noClasses().should()
			.callMethodWhere(
					DescribedPredicate.describe("work is left to the common pool", ArchitectureTests::usesCommonPool))
			.check(CLASSES);
	}

	private static boolean usesCommonPool(JavaMethodCall call) {
		String name = call.getName();
		return call.getTargetOwner().isAssignableTo(CompletionStage.class)
				&& (name.endsWith("Async") || name.equals("delayedExecutor"))
				&& call.getTarget().getRawParameterTypes().stream().noneMatch(equivalentTo(Executor.class));
	}

	@Test
	void packageNamesHaveAMeaning() {
		Set<String> words = CLASSES.stream()
			.flatMap((type) -> Stream.of(type.getPackageName().split("\\.")))
			.collect(Collectors.toSet());

		assertThat(words).doesNotContain("util", "utils", "impl", "internal", "service", "model", "common", "commons",
				"core", "helper", "misc");
	}

	private static Map<String, Set<String>> arrows(Function<JavaClass, String> end) {
		Map<String, Set<String>> arrows = new TreeMap<>();
		for (JavaClass type : CLASSES) {
			Set<String> ends = arrows.computeIfAbsent(room(type), (room) -> new TreeSet<>());
			type.getDirectDependenciesFromSelf()
				.stream()
				.map(Dependency::getTargetClass)
				.map(JavaClass::getBaseComponentType)
				// A mark, which all rooms may have.
				.filter((target) -> !target.isEquivalentTo(Internal.class))
				.map(end)
				.filter((room) -> !room.isEmpty() && !room.equals(room(type)))
				.forEach(ends::add);
		}
		return arrows;
	}

	/** The rooms, and their arrows one by one. */
	private static Set<String> lines(Map<String, Set<String>> arrows) {
		Set<String> lines = new TreeSet<>(arrows.keySet());
		arrows.forEach((from, ends) -> ends.forEach((to) -> lines.add(from + " -> " + to)));
		return lines;
	}

	private static String module(JavaClass type) {
		String location = type.getSource().orElseThrow().getUri().toString();
		return MODULES.stream()
			.filter((module) -> location.contains("/" + module + "/target/")
					|| location.contains("/shardkeeper-" + module + "/"))
			.findFirst()
			.orElse(location);
	}

	/** Returns the package below the root; empty for other libraries. */
	private static String room(JavaClass type) {
		String name = type.getPackageName();
		if (name.equals(ROOT)) {
			return API;
		}
		return name.startsWith(ROOT + ".") ? name.substring(ROOT.length() + 1) : "";
	}

	private static String library(JavaClass type) {
		String name = type.getPackageName();
		Map<String, String> libraries = new LinkedHashMap<>();
		libraries.put("java.", "");
		libraries.put("javax.net.", "");
		libraries.put("javax.sql", "");
		libraries.put(ROOT, "");
		libraries.put("org.jspecify.", "");
		libraries.put("org.springframework.boot.", "spring-boot");
		libraries.put("org.springframework.data.", "spring-data");
		libraries.put("org.springframework.messaging.", "spring-messaging");
		libraries.put("org.springframework.", "spring");
		libraries.put("org.aopalliance.", "spring");
		libraries.put("jakarta.validation", "jakarta-validation");
		libraries.put("jakarta.servlet", "servlet");
		libraries.put("reactor.", "reactor");
		libraries.put("io.lettuce.", "lettuce");
		libraries.put("org.apache.kafka.", "apache-kafka");
		libraries.put("kafka.", "apache-kafka");
		libraries.put("com.aliyun.openservices.log", "aliyun-log");
		libraries.put("org.apache.hc.", "httpclient");
		libraries.put("tools.jackson.", "jackson");
		libraries.put("io.micrometer.", "micrometer");
		libraries.put("com.zaxxer.hikari", "hikari");
		libraries.put("org.slf4j", "slf4j");
		libraries.put("org.junit.", "junit");
		libraries.put("org.assertj.", "assertj");
		libraries.put("org.awaitility", "awaitility");
		libraries.put("redis.embedded", "embedded-redis");
		for (Map.Entry<String, String> entry : libraries.entrySet()) {
			if (name.startsWith(entry.getKey())) {
				return entry.getValue();
			}
		}
		return name;
	}

	private static DescribedPredicate<JavaClass> arePure() {
		return DescribedPredicate.describe("are in a pure room", (type) -> PURE.contains(room(type)));
	}

	/**
	 * Types of the product, not of its test kit, that call one of these methods, or any
	 * of that type when none is named.
	 */
	private static Set<JavaClass> callers(String owner, String... methods) {
		Set<String> names = Set.of(methods);
		return CLASSES.stream()
			.filter((type) -> !room(type).startsWith("test"))
			.filter((type) -> type.getAccessesFromSelf()
				.stream()
				.map((access) -> (AccessTarget) access.getTarget())
				.anyMatch((target) -> target.getOwner().getName().equals(owner)
						&& (names.isEmpty() || names.contains(target.getName()))))
			.collect(Collectors.toSet());
	}

	private static List<String> names(Set<JavaClass> types) {
		return types.stream().map(JavaClass::getSimpleName).toList();
	}

}
