package io.github.shardkeeper.actuate;

import java.lang.reflect.RecordComponent;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.core.ResolvableType;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.report.DeadLetterReport;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.OperationReport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/**
 * Replies of all endpoints: a native image can write each of them as JSON, and one that
 * the store does not reply is not a failure of the application.
 */
class EndpointAnswersTests {

	private static final String OURS = "io.github.shardkeeper";

	private static final JavaClasses CLASSES = new ClassFileImporter()
		.withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
		.importPackages(OURS + ".actuate", OURS + ".dashboard");

	@Test
	void everyAnswerCanBeWrittenByANativeImage() {
		List<JavaClass> endpoints = CLASSES.stream()
			.filter((type) -> type.isMetaAnnotatedWith(Endpoint.class) || type.isAnnotatedWith(Endpoint.class)
					|| type.isAnnotatedWith(EndpointWebExtension.class))
			.toList();
		RuntimeHints hints = new RuntimeHints();
		new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(hints,
				endpoints.stream().map(JavaClass::reflect).toArray(Class<?>[]::new));

		Set<Class<?>> replies = new LinkedHashSet<>();
		endpoints.forEach((endpoint) -> answersOf(endpoint).forEach((reply) -> addWithParts(reply, replies)));

		assertThat(endpoints).hasSizeGreaterThanOrEqualTo(7);
		assertThat(replies).contains(GroupReport.class, OperationReport.class, DeadLetterReport.class,
				ShardsWebExtension.Refusal.class, ClusterParametersWebExtension.Conflict.class);
		assertThat(replies).allSatisfy((reply) -> {
			assertThat(RuntimeHintsPredicates.reflection().onType(reply)).as("%s", reply)
				.matches((hinted) -> hinted.test(hints));
			for (RecordComponent component : Optional.ofNullable(reply.getRecordComponents())
				.orElse(new RecordComponent[0])) {
				assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(component.getAccessor()))
					.as("%s", component.getAccessor())
					.matches((hinted) -> hinted.test(hints));
			}
		});
	}

	/**
	 * Returns what an endpoint declares to return, and what it creates, or gets from
	 * others and returns as a part of a {@link WebEndpointResponse}.
	 */
	private static Set<Class<?>> answersOf(JavaClass endpoint) {
		Stream<ResolvableType> declared = Stream.of(endpoint.reflect().getDeclaredMethods())
			.filter((method) -> method.getAnnotations().length > 0)
			.map(ResolvableType::forMethodReturnType);
		Stream<Class<?>> wrapped = endpoint.isAnnotatedWith(EndpointWebExtension.class) ? Stream.concat(
				endpoint.getConstructorCallsFromSelf().stream().map((call) -> call.getTargetOwner().reflect()),
				endpoint.getMethodCallsFromSelf().stream().map((call) -> call.getTarget().getRawReturnType().reflect()))
				: Stream.of();
		return Stream.concat(declared.map((type) -> type.resolve(Object.class)), wrapped.filter(Class::isRecord))
			.filter(EndpointAnswersTests::isOurs)
			.filter((type) -> !type.getSimpleName().endsWith("Request"))
			.collect(Collectors.toCollection(LinkedHashSet::new));
	}

	private static void addWithParts(Class<?> reply, Set<Class<?>> all) {
		if (!isOurs(reply) || !all.add(reply) || reply.getRecordComponents() == null) {
			return;
		}
		for (RecordComponent component : reply.getRecordComponents()) {
			addWithParts(ResolvableType.forMethodReturnType(component.getAccessor()), all);
		}
	}

	private static void addWithParts(ResolvableType type, Set<Class<?>> all) {
		addWithParts(type.resolve(Object.class), all);
		for (ResolvableType part : type.getGenerics()) {
			addWithParts(part, all);
		}
	}

	private static boolean isOurs(Class<?> type) {
		return type.getName().startsWith(OURS + ".") && (type.isRecord() || type.isEnum());
	}

	@Test
	void parameterThatTheStoreDoesNotTakeIsAnsweredWithTheReason() {
		ClusterParameters parameters = mock(ClusterParameters.class);
		when(parameters.state("speed")).thenReturn(Optional.of(mock(ClusterParameters.State.class)));
		when(parameters.set(any(), any(), any())).thenThrow(new StoreUnavailableException("Redis: gone", null));
		when(parameters.reset(any(), any())).thenThrow(new StoreUnavailableException("Redis: gone", null));
		ClusterParametersWebExtension extension = new ClusterParametersWebExtension(
				new ClusterParametersEndpoint(() -> Optional.of(parameters)));

		for (WebEndpointResponse<Object> reply : List.of(extension.set(SecurityContext.NONE, "speed", "1", null, null),
				extension.reset(SecurityContext.NONE, "speed", null))) {
			assertThat(reply.getStatus()).isEqualTo(503);
			assertThat(reply.getBody()).isEqualTo(new ShardsWebExtension.Refusal("Redis: gone"));
		}
	}

}
