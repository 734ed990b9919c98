package io.github.shardkeeper.autoconfigure.properties;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.boot.env.OriginTrackedMapPropertySource;
import org.springframework.boot.origin.OriginTrackedValue;
import org.springframework.core.env.AbstractEnvironment;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Environment of a group of {@code shardkeeper.groups}: below {@code shardkeeper} it has
 * the properties of the group, and those of {@code shardkeeper} that the group does not
 * set; everything else is as in the application. Thread-safe.
 */
public final class GroupEnvironment extends AbstractEnvironment {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("shardkeeper");

	private static final ConfigurationPropertyName GROUP = PREFIX.append("group");

	private static final ConfigurationPropertyName STORE = PREFIX.append("store");

	private static final ConfigurationPropertyName TOPICS = PREFIX.append("topics");

	static final ConfigurationPropertyName GROUPS = PREFIX.append("groups");

	/** What is of one group, because it is of a topic or names the group elsewhere. */
	private static final List<ConfigurationPropertyName> NOT_INHERITED = Stream
		.of("group", "groups", "topics", "kafka.topics", "kafka.mirror-group", "sls.topics", "sls.consumer-group")
		.map((name) -> PREFIX.append(name))
		.toList();

	private final String name;

	private final Set<String> known;

	private GroupEnvironment(ConfigurableEnvironment application, String name) {
		this.name = name;
		this.known = known(application);
		setActiveProfiles(application.getActiveProfiles());
		setDefaultProfiles(application.getDefaultProfiles());
		setConversionService(application.getConversionService());
		addGroup(application);
		getPropertySources().addLast(new Inherited(application));
		ConfigurationPropertySources.attach(this);
	}

	/** Returns the environment of a group of an application. */
	public static ConfigurableEnvironment of(ConfigurableEnvironment application, String name) {
		return new GroupEnvironment(application, name);
	}

	/**
	 * Returns the names of the groups that an application has beside the one without a
	 * name; none in the environment of such a group.
	 */
	public static Set<String> names(Environment environment) {
		Map<ConfigurationPropertyName, String> names = new LinkedHashMap<>();
		if (!(environment instanceof GroupEnvironment)) {
			// The last source, mostly a file, has the name as it is written.
			properties(environment, GROUPS, (source, property) -> names.put(property.getName().chop(3),
					property.getName().getElement(2, Form.ORIGINAL)));
		}
		return new TreeSet<>(names.values());
	}

	/** Returns the name of the group; empty in the environment of the application. */
	public static String name(Environment environment) {
		return (environment instanceof GroupEnvironment group) ? group.name : "";
	}

	/** Returns the names of all groups of the application; one may be empty. */
	public static Set<String> known(Environment environment) {
		if (environment instanceof GroupEnvironment group) {
			return group.known;
		}
		Set<String> known = names(environment);
		if (isGroup(environment)) {
			known.add("");
		}
		return known;
	}

	/**
	 * Returns whether the properties below {@code shardkeeper} configure a group: always,
	 * unless the application has groups with names and sets neither the name nor a topic
	 * of another one.
	 */
	public static boolean isGroup(Environment environment) {
		boolean[] configured = { names(environment).isEmpty() };
		properties(environment, PREFIX, (source, property) -> configured[0] |= property.getName().equals(GROUP)
				|| TOPICS.isAncestorOf(property.getName()));
		return configured[0];
	}

	/**
	 * Returns what is written for {@code shardkeeper} in the application's properties.
	 */
	public static String prefix(Environment environment) {
		return prefix(name(environment));
	}

	private static String prefix(String name) {
		return name.isEmpty() ? PREFIX.toString() : property(name).toString();
	}

	private static ConfigurationPropertyName property(String name) {
		return GROUPS
			.append(ConfigurationPropertyName.isValid(name) && name.indexOf('.') < 0 ? name : "[" + name + "]");
	}

	private void addGroup(ConfigurableEnvironment application) {
		ConfigurationPropertyName own = property(this.name);
		Set<ConfigurationPropertyName> seen = new HashSet<>();
		Map<String, Object> values = new LinkedHashMap<>();
		Map<String, Object> unchecked = new LinkedHashMap<>();
		UnboundElementsSourceFilter checked = new UnboundElementsSourceFilter();
		properties(application, own, (source, property) -> {
			ConfigurationPropertyName below = PREFIX.append(property.getName().subName(own.getNumberOfElements()));
			if (below.equals(GROUP) || below.equals(STORE)) {
				throw new ShardkeeperConfigurationException("'%s' is set.".formatted(property.getName()),
						below.equals(GROUP) ? "Remove it: the name of the group is '%s'.".formatted(this.name)
								: "Set 'shardkeeper.store' instead: all groups of an application have the same store.");
			}
			if (seen.add(below)) {
				(checked.apply(source) ? values : unchecked).put(below.toString(),
						OriginTrackedValue.of(property.getValue(), property.getOrigin()));
			}
		});
		values.put(GROUP.toString(), this.name);
		// Variables and system properties have names of other software, too.
		getPropertySources().addLast(new OriginTrackedMapPropertySource(
				StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME, unchecked));
		getPropertySources().addLast(new OriginTrackedMapPropertySource(prefix(this.name), values));
	}

	private static void properties(Environment environment, ConfigurationPropertyName prefix, Visitor visitor) {
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			if (source instanceof IterableConfigurationPropertySource iterable) {
				iterable.stream().filter(prefix::isAncestorOf).forEach((name) -> {
					ConfigurationProperty property = source.getConfigurationProperty(name);
					if (property != null) {
						visitor.visit(source, property);
					}
				});
			}
		}
	}

	@FunctionalInterface
	private interface Visitor {

		void visit(ConfigurationPropertySource source, ConfigurationProperty property);

	}

	/**
	 * What the group shares with the application. Lists no names: what is inherited is
	 * checked where it is set.
	 */
	private static final class Inherited extends PropertySource<Object> {

		/** Not the source itself, whose sources Spring Boot would take for it. */
		private final ConfigurableEnvironment application;

		Inherited(ConfigurableEnvironment application) {
			super("application");
			this.application = application;
		}

		/** Values have their placeholders, which the group's environment replaces. */
		@Override
		public @Nullable Object getProperty(String name) {
			ConfigurationPropertyName property = ConfigurationPropertyName.isValid(name)
					? ConfigurationPropertyName.of(name) : null;
			if (property != null && PREFIX.isAncestorOf(property)) {
				return shared(property);
			}
			for (PropertySource<?> source : this.application.getPropertySources()) {
				Object value = source.getProperty(name);
				if (value != null) {
					return value;
				}
			}
			return null;
		}

		private @Nullable Object shared(ConfigurationPropertyName name) {
			if (NOT_INHERITED.stream().anyMatch((apart) -> apart.equals(name) || apart.isAncestorOf(name))) {
				return null;
			}
			for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.application)) {
				ConfigurationProperty property = source.getConfigurationProperty(name);
				if (property != null) {
					return property.getValue();
				}
			}
			return null;
		}

	}

}
