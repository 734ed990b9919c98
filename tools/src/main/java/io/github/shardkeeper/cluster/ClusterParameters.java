package io.github.shardkeeper.cluster;

import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.Parameter.Source;

/**
 * Values that all instances of the group share and that change while they run. A
 * parameter has a name, a type and a default; it is declared by a field with
 * {@link ClusterParameter @ClusterParameter} or by {@link #get}. Reading it costs
 * nothing.
 * <p>
 * A change is checked, then stored with version, author and time, and then told to all
 * instances, which have it within a second if they are connected. The last 100 changes of
 * each parameter are kept.
 * <p>
 * Values are text in the store: numbers, booleans, durations, enums and the like as in
 * configuration properties, all else as JSON.
 * <p>
 * Changing a parameter requires the store only, not a session in the group: a parameter
 * has no owner who would have to be fenced, and it may have to be changed just when an
 * instance cannot join, or by a tool that never does. An expected version protects the
 * change of somebody else.
 * <p>
 * Not guaranteed: instances take a change over at slightly different times, so two of
 * them may use different values for a moment, and two parameters that are changed one
 * after the other may be seen in between; put what belongs together into one JSON value.
 * An instance without the store keeps the last values that it knew, or the defaults: see
 * {@link Parameter#source()}. An instance that cannot use a stored value, for example
 * because it runs another version of the application, keeps the value that it has: see
 * {@link Parameter#problem()}. Writes that Redis acknowledged and then lost are lost here
 * too.
 * <p>
 * Thread-safe.
 */
public interface ClusterParameters {

	/** Largest value, as text in UTF-8. */
	int MAX_VALUE_BYTES = 64 * 1024;

	/** Longest name of an author. */
	int MAX_AUTHOR_LENGTH = 200;

	/** Number of changes of a parameter that are kept. */
	int HISTORY_LENGTH = 100;

	/**
	 * Declares a parameter, or returns the one that is declared. Call it once, for
	 * example in a constructor.
	 * @param name 1 to 100 letters, digits, dots, dashes or underscores
	 * @param type the type of its values
	 * @param defaultValue the value that applies while no other is set;
	 * {@code shardkeeper.parameters.<name>} replaces it
	 * @return the parameter, with the stored value if the store has answered
	 * @throws IllegalArgumentException if the name is not valid, or the parameter is
	 * declared with another type or default already
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if the
	 * default is not valid
	 */
	default <T> Parameter<T> get(String name, Class<T> type, T defaultValue) {
		return get(name, type, defaultValue, (value) -> true);
	}

	/**
	 * Declares a parameter like {@link #get(String, Class, Object)}, with a check of its
	 * values on this instance. Several checks of one parameter must all accept a value.
	 * @param check accepts a value, or returns {@code false}, or throws an
	 * {@link IllegalArgumentException} whose message says what is wrong; runs on several
	 * threads
	 */
	<T> Parameter<T> get(String name, Class<T> type, T defaultValue, Predicate<? super T> check);

	/**
	 * Returns all parameters that are declared on this instance, configured, or stored,
	 * ordered by name. Calls nothing.
	 */
	List<State> states();

	/** Returns a parameter that is declared on this instance, configured, or stored. */
	Optional<State> state(String name);

	/**
	 * Sets a value that is given as text. The parameter is declared on this instance:
	 * others cannot be checked.
	 * @return the version
	 * @throws IllegalArgumentException if the parameter is not declared here, or the
	 * value is not valid or too large; the message names parameter, value and constraint
	 * @throws ParameterConflictException if it does not have the expected version
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; unless it was refused, the value may be set. A retry makes sense
	 */
	long set(String name, String value, Update update);

	/**
	 * Resets a parameter to its default, which may differ between instances. It need not
	 * be declared on this instance: there is no value to check.
	 * @return the version
	 * @throws IllegalArgumentException if the name is not valid
	 * @throws ParameterConflictException if it does not have the expected version
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; unless it was refused, the parameter may be reset. A retry makes sense
	 */
	long reset(String name, Update update);

