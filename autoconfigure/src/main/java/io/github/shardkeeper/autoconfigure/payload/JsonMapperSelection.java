package io.github.shardkeeper.autoconfigure.payload;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * The one mapper of payloads, state, signals and parameters: the bean that
 * {@code shardkeeper.json-mapper} names, else the only or primary one of the application,
 * else a default one. No bean is a mapper itself, because applications look for those.
 * Immutable.
 */
public final class JsonMapperSelection {

	static final String PROPERTY = "shardkeeper.json-mapper";

	private static final Logger logger = PrintableLogger.of(JsonMapperSelection.class);

	private static final String OF_JACKSON_2 = "com.fasterxml.jackson.databind.ObjectMapper";

	/**
	 * The mapper that Spring Boot makes if no bean is declared as a {@link JsonMapper}.
	 * It is primary, which does not say that the application prefers it to its own.
	 */
	private static final String OF_SPRING_BOOT = "jacksonJsonMapper";

	private final JsonMapper mapper;

	/**
	 * Selects the mapper.
	 * @param name the configured name, {@code null} or empty for none
	 * @throws ShardkeeperConfigurationException if there is no such bean, or none of
	 * several is primary
	 */
	public JsonMapperSelection(ConfigurableListableBeanFactory beans, @Nullable String name) {
		if (StringUtils.hasText(name)) {
			this.mapper = named(beans, name);
		}
		else {
			this.mapper = select(beans);
			warnOfJackson2(beans);
		}
	}

	/** Spring Boot ignores them, too: their settings would be gone in silence. */
	private static void warnOfJackson2(ConfigurableListableBeanFactory beans) {
		ClassLoader classes = beans.getBeanClassLoader();
		if (!ClassUtils.isPresent(OF_JACKSON_2, classes)) {
			return;
		}
		Class<?> type = ClassUtils.resolveClassName(OF_JACKSON_2, classes);
		String[] names = beans.getBeanNamesForType(type, true, false);
		if (names.length > 0) {
			logger.warn(
					"The ObjectMapper beans of Jackson 2 do not read and write payloads and state, Jackson 3 does: {}. "
							+ "Declare their settings in a JsonMapper bean, or set '{}' if they are for something else.",
					String.join(", ", names), PROPERTY);
		}
	}

	public JsonMapper mapper() {
		return this.mapper;
	}

	private static JsonMapper named(ConfigurableListableBeanFactory beans, String name) {
		if (beans.containsBean(name) && beans.getBean(name) instanceof JsonMapper mapper) {
			return mapper;
		}
		List<String> names = candidates(beans);
		throw new ShardkeeperConfigurationException(
				"'%s' is '%s', but there is no JsonMapper bean of that name.".formatted(PROPERTY, name),
				names.isEmpty() ? "Define the bean, or leave the property out."
						: "Write one of %s, or leave the property out.".formatted(names));
	}

	private static JsonMapper select(ConfigurableListableBeanFactory beans) {
		List<String> names = candidates(beans);
		if (names.isEmpty()) {
			return (beans.getParentBeanFactory() instanceof ConfigurableListableBeanFactory parent) ? select(parent)
					: new JsonMapper();
		}
		if (names.size() > 1) {
			List<String> primary = names.stream().filter((name) -> isPrimary(beans, name)).toList();
			if (primary.size() != 1) {
				throw ambiguous(names);
			}
			names = primary;
		}
		return beans.getBean(names.get(0), JsonMapper.class);
	}

	private static ShardkeeperConfigurationException ambiguous(List<String> names) {
		boolean besideSpringBoots = names.size() == 2 && names.contains(OF_SPRING_BOOT);
		return new ShardkeeperConfigurationException(
				"There are several JsonMapper beans, and payloads and state need one: %s."
					.formatted(String.join(", ", names)),
				besideSpringBoots
						? "Set '%s' to the name of the one to use; or declare '%s' with the type JsonMapper, then Spring Boot does not make '%s'."
							.formatted(PROPERTY, names.get(names.get(0).equals(OF_SPRING_BOOT) ? 1 : 0), OF_SPRING_BOOT)
						: "Mark one of them as @Primary, or set '%s' to its name.".formatted(PROPERTY));
	}

	/**
	 * Returns the mappers of JSON among the beans that are injected without a qualifier,
	 * also those that are declared with a wider type.
	 */
	private static List<String> candidates(ConfigurableListableBeanFactory beans) {
		List<String> all = new ArrayList<>();
		List<String> others = new ArrayList<>();
		for (String name : beans.getBeanNamesForType(ObjectMapper.class)) {
			if (isInjected(beans, name) && isJson(beans, name)) {
				BeanDefinition definition = definition(beans, name);
				(definition != null && definition.isFallback() ? others : all).add(name);
			}
		}
		return all.isEmpty() ? others : all;
	}

	private static boolean isJson(BeanFactory beans, String name) {
		Class<?> declared = beans.getType(name);
		return declared != null && (JsonMapper.class.isAssignableFrom(declared)
				|| declared.isAssignableFrom(JsonMapper.class) && beans.getBean(name) instanceof JsonMapper);
	}

	private static boolean isInjected(ConfigurableListableBeanFactory beans, String name) {
		BeanDefinition definition = definition(beans, name);
		return definition == null || definition.isAutowireCandidate()
				&& (!(definition instanceof AbstractBeanDefinition full) || full.isDefaultCandidate());
	}

	private static boolean isPrimary(ConfigurableListableBeanFactory beans, String name) {
		BeanDefinition definition = definition(beans, name);
		return definition != null && definition.isPrimary() && !name.equals(OF_SPRING_BOOT);
	}

	/** Returns the definition; {@code null} for a registered singleton. */
	private static @Nullable BeanDefinition definition(ConfigurableListableBeanFactory beans, String name) {
		return beans.containsBeanDefinition(name) ? beans.getMergedBeanDefinition(name) : null;
	}

}
