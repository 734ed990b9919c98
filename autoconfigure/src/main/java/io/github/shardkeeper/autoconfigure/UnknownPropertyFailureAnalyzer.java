package io.github.shardkeeper.autoconfigure;

import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;

/**
 * Says which property below {@code shardkeeper} there is not, and which one may be meant.
 * Before Spring Boot's own analyzer, which knows no others.
 */
@Order(0)
class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, UnboundConfigurationPropertiesException cause) {
		List<ConfigurationProperty> unknown = cause.getUnboundProperties()
			.stream()
			.filter((property) -> PropertyNames.PREFIX.isAncestorOf(property.getName()))
			.toList();
		if (unknown.isEmpty()) {
			return null;
		}
		String description = unknown.stream().map((property) -> {
			String where = (property.getOrigin() != null) ? ", from " + property.getOrigin() + "," : "";
			return "'%s'%s is no property of Shardkeeper.".formatted(property.getName(), where);
		}).collect(Collectors.joining("\n"));
		String action = unknown.stream()
			.map((property) -> PropertyNames.insteadOf(property.getName()))
			.distinct()
			.collect(Collectors.joining("\n"));
		return new FailureAnalysis(description, action, cause);
	}

}
