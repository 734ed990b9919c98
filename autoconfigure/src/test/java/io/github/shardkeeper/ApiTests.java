package io.github.shardkeeper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What applications may use: public types that are not {@link Internal}, and whose
 * package is not. The list shows in a review what a change adds to it or takes from it.
 */
class ApiTests {

	private static final String ROOT = "io.github.shardkeeper";

	private static final Path LIST = Path.of("..", "docs", "reference", "api.txt");

	private static final JavaClasses CLASSES = new ClassFileImporter()
		.withImportOption(new ImportOption.DoNotIncludeTests())
		.withImportOption((location) -> !location.contains("-tests.jar"))
		.importPackages(ROOT);

	@Test
	void theListNamesWhatApplicationsMayUse() throws IOException {
		List<String> lines = api().flatMap(ApiTests::lines).toList();
		Path actual = Files.write(Path.of("target", "api.txt"), lines);

		assertThat(lines).as("If the API changes on purpose, copy autoconfigure/%s to docs/reference/api.txt", actual)
			.isEqualTo(Files.readAllLines(LIST));
	}

	@Test
	void theApiNamesNothingInternal() {
		Set<String> leaks = new TreeSet<>();
		api().forEach((type) -> named(type).filter((each) -> each.getPackageName().startsWith(ROOT) && !isApi(each))
			.forEach((each) -> leaks.add(type.getName() + " names " + each.getName())));

		assertThat(leaks).isEmpty();
	}

	@Test
	void internalTypesArePublicOnlyIfAnotherPackageUsesThem() {
		Set<String> alone = CLASSES.stream()
			.filter((type) -> type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC)
					&& !isApi(type))
			.filter((type) -> family(type).flatMap((each) -> each.getDirectDependenciesToSelf().stream())
				.allMatch((use) -> use.getOriginClass().getPackageName().equals(type.getPackageName())))
			// Spring finds these by name, or by their annotations.
			.filter((type) -> type.getAnnotations().isEmpty())
			.map(JavaClass::getSimpleName)
			// What benchmarks measure, or tests of another package call.
			.filter((name) -> !Set
				.of("ControlScripts", "GroupPicture", "LoadReports", "ShardData", "ShardkeeperFailureAnalyzer",
						"SignalHandler")
				.contains(name))
			.collect(Collectors.toCollection(TreeSet::new));

		assertThat(alone).isEmpty();
	}

	private static Stream<JavaClass> family(JavaClass type) {
		return CLASSES.stream().filter((each) -> each.equals(type) || each.getName().startsWith(type.getName() + "$"));
	}

	private static Stream<JavaClass> api() {
		return CLASSES.stream()
			.filter((type) -> !type.getSimpleName().equals("package-info") && isApi(type))
			.sorted(Comparator.comparing(JavaClass::getName));
	}

	private static boolean isApi(JavaClass type) {
		return isVisible(type.getModifiers()) && !type.isAnnotatedWith(Internal.class)
				&& type.getEnclosingClass().map(ApiTests::isApi).orElseGet(() -> isApi(type.getPackageName()));
	}

	private static boolean isApi(String room) {
		Optional<JavaClass> info = CLASSES.contain(room + ".package-info")
				? Optional.of(CLASSES.get(room + ".package-info")) : Optional.empty();
		return info.filter((each) -> each.isAnnotatedWith(Internal.class)).isEmpty();
	}

	private static boolean isVisible(Set<JavaModifier> modifiers) {
		return (modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED))
				&& !modifiers.contains(JavaModifier.SYNTHETIC) && !modifiers.contains(JavaModifier.BRIDGE);
	}

	/** Types that a caller or a subclass of a type meets. */
	private static Stream<JavaClass> named(JavaClass type) {
		Stream<JavaType> above = Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream());
		return Stream
			.concat(above.flatMap((each) -> each.getAllInvolvedRawTypes().stream()),
					members(type)
						.flatMap((member) -> Stream.concat(member.getAllInvolvedRawTypes().stream(), thrown(member))))
			.map(JavaClass::getBaseComponentType);
	}

	private static Stream<JavaClass> thrown(JavaMember member) {
		return (member instanceof JavaCodeUnit unit)
				? unit.getThrowsClause().getTypes().stream().map(JavaType::toErasure) : Stream.empty();
	}

	private static Stream<JavaMember> members(JavaClass type) {
		return type.getMembers()
			.stream()
			.filter((member) -> isVisible(member.getModifiers()))
			.filter((member) -> !Set.of("equals", "hashCode", "toString", "values", "valueOf")
				.contains(member.getName()));
	}

	private static Stream<String> lines(JavaClass type) {
		String kind = type.isAnnotation() ? "@interface"
				: type.isInterface() ? "interface" : type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
		return Stream.concat(Stream.of(kind + " " + type.getName()),
				members(type).map(ApiTests::line).sorted().map((line) -> "  " + line));
	}

	private static String line(JavaMember member) {
		String type = (member instanceof JavaCodeUnit unit) ? unit.getRawReturnType().getSimpleName()
				: member.getAllInvolvedRawTypes().iterator().next().getSimpleName();
		String parameters = (member instanceof JavaCodeUnit unit) ? unit.getRawParameterTypes()
			.stream()
			.map(JavaClass::getSimpleName)
			.collect(Collectors.joining(", ", "(", ")")) : "";
		return member.getName().equals("<init>") ? "new" + parameters : member.getName() + parameters + " " + type;
	}

}
