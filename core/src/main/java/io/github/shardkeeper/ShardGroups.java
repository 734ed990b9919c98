package io.github.shardkeeper;

import java.util.Set;

/**
 * The groups of {@code shardkeeper.groups}, and what an application uses of each:
 * {@link ShardConsumers}, {@link ShardTemplate}, {@link ShardStateReader},
 * {@link ShardPositions}, {@link ShardTopics}, {@link DeadLetters} and
 * {@link RetiredTopics}. Those of {@code shardkeeper.group} are beans, which are
 * injected. Thread-safe.
 *
 * <pre class="code">
 * groups.get("billing", ShardConsumers.class).pause("visits");
 * </pre>
 */
public interface ShardGroups {

	/**
	 * Returns the names of the groups.
	 * @return the names, sorted
	 */
	Set<String> names();

	/**
	 * Returns what a group has of a type. Not before all beans of the application exist:
	 * call it from handlers, listeners and requests, not from constructors.
	 * @param <T> the type
	 * @param group the name of the group
	 * @param type one of the types above
	 * @return always the same object
	 * @throws IllegalArgumentException if there is no such group, or it has nothing of
	 * the type, such as a {@code ShardTemplate} without a topic that takes records
	 * @throws IllegalStateException if the application's beans are being created
	 */
	<T> T get(String group, Class<T> type);

}
