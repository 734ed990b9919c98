package io.github.shardkeeper.operations.request;

import java.util.List;
import java.util.Set;

/**
 * Operation that people request by its name: what it may concern, the fields that a
 * request for it may have, and what it does. Thread-safe.
 */
public abstract class Operation {

	private final String name;

	private final Set<Level> levels;

	private final List<String> fields;

	/**
	 * Creates an operation.
	 * @param fields the fields besides those that every request may have
	 */
	protected Operation(String name, Set<Level> levels, List<String> fields) {
		this.name = name;
		this.levels = levels;
		this.fields = fields;
	}

	public final String name() {
		return this.name;
	}

	public final List<String> fields() {
		return this.fields;
	}

	/**
	 * The field in which a request names an instance of the group, if it has that field.
	 */
	public String instanceField() {
		return "instance";
	}

	public final boolean isOn(Level level) {
		return this.levels.contains(level);
	}

	/**
	 * Checks a request, and performs it, or only says what it would do if it is a dry
	 * run.
	 * @return what has happened, or what would happen, a sentence each
	 * @throws OperationRefusedException if the request is refused; nothing was changed
	 */
	public abstract List<String> perform(OperationRequest request);

	/** What a request concerns. */
	public enum Level {

		/** The group, or one of its instances. */
		GROUP,

		/** All shards of a topic. */
		TOPIC,

		/** One shard. */
		SHARD

	}

}
