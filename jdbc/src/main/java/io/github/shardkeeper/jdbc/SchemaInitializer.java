package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.core.io.ClassPathResource;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * All tables: whether they exist, and the script that creates them. Not in a transaction,
 * because asking for a table that does not exist ends it. Thread-safe.
 */
final class SchemaInitializer {

	private static final Logger logger = PrintableLogger.of(SchemaInitializer.class);

	private static final String STANDARD_PREFIX = "shardkeeper_";

	/** Without those for what handlers send, which earlier versions did not have. */
	private static final List<String> REQUIRED = List.of("shard", "state", "timer", "retry", "dead_letter", "topic");

	private static final Pattern CREATED_TABLE = Pattern.compile("create table (?:if not exists )?(\\S+)");

	private final StoreTransactions steps;

	private final TableSettings settings;

	SchemaInitializer(StoreTransactions steps, TableSettings settings) {
		this.steps = steps;
		this.settings = settings;
	}

	/**
	 * Returns why a table cannot be read, {@code null} if it can.
	 * @throws StoreUnavailableException if the database does not reply
	 */
	@Nullable StoreUnavailableException refusal(String table) {
		this.steps.prepare();
		return refusalNow(table);
	}

	private @Nullable StoreUnavailableException refusalNow(String table) {
		try {
			this.steps.runNow("find the table " + table, () -> {
				this.steps.jdbc().query("select 1 from %s where 1 = 0".formatted(table), (row) -> {
				});
				return true;
			});
			return null;
		}
		catch (StoreUnavailableException ex) {
			if (DatabaseFailure.lacksTable(ex.getCause()) || DatabaseFailure.lacksRight(ex)) {
				return ex;
			}
			throw ex;
		}
	}

	/**
	 * Creates the tables that do not exist. Several instances may do so at the same time.
	 * @throws ShardkeeperConfigurationException if the database refuses that
	 * @throws StoreUnavailableException if the database does not reply
	 */
	void create() {
		String database = database();
		Map<String, String> missing = missing(script(database));
		StoreUnavailableException refusal = null;
		for (Map.Entry<String, String> table : missing.entrySet()) {
			try {
				this.steps.runNow("create the table " + table.getKey(), () -> {
					this.steps.jdbcUnderLock().execute(table.getValue());
					return true;
				});
			}
			catch (StoreUnavailableException ex) {
				// Another instance may have been first.
				refusal = (refusal != null) ? refusal : ex;
			}
		}
		Map<String, String> remaining = missing(missing);
		if (refusal != null && !remaining.isEmpty()) {
			throw refused(remaining.keySet().iterator().next(), database, refusal);
		}
		if (!missing.isEmpty()) {
			logger.info("Created the tables {}", missing.keySet());
		}
	}

	/**
	 * Checks that there are those tables without which no shard can be consumed.
	 * @throws ShardkeeperConfigurationException if one is missing
	 * @throws StoreUnavailableException if the database does not reply
	 */
	void require() {
		for (String name : REQUIRED) {
			String table = this.settings.prefix() + name;
			StoreUnavailableException refusal = refusalNow(table);
			if (refusal != null && isMissing(refusal)) {
				boolean denied = DatabaseFailure.lacksRight(refusal);
				throw new ShardkeeperConfigurationException(
						"'consumer.transaction: jdbc' needs the table '%s', and the database %s.".formatted(table,
								denied ? "denies it to the application's user, or does not have it"
										: "does not have it"),
						(denied ? TableAdvice.grant(this.settings) + " If the table does not exist: " : "")
								+ TableAdvice.create(this.settings, TableAdvice.script(database())));
			}
		}
	}

	private Map<String, String> missing(Map<String, String> script) {
		Map<String, String> missing = new LinkedHashMap<>();
		script.forEach((table, statement) -> {
			StoreUnavailableException refusal = refusalNow(table);
			if (refusal != null && isMissing(refusal)) {
				missing.put(table, statement);
			}
		});
		return missing;
	}

	/** A table that the user may not read is there nevertheless. */
	private static boolean isMissing(StoreUnavailableException refusal) {
		return !DatabaseFailure.lacksRight(refusal) || DatabaseFailure.mayHideTable(refusal);
	}

	private ShardkeeperConfigurationException refused(String table, String database,
			StoreUnavailableException refusal) {
		String what = "'consumer.transaction: jdbc' needs the table '%s', and the database refuses to create it at startup: %s"
			.formatted(table, DatabaseFailure.innermost(refusal));
		if (DatabaseFailure.isReadOnly(refusal)) {
			return new ShardkeeperConfigurationException(what, TableAdvice.WRITABLE);
		}
		return new ShardkeeperConfigurationException(what,
				("Either %s, or run %s as the owner of the schema, grant the application's database user select, insert, "
						+ "update and delete on its tables, and set 'shardkeeper.jdbc.initialize-schema' to 'never'.")
					.formatted(DatabaseFailure.lacksRight(refusal)
							? "grant that user the right to create tables (in PostgreSQL 'grant create on schema ... to ...', in MySQL and MariaDB 'grant create on ... to ...')"
							: "remove that cause (the schema in 'shardkeeper.jdbc.table-prefix', if it names one, has to exist)",
							TableAdvice.script(database)));
	}

	/** Returns the name of the database in the name of its script. */
	String database() {
		return this.steps.runNow("read the name of the database", this.steps::database);
	}

	/** Returns the statements of a database by the tables that they create. */
	private Map<String, String> script(String database) {
		ClassPathResource resource = new ClassPathResource("schema-%s.sql".formatted(database),
				SchemaInitializer.class);
		if (!resource.exists()) {
			throw new ShardkeeperConfigurationException(
					"Shardkeeper has no script that creates its tables in the database '%s'.".formatted(database),
					"Create the tables as %s does, with the types of your database, and set 'shardkeeper.jdbc.initialize-schema' to 'never'."
						.formatted(TableAdvice.script("postgresql")));
		}
		Map<String, String> statements = new LinkedHashMap<>();
		for (String statement : text(resource).replace(STANDARD_PREFIX, this.settings.prefix()).split(";")) {
			Matcher created = CREATED_TABLE.matcher(statement);
			if (created.find()) {
				statements.put(created.group(1), statement.strip());
			}
		}
		return statements;
	}

	private static String text(ClassPathResource resource) {
		try {
			return resource.getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
