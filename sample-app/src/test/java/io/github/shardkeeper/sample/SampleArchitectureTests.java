package io.github.shardkeeper.sample;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

@AnalyzeClasses(packagesOf = SampleApplication.class, importOptions = DoNotIncludeTests.class)
class SampleArchitectureTests {

	private static final String SAMPLE = "io.github.shardkeeper.sample";

	@ArchTest
	static final ArchRule onlyPublicApiIsUsed = noClasses().should()
		.dependOnClassesThat(resideInAPackage("io.github.shardkeeper..")
			.and(resideOutsideOfPackages(SAMPLE + "..", "io.github.shardkeeper", "io.github.shardkeeper.shard")));

	@ArchTest
	static final ArchRule nothingNeedsTheLocalRedis = noClasses().that()
		.resideOutsideOfPackage(SAMPLE + ".local")
		.should()
		.dependOnClassesThat(resideInAPackage(SAMPLE + ".local"));

	@ArchTest
	static final ArchRule handlerDoesNotDependOnTheFeed = noClasses().that()
		.resideInAPackage(SAMPLE)
		.should()
		.dependOnClassesThat(resideInAPackage(SAMPLE + ".feed"));

}
