package io.github.shardkeeper.cluster.parameter;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.beans.PropertyValues;
import org.springframework.beans.factory.config.InstantiationAwareBeanPostProcessor;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ReflectionUtils;

import io.github.shardkeeper.cluster.ClusterParameter;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Binds the fields of beans that have {@link ClusterParameter @ClusterParameter}. The
 * parameters are created with the first one. Thread-safe.
 */
public final class ClusterParameterFields implements InstantiationAwareBeanPostProcessor {

	private static final Logger logger = PrintableLogger.of(ClusterParameterFields.class);

	private final Supplier<@Nullable StoredParameters> parameters;

	private final Map<Class<?>, List<Field>> fields = new ConcurrentHashMap<>();

	/**
	 * Creates it.
	 * @param parameters is called only for beans with such fields; {@code null} if the
	 * application has replaced the parameters, for example in a test
	 */
	public ClusterParameterFields(Supplier<@Nullable StoredParameters> parameters) {
		this.parameters = parameters;
	}

	@Override
	public PropertyValues postProcessProperties(PropertyValues properties, Object bean, String beanName) {
		for (Field field : this.fields.computeIfAbsent(bean.getClass(), ClusterParameterFields::find)) {
			StoredParameters bound = this.parameters.get();
			if (bound != null) {
				bound.bind(bean, field, name(field));
			}
			else {
				logger.warn("The field {} with @ClusterParameter keeps its initial value, because the application "
						+ "replaces ClusterParameters", where(field));
			}
		}
		return properties;
	}

	static List<Field> find(Class<?> type) {
		if (!AnnotationUtils.isCandidateClass(type, ClusterParameter.class)) {
			return List.of();
		}
		List<Field> found = new ArrayList<>();
		ReflectionUtils.doWithFields(type, found::add, (field) -> field.isAnnotationPresent(ClusterParameter.class));
		for (Field field : found) {
			int modifiers = field.getModifiers();
			if (Modifier.isStatic(modifiers) || Modifier.isFinal(modifiers) || !Modifier.isVolatile(modifiers)) {
				throw new ShardkeeperConfigurationException(
						"The field %s has @ClusterParameter, but is %s.".formatted(where(field),
								Modifier.isStatic(modifiers) ? "static"
										: Modifier.isFinal(modifiers) ? "final"
												: "not volatile, so that threads may never see a change"),
						"Declare it as 'private volatile %s %s'.".formatted(field.getType().getSimpleName(),
								field.getName()));
			}
			Names.requireValid(name(field), "@ClusterParameter of the field " + where(field));
			field.setAccessible(true);
		}
		return List.copyOf(found);
	}

	private static String name(Field field) {
		return field.getAnnotation(ClusterParameter.class).value();
	}

	private static String where(Field field) {
		return field.getDeclaringClass().getSimpleName() + "." + field.getName();
	}

}
