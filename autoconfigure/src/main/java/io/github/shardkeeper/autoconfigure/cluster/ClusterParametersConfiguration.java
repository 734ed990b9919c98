package io.github.shardkeeper.autoconfigure.cluster;

import java.lang.reflect.Field;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import jakarta.validation.ConstraintViolation;
import jakarta.validation.Validator;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

import io.github.shardkeeper.autoconfigure.payload.JsonMapperSelection;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.parameter.ClusterParameterFields;
import io.github.shardkeeper.cluster.parameter.ParameterStore;
import io.github.shardkeeper.cluster.parameter.StoredParameters;
import io.github.shardkeeper.cluster.parameter.ValueConstraints;
import io.github.shardkeeper.cluster.parameter.ValueFormat;
import io.github.shardkeeper.cluster.session.CallbackThreads;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.coordination.member.CoordinationSettings;

/**
 * Parameters, created for the first bean that injects them or has an annotated field.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ParameterStore.class)
@ConditionalOnBean(ParameterStore.class)
public class ClusterParametersConfiguration {

	@Bean
	static ClusterParameterFields shardkeeperClusterParameterFields(ObjectProvider<StoredParameters> parameters) {
		return new ClusterParameterFields(parameters::getIfAvailable);
	}

	/** Otherwise nobody tells it that all singletons exist. */
	@Bean
	@Lazy(false)
	ParametersInUse shardkeeperParametersInUse(ObjectProvider<ClusterSession> session) {
		return new ParametersInUse(session);
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean(ClusterParameters.class)
	StoredParameters shardkeeperClusterParameters(CoordinationSettings settings, ParameterStore store,
			ShardkeeperProperties properties, JsonMapperSelection json, ObjectProvider<ValueConstraints> constraints,
			CallbackThreads callbacks, ParametersInUse use) {
		StoredParameters parameters = new StoredParameters(settings.group(), settings.instance(), store,
				properties.parameters(),
				new ValueFormat(ApplicationConversionService.getSharedInstance(), json.mapper()),
				constraints.getIfUnique(() -> ValueConstraints.NONE), callbacks::execute);
		use.begin(parameters);
		return parameters;
	}

	/**
	 * Lets the parameters follow the store once all singletons exist: beans with
	 * parameters may be among those that the session needs. Thread-safe.
	 */
	public static final class ParametersInUse implements SmartInitializingSingleton {

		private final ObjectProvider<ClusterSession> session;

		/** Guarded by this, as is {@link #ready}. */
		private @Nullable StoredParameters parameters;

		private boolean ready;

		ParametersInUse(ObjectProvider<ClusterSession> session) {
			this.session = session;
		}

		void begin(StoredParameters created) {
			boolean follow;
			synchronized (this) {
				this.parameters = created;
				follow = this.ready;
			}
			if (follow) {
				created.follow(this.session.getObject());
			}
		}

		@Override
		public void afterSingletonsInstantiated() {
			StoredParameters created;
			synchronized (this) {
				this.ready = true;
				created = this.parameters;
			}
			if (created != null) {
				created.follow(this.session.getObject());
			}
		}

		/** Returns the parameters; empty if nothing has used them yet. */
		public synchronized Optional<ClusterParameters> find() {
			return Optional.ofNullable(this.parameters);
		}

	}

	/** A class of its own, because Jakarta Validation is optional. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Validator.class)
	static class ValidationConfiguration {

		@Bean
		@Lazy
		ValueConstraints shardkeeperValueConstraints(ObjectProvider<Validator> validator) {
			Validator only = validator.getIfAvailable();
			return (only != null) ? (field, value) -> violation(only, field, value) : ValueConstraints.NONE;
		}

		private static @Nullable String violation(Validator validator, @Nullable Field field, Object value) {
			Set<ConstraintViolation<?>> found = new LinkedHashSet<>();
			if (field != null) {
				found.addAll(validator.validateValue(field.getDeclaringClass(), field.getName(), value));
			}
			if (!value.getClass().getName().startsWith("java.")) {
				validator.validate(value).forEach((violation) -> found.add(violation));
			}
			return found.isEmpty() ? null
					: found.stream()
						.map((violation) -> text(violation, field))
						.sorted()
						.collect(Collectors.joining(", "));
		}

		private static String text(ConstraintViolation<?> violation, @Nullable Field field) {
			String path = violation.getPropertyPath().toString();
			boolean whole = path.isEmpty() || field != null && path.equals(field.getName());
			return "%s%s (@%s)".formatted(whole ? "it " : path + " ", violation.getMessage(),
					violation.getConstraintDescriptor().getAnnotation().annotationType().getSimpleName());
		}

	}

}
