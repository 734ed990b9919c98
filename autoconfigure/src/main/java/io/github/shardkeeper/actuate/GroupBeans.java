package io.github.shardkeeper.actuate;

import java.util.Map;

/** Beans of the groups that are wired in contexts of their own. Thread-safe. */
public interface GroupBeans {

	/**
	 * Returns the bean of a type of each group that has one, by the group's name, sorted.
	 */
	<T> Map<String, T> ofType(Class<T> type);

}
