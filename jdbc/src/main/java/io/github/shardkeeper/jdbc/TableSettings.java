package io.github.shardkeeper.jdbc;

import java.util.regex.Pattern;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Names of the tables, and who creates them. Immutable.
 *
 * @param prefix the beginning of the tables' names
 * @param created whether the data plane creates tables that do not exist
 */
public record TableSettings(String prefix, boolean created) {

	private static final Pattern PREFIX = Pattern.compile("[A-Za-z_][A-Za-z0-9_.$]{0,99}");

	/**
	 * Creates the settings.
	 * @throws ShardkeeperConfigurationException if no table can have such a name
	 */
	public TableSettings {
		if (!PREFIX.matcher(prefix).matches()) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.jdbc.table-prefix' is '%s', which cannot begin the name of a table."
						.formatted(prefix),
					"Use letters, digits and underscores, after the name of a schema and a dot if the tables are in another one, "
							+ "such as 'shardkeeper_' or 'messaging.shardkeeper_'.");
		}
	}

}
