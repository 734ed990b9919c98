package io.github.shardkeeper.directive;

import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableText;

/**
 * A wish of an operator that the group follows until it is cleared, or, of kind
 * {@link Kind#MOVE} and {@link Kind#REBALANCE}, once. A group has at most one of each
 * kind and subject. Immutable.
 * <p>
 * In a store its {@link #name} is {@code pause|visits}, and its {@link #text} has the
 * format 1, its version, its time, the instance, the person and the reason, separated by
 * tabs; parts that later versions add after them are ignored.
 *
 * @param kind the wish
 * @param subject the topic, shard or instance that it is about; empty for the group
 * @param to the instance that a shard goes to; {@code null} for other kinds
 * @param by the person who asked; empty if unknown
 * @param reason the reason that was given; empty for none
 * @param sinceMillis the time at which it was asked for, in the store's time
 * @param version the version of the group's directives that it came with
 */
public record Directive(Kind kind, String subject, @Nullable String to, String by, String reason, long sinceMillis,
		long version) {

	/** Maximum number of characters of a person's name; longer ones are cut. */
	public static final int MOST_BY = 100;

	/** Maximum number of characters of a reason; longer ones are cut. */
	public static final int MOST_REASON = 200;

	private static final String FORMAT = "1";

	private static final String SEPARATOR = "\t";

	private static final int PARTS = 6;

	/** Far more than a text that was written here has. */
	private static final int LONGEST = 2_000;

	public Directive {
		Objects.requireNonNull(kind, "kind must not be null");
		Objects.requireNonNull(subject, "subject must not be null");
		Objects.requireNonNull(by, "by must not be null");
		Objects.requireNonNull(reason, "reason must not be null");
		kind.check(subject, to);
		by = PrintableText.of(by, MOST_BY).strip();
		reason = PrintableText.of(reason, MOST_REASON).strip();
	}

	/** Creates a directive that is not stored yet. */
	public static Directive of(Kind kind, String subject, @Nullable String to, String by, String reason) {
		return new Directive(kind, subject, to, by, reason, 0, 0);
	}

	/** Returns the same directive as it was stored. */
	public Directive stored(long atMillis, long newVersion) {
		return new Directive(this.kind, this.subject, this.to, this.by, this.reason, atMillis, newVersion);
	}

	/** Returns whether another one wants the same; who asked does not count. */
	public boolean wantsTheSame(Directive other) {
		return this.kind == other.kind && this.subject.equals(other.subject) && Objects.equals(this.to, other.to);
	}

	/** Returns whether it is about a topic or one of its shards. */
	public boolean isAbout(String topic) {
		return switch (this.kind) {
			case PAUSE, PIN, MOVE -> this.subject.equals(topic)
					|| this.subject.indexOf('/') >= 0 && ShardId.parse(this.subject).topic().equals(topic);
			case DRAIN, REBALANCE -> false;
		};
	}

	/** Returns the name under which a store has it. */
	public String name() {
		return name(this.kind, this.subject);
	}

	/** Returns the name under which a store has a directive. */
	public static String name(Kind kind, String subject) {
		return kind.name().toLowerCase(Locale.ROOT) + "|" + subject;
	}

	/** Returns the text under that name. */
	public String text() {
		return String.join(SEPARATOR, FORMAT, Long.toString(this.version), Long.toString(this.sinceMillis),
				(this.to != null) ? this.to : "", this.by, this.reason);
	}

	/** Parses an entry of a store; empty if it is broken or of a later version. */
	public static Optional<Directive> parse(String name, String text) {
		int bar = name.indexOf('|');
		String[] parts = (text.length() <= LONGEST) ? text.split(SEPARATOR, -1) : new String[0];
		if (bar < 0 || parts.length < PARTS || !parts[0].equals(FORMAT)) {
			return Optional.empty();
		}
		try {
			Directive parsed = new Directive(Kind.valueOf(name.substring(0, bar).toUpperCase(Locale.ROOT)),
					name.substring(bar + 1), parts[3].isEmpty() ? null : parts[3], parts[4], parts[5],
					Long.parseLong(parts[2]), Long.parseLong(parts[1]));
			return parsed.name().equals(name) ? Optional.of(parsed) : Optional.empty();
		}
		catch (IllegalArgumentException ex) {
			return Optional.empty();
		}
	}

	/**
	 * Returns who asked, and why, as the end of a sentence: {@code by anna: a reason}.
	 */
	public String byWhom() {
		return "by " + (this.by.isEmpty() ? "an operator" : this.by)
				+ (this.reason.isEmpty() ? "" : ": " + this.reason);
	}

	/** Kinds of wishes. */
	public enum Kind {

		/** The records of a topic or shard are not handled. */
		PAUSE,

		/** A shard is owned by an instance while that is a member. */
		PIN,

		/** An instance owns no shards. */
		DRAIN,

		/** A shard goes to an instance, once. */
		MOVE,

		/** The group is planned again at once, one time. */
		REBALANCE;

		/** Returns whether the leader removes it once it has followed it. */
		public boolean isRequest() {
			return this == MOVE || this == REBALANCE;
		}

		/** Returns whether it names an instance that a shard goes to. */
		public boolean hasTarget() {
			return this == PIN || this == MOVE;
		}

		private void check(String subject, @Nullable String to) {
			boolean valid = switch (this) {
				case PAUSE -> subject.indexOf('/') < 0 ? Names.isValid(subject) : isShard(subject);
				case PIN, MOVE -> isShard(subject);
				case DRAIN -> Names.isValid(subject);
				case REBALANCE -> subject.isEmpty();
			};
			if (!valid) {
				throw new IllegalArgumentException("Not what a %s is about: '%s'".formatted(this, subject));
			}
			if (hasTarget() ? to == null || !Names.isValid(to) : to != null) {
				throw new IllegalArgumentException("Not an instance for a %s: '%s'".formatted(this, to));
			}
		}

		private static boolean isShard(String subject) {
			ShardId.parse(subject);
			return true;
		}

	}

}
