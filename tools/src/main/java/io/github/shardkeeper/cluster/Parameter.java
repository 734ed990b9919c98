package io.github.shardkeeper.cluster;

import java.util.Optional;
import java.util.function.Consumer;

import io.github.shardkeeper.cluster.ClusterParameters.Update;

/**
 * A parameter of the group with its type: see {@link ClusterParameters} for what is
 * guaranteed. Thread-safe.
 *
 * @param <T> the type of its values
 */
public interface Parameter<T> {

	/** Returns the name of the parameter. */
	String name();

	/**
	 * Returns the value. Reads a volatile field: no command, no lock. All callers get the
	 * same object, so do not change it.
	 */
	T get();

	/** Returns the value that applies while no other is set. */
	T defaultValue();

	/**
	 * Returns where the value comes from. A store that is away is noticed at the end of
	 * the lease ({@code shardkeeper.session.lease}) at the latest.
	 */
	Source source();

	/**
	 * Returns the version of the value.
	 * @return the version; 0 if the store has none
	 */
	long version();

	/**
	 * Returns why the stored value does not apply here: it cannot be read, or is not
	 * valid.
	 * @return the problem; empty if there is none
	 */
	Optional<String> problem();

	/**
	 * Sets the value for the whole group. On this instance it applies when the method
	 * returns.
	 * @return the version
	 * @throws IllegalArgumentException if the value is not valid or too large; the
	 * message names parameter, value and constraint
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; unless it was refused, the value may be set. A retry makes sense
	 */
	default long set(T value) {
		return set(value, Update.ALWAYS);
	}

	/**
	 * Sets the value for the whole group, with an author or only from a version on.
	 * @return the version
	 * @throws IllegalArgumentException if the value is not valid or too large
	 * @throws ParameterConflictException if it does not have the expected version
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; unless it was refused, the value may be set. A retry makes sense
	 */
	long set(T value, Update update);

	/**
	 * Adds a listener to the value. It is called with the current value, and after each
	 * change to another one, in order, on another thread, never in parallel with itself.
	 * Several changes in quick succession may be reported as the last one. A listener
	 * that throws is logged and called again next time.
	 * @return removes the listener
	 */
	Runnable onChange(Consumer<? super T> listener);

	/** Origin of a value. */
	enum Source {

		/** The store has it, and was reachable lately. */
		STORE,

		/**
		 * The store had it, but cannot be reached now, or has another one that cannot be
		 * used.
		 */
		LAST_KNOWN,

		/** Configuration or code: no value was set, or none was ever read. */
		DEFAULT

	}

}
