package io.github.shardkeeper.shard;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Objects;

/** A position in a shard from which records are read. Immutable. */
public sealed interface StartPosition {

	/** First available record. */
	StartPosition EARLIEST = new Earliest();

	/** First record that is appended from now on. */
	StartPosition LATEST = new Latest();

	/**
	 * {@return the position of the first record that was appended at a time or later, by
	 * the clock of the source}
	 * @param time the time; only milliseconds are significant
	 */
	static StartPosition at(Instant time) {
		Objects.requireNonNull(time, "time must not be null");
		return new At(time);
	}

	/**
	 * {@return the position of a record, or of the next one if it does not exist}
	 * @param first the offset of the first record to read
	 */
	static StartPosition from(Offset first) {
		Objects.requireNonNull(first, "first must not be null");
		return new From(first);
	}

	/**
	 * {@return the position after a record}
	 * @param last the offset of the last record to skip, which need not exist
	 */
	static StartPosition after(Offset last) {
		Objects.requireNonNull(last, "last must not be null");
		return new After(last);
	}

	/**
	 * {@return the position at which a consumer group stands that the system behind the
	 * source keeps, such as a Kafka group; resolved only once it has no live members}
	 * @param name the name of the consumer group
	 * @throws IllegalArgumentException if the name is blank
	 */
	static StartPosition group(String name) {
		Objects.requireNonNull(name, "name must not be null");
		return new Group(name);
	}

	/**
	 * Parses a position: {@code earliest}, {@code latest}, a time in ISO 8601 such as
	 * {@code 2026-11-21T10:00:00Z}, {@code group:} with the name of a consumer group, or
	 * an offset. Only a source can tell an offset from a misspelling.
	 * @param text the text
	 * @return the position
	 * @throws IllegalArgumentException when the text, or the name of the group, is blank
	 */
	static StartPosition parse(String text) {
		Objects.requireNonNull(text, "text must not be null");
		String position = text.strip();
		if (position.isEmpty()) {
			throw new IllegalArgumentException("A position must not be blank");
		}
		if (position.equalsIgnoreCase("earliest")) {
			return EARLIEST;
		}
		if (position.equalsIgnoreCase("latest")) {
			return LATEST;
		}
		if (position.startsWith(Group.PREFIX)) {
			return group(position.substring(Group.PREFIX.length()).strip());
		}
		try {
			return at(OffsetDateTime.parse(position).toInstant());
		}
		catch (DateTimeException ex) {
			return from(new Offset(position));
		}
	}

	/** See {@link #EARLIEST}. */
	record Earliest() implements StartPosition {

		@Override
		public String toString() {
			return "earliest";
		}

	}

	/** See {@link #LATEST}. */
	record Latest() implements StartPosition {

		@Override
		public String toString() {
			return "latest";
		}

	}

	/**
	 * See {@link #at}.
	 *
	 * @param time the time
	 */
	record At(Instant time) implements StartPosition {

		public At {
			Objects.requireNonNull(time, "time must not be null");
		}

		@Override
		public String toString() {
			return this.time.toString();
		}

	}

	/**
	 * See {@link #from}.
	 *
	 * @param first the offset
	 */
	record From(Offset first) implements StartPosition {

		public From {
			Objects.requireNonNull(first, "first must not be null");
		}

		@Override
		public String toString() {
			return this.first.toString();
		}

	}

	/**
	 * See {@link #after}.
	 *
	 * @param last the offset
	 */
	record After(Offset last) implements StartPosition {

		public After {
			Objects.requireNonNull(last, "last must not be null");
		}

		@Override
		public String toString() {
			return "after " + this.last;
		}

	}

	/**
	 * See {@link #group}.
	 *
	 * @param name the name of the consumer group
	 */
	record Group(String name) implements StartPosition {

		private static final String PREFIX = "group:";

		public Group {
			Objects.requireNonNull(name, "name must not be null");
			if (name.isBlank()) {
				throw new IllegalArgumentException("The name of a consumer group must not be blank");
			}
		}

		@Override
		public String toString() {
			return PREFIX + this.name;
		}

	}

}
