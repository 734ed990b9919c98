package io.github.shardkeeper.testsupport;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.ParameterDeclarations;

import io.github.shardkeeper.jdbc.TestDatabase;

/**
 * A test that gets a {@link TestDatabase} as its first argument: H2 in the ordinary run,
 * the others in the proof. Its class is {@link MoreInProof}. A test that runs in the
 * proof only gets all of them there.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest
@ArgumentsSource(EveryDatabase.Databases.class)
public @interface EveryDatabase {

	/** The databases of this run. */
	final class Databases implements ArgumentsProvider {

		@Override
		public Stream<Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context) {
			Stream<TestDatabase> databases = all();
			if (Schedules.inProof() && context.getTags().contains("more-in-proof")
					&& !context.getTags().contains("proof")) {
				databases = databases.filter((database) -> database != TestDatabase.H2);
			}
			return databases.map(Arguments::of);
		}

		public static Stream<TestDatabase> all() {
			return Schedules.inProof() ? Arrays.stream(TestDatabase.values()) : Stream.of(TestDatabase.H2);
		}

	}

}