	/**
	 * Sets the value of an earlier version again, as a new version. The parameter is
	 * declared on this instance, as for {@link #set}.
	 * @param version a version of {@link #history}
	 * @return the new version
	 * @throws IllegalArgumentException if the parameter is not declared here, its history
	 * has no such version, or the value is no longer valid here
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; unless it was refused, the value may be set. A retry makes sense
	 */
	default long revert(String name, long version) {
		return revert(name, version, Update.ALWAYS);
	}

	/**
	 * Sets the value of an earlier version again, with an author or only from a version
	 * on. The parameter is declared on this instance, as for {@link #set}.
	 * @param version a version of {@link #history}
	 * @return the new version
	 * @throws IllegalArgumentException if the parameter is not declared here, its history
	 * has no such version, or the value is no longer valid here
	 * @throws ParameterConflictException if it does not have the expected version
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; unless it was refused, the value may be set. A retry makes sense
	 */
	long revert(String name, long version, Update update);

	/**
	 * Reads the last changes of a parameter from the store.
	 * @return the changes, the newest first; empty if it was never set
	 * @throws IllegalArgumentException if the name is not valid
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; a retry makes sense
	 */
	List<Change> history(String name);

	/**
	 * Author and condition of a change. Immutable.
	 *
	 * @param author who makes it, {@code null} for this instance
	 * @param expectedVersion the version that the parameter must have, 0 for none,
	 * {@code null} for any
	 */
	record Update(@Nullable String author, @Nullable Long expectedVersion) {

		/** By this instance, whatever the version is. */
		public static final Update ALWAYS = new Update(null, null);

		public Update {
			if (author != null && (author.isBlank() || author.length() > MAX_AUTHOR_LENGTH)) {
				throw new IllegalArgumentException("The author '%s' is not valid. Use 1 to %d characters"
					.formatted(author.substring(0, Math.min(author.length(), MAX_AUTHOR_LENGTH)), MAX_AUTHOR_LENGTH));
			}
			if (expectedVersion != null && expectedVersion < 0) {
				throw new IllegalArgumentException(
						"The expected version is %d. Use 0 for a parameter that was never set"
							.formatted(expectedVersion));
			}
		}

		/**
		 * Returns this with an author.
		 * @throws IllegalArgumentException if the author is blank or too long
		 */
		public Update by(String author) {
			Objects.requireNonNull(author, "author must not be null");
			return new Update(author, this.expectedVersion);
		}

		/**
		 * Returns this for a parameter that still has a version, so that the change of
		 * somebody else is not overwritten.
		 * @param version as returned by {@link Parameter#version()}
		 */
		public Update ifVersion(long version) {
			return new Update(this.author, version);
		}

	}

	/**
	 * A change of a parameter. Immutable.
	 *
	 * @param version the version; grows with each change of any parameter of the group,
	 * and never repeats
	 * @param time the time, by the store's clock
	 * @param author who made it: the id of an instance, unless another author was given
	 * @param value the value as text, {@code null} for the default
	 */
	record Change(long version, Instant time, String author, @Nullable String value) {

		public Change {
			Objects.requireNonNull(time, "time must not be null");
			Objects.requireNonNull(author, "author must not be null");
		}

	}

	/**
	 * A parameter as this instance sees it. Immutable.
	 *
	 * @param name the name
	 * @param type the type, {@code null} if it is not declared on this instance
	 * @param value the value that applies here, as text; {@code null} if it is reset and
	 * not declared here
	 * @param defaultValue the default, as text; {@code null} if it has none here
	 * @param source where the value comes from
	 * @param version the version of the value, 0 if the store has none
	 * @param time the time of its change, {@code null} if the store has none
	 * @param author the author of its change, {@code null} if the store has none
	 * @param problem why the stored value does not apply here, {@code null} if it does
	 */
	record State(String name, @Nullable String type, @Nullable String value, @Nullable String defaultValue,
			Source source, long version, @Nullable Instant time, @Nullable String author, @Nullable String problem) {

		public State {
			Objects.requireNonNull(name, "name must not be null");
			Objects.requireNonNull(source, "source must not be null");
		}

	}

}
