package io.github.shardkeeper.operations;

import java.security.Principal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * Request for an operation as a caller sent it: an action, who asks and why, and further
 * fields as text. Immutable.
 *
 * @param action the action
 * @param by the {@linkplain OperationAudit#caller caller}
 * @param reason the reason that the caller gave, {@code null} for none
 * @param dryRun whether to change nothing
 * @param fields the other fields by name
 */
public record OperationRequest(String action, String by, @Nullable String reason, boolean dryRun,
		Map<String, String> fields) {

	/** Fields that each action has. */
	static final List<String> COMMON = List.of("by", "reason", "dryRun");

	public OperationRequest {
		fields = Map.copyOf(fields);
	}

	/**
	 * Parses a request.
	 * @param principal the authenticated caller, {@code null} for none
	 * @param sent the fields; those without a value are left out
	 * @throws OperationRefusedException if a field of every action is malformed
	 */
	public static OperationRequest parse(@Nullable String action, @Nullable Principal principal,
			Map<String, ? extends @Nullable String> sent) {
		if (action == null || action.isBlank()) {
			throw OperationRefusedException.malformed("Send the name of an operation as 'action'");
		}
		Map<String, String> fields = new TreeMap<>();
		sent.forEach((name, value) -> {
			if (value != null) {
				fields.put(name, value);
			}
		});
		String by = fields.remove("by");
		String reason = fields.remove("reason");
		boolean dryRun = flag("dryRun", fields.remove("dryRun"));
		return new OperationRequest(action.strip(), OperationAudit.caller(principal, by), reason, dryRun, fields);
	}

	/** Checks that the action has the fields of the request. */
	void requireOnly(Collection<String> known) {
		for (String name : this.fields.keySet()) {
			if (!known.contains(name)) {
				List<String> allowed = new ArrayList<>(known);
				allowed.addAll(COMMON);
				throw OperationRefusedException.malformed(
						"'%s' has no field '%s'; it has %s".formatted(this.action, ShardQuery.quoted(name), allowed));
			}
		}
	}

	/** Returns a field that has to be sent. */
	String required(String name, String example) {
		String value = optional(name);
		if (value == null) {
			throw OperationRefusedException
				.malformed("'%s' needs '%s', for example \"%s\": \"%s\"".formatted(this.action, name, name, example));
		}
		return value;
	}

	/** Returns a field; {@code null} if it was not sent. */
	@Nullable String optional(String name) {
		String value = this.fields.get(name);
		if (value != null && value.isBlank()) {
			throw OperationRefusedException.malformed("'%s' is blank: write a value, or leave it out".formatted(name));
		}
		return value;
	}

	boolean flag(String name) {
		return flag(name, this.fields.get(name));
	}

	private static boolean flag(String name, @Nullable String text) {
		return switch ((text != null) ? text : "false") {
			case "true" -> true;
			case "false" -> false;
			default -> throw malformed(name, String.valueOf(text), "true or false");
		};
	}

	@Nullable Integer number(String name, int most) {
		String text = optional(name);
		if (text == null) {
			return null;
		}
		String expected = "a number from 1 to " + most;
		try {
			int number = Integer.parseInt(text);
			if (number < 1 || number > most) {
				throw malformed(name, text, expected);
			}
			return number;
		}
		catch (NumberFormatException ex) {
			throw malformed(name, text, expected);
		}
	}

	@Nullable Instant time(String name) {
		String text = optional(name);
		try {
			return (text != null) ? OffsetDateTime.parse(text).toInstant() : null;
		}
		catch (DateTimeException ex) {
			throw malformed(name, String.valueOf(text), "a time such as 2026-11-21T10:00:00Z");
		}
	}

	static OperationRefusedException malformed(String name, String text, String expected) {
		return OperationRefusedException
			.malformed("'%s' is '%s', but must be %s".formatted(name, ShardQuery.quoted(text), expected));
	}

}
