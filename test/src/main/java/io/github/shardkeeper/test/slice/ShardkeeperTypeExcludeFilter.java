package io.github.shardkeeper.test.slice;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.TypeExcludeFilter;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.filter.AssignableTypeFilter;

import io.github.shardkeeper.FailureHandler;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.ShardRecordFilter;
import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.ShardSendInterceptor;
import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.fixed.ShardNames;

/**
 * Excludes from component scanning what is neither a handler of the test nor part of how
 * handlers are called. Immutable.
 */
final class ShardkeeperTypeExcludeFilter extends TypeExcludeFilter {

	private static final List<Class<?>> PARTS = List.of(FailureHandler.class, ShardInterceptor.class,
			ShardSendInterceptor.class, ShardRecordFilter.class, PayloadConverter.class, ShardSelector.class,
			StateMigration.class, ShardNames.class, AssignmentStrategy.class, ShardCatalog.class);

	private final List<Class<?>> handlers;

	ShardkeeperTypeExcludeFilter(Class<?> testClass) {
		this.handlers = ShardkeeperTestContextCustomizerFactory.handlers(testClass);
	}

	@Override
	public boolean match(MetadataReader reader, MetadataReaderFactory factory) throws IOException {
		if (this.handlers.isEmpty()
				&& reader.getAnnotationMetadata().hasAnnotatedMethods(ShardConsumer.class.getName())) {
			return false;
		}
		for (Class<?> type : Stream.concat(PARTS.stream(), this.handlers.stream()).toList()) {
			if (new AssignableTypeFilter(type).match(reader, factory)) {
				return false;
			}
		}
		return true;
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof ShardkeeperTypeExcludeFilter that && this.handlers.equals(that.handlers);
	}

	@Override
	public int hashCode() {
		return this.handlers.hashCode();
	}

}
