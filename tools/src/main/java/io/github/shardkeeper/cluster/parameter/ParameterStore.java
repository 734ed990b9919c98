package io.github.shardkeeper.cluster.parameter;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.ClusterParameters.Change;

/**
 * Store of the parameters of a group. No method requires a session: a parameter has no
 * owner. After a change, the store sends {@code parameter|<name>} to all instances.
 * <p>
 * Every method may throw {@link io.github.shardkeeper.StoreUnavailableException}.
 * Thread-safe.
 */
public interface ParameterStore {

	/** Any version is accepted. */
	long ANY_VERSION = -1;

	/**
	 * Reads what has changed.
	 * @param afterVersion the group's version up to which the caller knows all, 0 for
	 * none
	 */
	Contents read(long afterVersion);

	/**
	 * Sets a parameter, or resets it. Not repeatable: each call is a change.
	 * @param value the value, {@code null} for the default
	 * @param expectedVersion the version that it must have, or {@link #ANY_VERSION}
	 */
	Reply set(String name, @Nullable String value, String author, long expectedVersion);

	/** Reads the last changes of a parameter, the newest first. */
	List<Change> history(String name);

	/**
	 * What the store has.
	 *
	 * @param version the version of the last change of any parameter
	 * @param complete whether these are all entries, and not only those that have changed
	 * @param count the number of all entries
	 * @param entries the entries
	 */
	record Contents(long version, boolean complete, long count, List<Entry> entries) {

		public Contents {
			entries = List.copyOf(entries);
		}

	}

	/**
	 * An entry of the store.
	 *
	 * @param name the name of the parameter
	 * @param change its last change, {@code null} if it cannot be read
	 * @param unreadable why it cannot be read, {@code null} if it can
	 */
	record Entry(String name, @Nullable Change change, @Nullable String unreadable) {

		public static Entry of(String name, Change change) {
			return new Entry(name, change, null);
		}

		public static Entry unreadable(String name, String why) {
			return new Entry(name, null, why);
		}

	}

	/** The reply to a change. */
	sealed interface Reply {

		/** The change was made. */
		record Changed(Change change) implements Reply {

			public Changed {
				Objects.requireNonNull(change, "change must not be null");
			}

		}

		/**
		 * The parameter has another version; nothing was changed.
		 *
		 * @param version its version, 0 if it has none, -1 if it cannot be read
		 */
		record Conflict(long version) implements Reply {

		}

	}

}
