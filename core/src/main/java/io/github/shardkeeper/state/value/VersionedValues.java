package io.github.shardkeeper.state.value;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TreeNode;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Versions of values in the state. A value of version 2 or later is stored as
 * {@code {"@version":2,"@value":…}}, version 1 as the JSON of the value alone. Immutable,
 * thread-safe.
 */
final class VersionedValues {

	private static final String VERSION = "@version";

	private static final String VALUE = "@value";

	private static final String BEGINNING = "{\"" + VERSION + "\":";

	private final JsonMapper mapper;

	private final Map<Class<?>, StateMigration<?>> migrations = new LinkedHashMap<>();

	private final Map<Class<?>, Optional<StateMigration<?>>> known = new ConcurrentHashMap<>();

	VersionedValues(JsonMapper mapper, Collection<? extends StateMigration<?>> migrations) {
		this.mapper = mapper;
		for (StateMigration<?> each : migrations) {
			check(each);
			StateMigration<?> other = this.migrations.put(each.type(), each);
			if (other != null) {
				throw new ShardkeeperConfigurationException("There are two StateMigration beans for %s: %s and %s."
					.formatted(each.type().getName(), other, each),
						"Write one bean that converts from every earlier version.");
			}
		}
	}

	private static void check(StateMigration<?> migration) {
		Class<?> type = migration.type();
		if (type.isPrimitive() || type.isArray() || type == Object.class || type.getName().startsWith("java.")
				|| TreeNode.class.isAssignableFrom(type)) {
			throw new ShardkeeperConfigurationException(
					"The StateMigration '%s' is for %s, whose values have no version.".formatted(migration,
							type.getTypeName()),
					"Return a class of the application in type(); it may have such a value as its only component.");
		}
		if (migration.version() < 2) {
			throw new ShardkeeperConfigurationException(
					"The StateMigration '%s' has version %d.".formatted(migration, migration.version()),
					"Return 2 or more in version(): what is stored without a version is version 1.");
		}
		if (migration.storedVersion() < 1 || migration.storedVersion() > migration.version()) {
			throw new ShardkeeperConfigurationException(
					"The StateMigration '%s' has version %d and stores version %d.".formatted(migration,
							migration.version(), migration.storedVersion()),
					"Return a number from 1 to %d in storedVersion().".formatted(migration.version()));
		}
	}

	/**
	 * Returns whether a stored value has to be read {@linkplain #read by its version}.
	 */
	boolean isVersioned(String json, Class<?> type) {
		return !this.migrations.isEmpty() && migration(type) != null || json.startsWith(BEGINNING);
	}

	/**
	 * Reads a value.
	 * @throws ValueVersionException if its version is not known here, or cannot be
	 * converted
	 * @throws JacksonException if it does not fit the type
	 */
	<T> @Nullable T read(String json, JavaType type) {
		JsonNode value = this.mapper.readTree(json);
		int version = 1;
		if (json.startsWith(BEGINNING)) {
			version = value.get(VERSION).asInt();
			value = value.get(VALUE);
		}
		StateMigration<?> migration = migration(type.getRawClass());
		int current = (migration != null) ? migration.version() : 1;
		if (version > current && !isOfAnyVersion(type.getRawClass())) {
			throw new ValueVersionException(
					"it was stored as version %d of its class by another version of the application, and %s".formatted(
							version,
							(migration != null) ? "the StateMigration here (%s) knows versions up to %d"
								.formatted(migration, current) : "there is no StateMigration bean for this class here"),
					null);
		}
		if (migration != null && version < current) {
			value = upgraded(migration, value, version);
		}
		return this.mapper.readValue(this.mapper.treeAsTokens(value), type);
	}

	private static JsonNode upgraded(StateMigration<?> migration, JsonNode value, int version) {
		try {
			return Objects.requireNonNull(migration.upgrade(value, version), "null was returned");
		}
		catch (RuntimeException ex) {
			throw new ValueVersionException(
					"the StateMigration '%s' cannot convert version %d of it: %s".formatted(migration, version, ex),
					ex);
		}
	}

	/** For people and reports, who look at the JSON of a value. */
	private static boolean isOfAnyVersion(Class<?> type) {
		return type == Object.class || TreeNode.class.isAssignableFrom(type);
	}

	/**
	 * Returns what is stored of a value, given its JSON.
	 * @throws ValueVersionException if it cannot be converted to the version that is
	 * stored
	 */
	String stored(Object value, String json) {
		StateMigration<?> migration = this.migrations.isEmpty() ? null : migration(value.getClass());
		if (migration == null) {
			// JSON that looks like another version's.
			return json.startsWith(BEGINNING) ? versioned(1, json) : json;
		}
		int version = migration.storedVersion();
		if (version < migration.version()) {
			return versioned(version, this.mapper.writeValueAsString(downgraded(migration, json)));
		}
		return versioned(version, json);
	}

	/** Returns whether what is stored of a value may lack something of it. */
	boolean storesEarlierVersion(Class<?> type) {
		StateMigration<?> migration = this.migrations.isEmpty() ? null : migration(type);
		return migration != null && migration.storedVersion() < migration.version();
	}

	private JsonNode downgraded(StateMigration<?> migration, String json) {
		try {
			return Objects.requireNonNull(migration.downgrade(this.mapper.readTree(json)), "null was returned");
		}
		catch (RuntimeException ex) {
			throw new ValueVersionException("the StateMigration '%s' cannot convert it to version %d: %s"
				.formatted(migration, migration.storedVersion(), ex), ex);
		}
	}

	private static String versioned(int version, String json) {
		return (version > 1 || json.startsWith(BEGINNING)) ? BEGINNING + version + ",\"" + VALUE + "\":" + json + '}'
				: json;
	}

	private @Nullable StateMigration<?> migration(Class<?> type) {
		return this.known.computeIfAbsent(type, this::find).orElse(null);
	}

	/** Finds that of the nearest superclass, else that of an interface. */
	private Optional<StateMigration<?>> find(Class<?> type) {
		for (Class<?> each = type; each != null; each = each.getSuperclass()) {
			StateMigration<?> migration = this.migrations.get(each);
			if (migration != null) {
				return Optional.of(migration);
			}
		}
		return this.migrations.values()
			.stream()
			.filter((each) -> each.type().isAssignableFrom(type))
			.findFirst()
			.map((each) -> each);
	}

}
