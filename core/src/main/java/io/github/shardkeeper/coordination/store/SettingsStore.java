package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.List;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Store of the settings with which the instances of a group run, so that an instance that
 * joins later can be compared with those that run. Includes instances that consume
 * broadcast topics only, which are no members. An entry ends with its lease, so settings
 * can be changed once all instances have stopped. Thread-safe.
 * <p>
 * Every method may throw {@link StoreUnavailableException}. A retry with the same
 * arguments is always safe.
 */
public interface SettingsStore {

	/** Store that compares nothing. */
	SettingsStore NONE = new SettingsStore() {

		@Override
		public Reply announce(String instance, SharedSettings settings, Duration lease) {
			return Reply.ACCEPTED;
		}

		@Override
		public void withdraw(String instance) {
		}

	};

	/**
	 * Announces the settings of an instance, in one atomic step with the comparison. They
	 * are refused, and not stored, if an instance that runs has another value of a
	 * setting that divides the data. Announcing them again renews the lease, and compares
	 * nothing while the entry is there.
	 * @param instance the name of the instance, unique among all runs of all instances
	 * @param lease the time for which the instance counts as running from now on
	 * @return the reply
	 */
	Reply announce(String instance, SharedSettings settings, Duration lease);

	/** Removes the entry of an instance that has stopped. */
	void withdraw(String instance);

	/**
	 * The reply to an announcement. Immutable.
	 *
	 * @param accepted whether the settings are stored
	 * @param others the different settings of the instances that run
	 */
	record Reply(boolean accepted, List<Other> others) {

		public static final Reply ACCEPTED = new Reply(true, List.of());

		public Reply {
			others = List.copyOf(others);
		}

	}

	/**
	 * Settings of instances that run. Immutable.
	 *
	 * @param instances the names of some of them
	 * @param count the number of all of them
	 */
	record Other(SharedSettings settings, List<String> instances, int count) {

		/** Maximum number of {@link #instances}. */
		public static final int MOST_NAMED = 3;

		public Other {
			instances = List.copyOf(instances);
		}

	}

}
