package io.github.shardkeeper.jdbc;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.support.ParameterDeclarations;

import io.github.shardkeeper.testsupport.EveryDatabase;

/** Every database of this run with every isolation level that transactions may have. */
final class IsolationLevels implements ArgumentsProvider {

	private static final List<String> LEVELS = List.of("TRANSACTION_READ_COMMITTED", "TRANSACTION_REPEATABLE_READ",
			"TRANSACTION_SERIALIZABLE");

	@Override
	public Stream<Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context) {
		return EveryDatabase.Databases.all()
			.flatMap((kind) -> LEVELS.stream().map((level) -> Arguments.of(kind, level)));
	}

}
