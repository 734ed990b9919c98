package io.github.shardkeeper.operations.request;

import java.security.Principal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardId;

/**
 * Request for an operation as a caller sent it: what it concerns, who asks and why, and
 * further fields as text. Immutable.
 *
 * @param operation the name of the operation
 * @param topic the topic; {@code null} if the request concerns the group
 * @param shard the shard; {@code null} if the request does not concern a single one
 * @param by the {@linkplain OperationAudit#caller caller}
 * @param reason the reason that the caller gave, {@code null} for none
 * @param dryRun whether to change nothing
 * @param fields the fields of the operation by name
 */
public record OperationRequest(String operation, @Nullable String topic, @Nullable ShardId shard, String by,
		@Nullable String reason, boolean dryRun, Map<String, String> fields) {

	/** Name of the field that has the name of the operation. */
	public static final String OPERATION = "action";

	/** Fields that a request for any operation may have. */
	public static final List<String> COMMON = List.of("by", "reason", "dryRun");

	public OperationRequest {
		fields = Map.copyOf(fields);
	}

	/**
	 * Parses a request.
	 * @param caller the authenticated caller, {@code null} for none
	 * @param sent all fields
	 */
	public static OperationRequest parse(Operation operation, @Nullable String topic, @Nullable ShardId shard,
			@Nullable Principal caller, Map<String, String> sent) {
		Map<String, String> fields = new TreeMap<>(sent);
		fields.remove(OPERATION);
		String by = fields.remove("by");
		String reason = fields.remove("reason");
		boolean dryRun = flag("dryRun", fields.remove("dryRun"));
		for (String name : fields.keySet()) {
			if (!operation.fields().contains(name)) {
				List<String> allowed = new ArrayList<>(operation.fields());
				allowed.addAll(COMMON);
				throw OperationRefusedException.malformed("'%s' has no field '%s'; it has %s"
					.formatted(operation.name(), ShardQuery.quoted(name), allowed));
			}
		}
		return new OperationRequest(operation.name(), topic, shard, OperationAudit.caller(caller, by), reason, dryRun,
				fields);
	}

	public ShardId requiredShard() {
		if (this.shard == null) {
			throw new IllegalStateException("'%s' needs a shard".formatted(this.operation));
		}
		return this.shard;
	}

	public String requiredTopic() {
		if (this.topic == null) {
			throw new IllegalStateException("'%s' needs a topic".formatted(this.operation));
		}
		return this.topic;
	}

	/** Returns the shard or topic that the request concerns. */
	public String subject() {
		return (this.shard != null) ? this.shard.toString() : requiredTopic();
	}

	/** Returns a directive that the caller of this request wants. */
	public Directive directive(Directive.Kind kind, String about, @Nullable String to) {
		return Directive.of(kind, about, to, this.by.equals(OperationAudit.UNKNOWN_CALLER) ? "" : this.by,
				(this.reason != null) ? this.reason : "");
	}

	/** Returns the instance that a field names by its id or that of its member. */
	public String instance(String name) {
		String text = required(name, "host-17");
		try {
			return Names.isValid(text) ? text : new MemberId(text).instance();
		}
		catch (IllegalArgumentException ex) {
			throw malformed(name, text, "the id of an instance or of a member");
		}
	}

	/** Returns a field that has to be sent. */
	public String required(String name, String example) {
		String value = optional(name);
		if (value == null) {
			throw OperationRefusedException.malformed(
					"'%s' needs '%s', for example \"%s\": \"%s\"".formatted(this.operation, name, name, example));
		}
		return value;
	}

	/** Returns a field; {@code null} if it was not sent. */
	@Nullable public String optional(String name) {
		String value = this.fields.get(name);
		if (value != null && value.isBlank()) {
			throw OperationRefusedException.malformed("'%s' is blank: write a value, or leave it out".formatted(name));
		}
		return value;
	}

	public boolean flag(String name) {
		return flag(name, this.fields.get(name));
	}

	private static boolean flag(String name, @Nullable String text) {
		return switch ((text != null) ? text : "false") {
			case "true" -> true;
			case "false" -> false;
			default -> throw malformed(name, String.valueOf(text), "true or false");
		};
	}

	@Nullable public Integer number(String name, int most) {
		return number(name, optional(name), most);
	}

	/** Returns a number that was sent; {@code null} if none was. */
	public static @Nullable Integer number(String name, @Nullable String text, int most) {
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

	@Nullable public Instant time(String name) {
		String text = optional(name);
		try {
			return (text != null) ? OffsetDateTime.parse(text).toInstant() : null;
		}
		catch (DateTimeException ex) {
			throw malformed(name, String.valueOf(text), "a time such as 2026-11-21T10:00:00Z");
		}
	}

	public static OperationRefusedException malformed(String name, String text, String expected) {
		return OperationRefusedException
			.malformed("'%s' is '%s', but must be %s".formatted(name, ShardQuery.quoted(text), expected));
	}

}
