package io.github.shardkeeper.operations.request;

import java.security.Principal;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.ShardOperationEvent;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.text.PrintableText;

/**
 * Logs and publishes what people change through endpoints: one line at INFO and one
 * {@link ShardOperationEvent} for each operation. What callers send is put on one line
 * and shortened first. Thread-safe.
 */
public final class OperationAudit {

	private static final Logger logger = PrintableLogger.of(OperationAudit.class);

	/** Caller of an operation if nobody is authenticated and no name was sent. */
	public static final String UNKNOWN_CALLER = "unknown";

	private static final int LONGEST_NAME = 200;

	private static final int LONGEST_TEXT = 500;

	private static final int MOST_EFFECTS = 20;

	private final String group;

	private final Consumer<ShardOperationEvent> events;

	private final InstantSource clock;

	/** Creates an audit; {@code events} publishes without waiting for listeners. */
	public OperationAudit(String group, Consumer<ShardOperationEvent> events) {
		this(group, events, InstantSource.system());
	}

	OperationAudit(String group, Consumer<ShardOperationEvent> events, InstantSource clock) {
		this.group = group;
		this.events = events;
		this.clock = clock;
	}

	/**
	 * Returns the caller of an operation. The authenticated name comes first, so that no
	 * name that is sent replaces it or makes it be cut off.
	 * @param principal the authenticated caller, {@code null} for none
	 * @param by the name that the caller sent, {@code null} for none
	 */
	public static String caller(@Nullable Principal principal, @Nullable String by) {
		String sent = (by != null) ? printable(by, LONGEST_NAME).strip() : "";
		String authenticated = (principal != null && principal.getName() != null)
				? printable(principal.getName(), LONGEST_NAME).strip() : "";
		if (authenticated.isEmpty()) {
			return sent.isEmpty() ? UNKNOWN_CALLER : sent;
		}
		return (sent.isEmpty() || sent.equals(authenticated)) ? authenticated
				: "%s (named %s in the request)".formatted(authenticated, sent);
	}

	/**
	 * Logs and publishes an operation. Call it after the operation, also if it failed
	 * when part of it may be done; not for a dry run.
	 * @param operation the operation
	 * @param effects what happened, a sentence each
	 * @return the event
	 */
	public ShardOperationEvent record(Operation operation, List<String> effects) {
		List<String> told = new ArrayList<>();
		effects.stream().limit(MOST_EFFECTS).forEach((effect) -> told.add(printable(effect, LONGEST_TEXT)));
		if (effects.size() > MOST_EFFECTS) {
			told.add("and %d more".formatted(effects.size() - MOST_EFFECTS));
		}
		ShardOperationEvent event = new ShardOperationEvent(this.group, operation.action(), operation.topic(),
				operation.shard(), operation.member(), operation.by(), operation.reason(), told, this.clock.instant());
		logger.info("Operation '{}'{}{} in group '{}', requested by {}{}: {}", event.action(), subject(operation),
				(event.member() != null) ? ", member " + event.member() : "", this.group, event.by(),
				(event.reason() != null) ? ", reason: " + event.reason() : "", String.join("; ", told));
		this.events.accept(event);
		return event;
	}

	private static String subject(Operation operation) {
		if (operation.shard() != null) {
			return " on " + operation.shard();
		}
		return (operation.topic() != null) ? " on " + operation.topic() : "";
	}

	private static String printable(String text, int most) {
		return PrintableText.of(text, most);
	}

	private static @Nullable String shortened(@Nullable String text, int most) {
		return (text != null && !text.isBlank()) ? printable(text, most).strip() : null;
	}

	/**
	 * Operation that somebody has requested. Immutable.
	 *
	 * @param action the name of the operation
	 * @param topic the topic; {@code null} if it concerns no single topic
	 * @param shard the shard; {@code null} if it concerns no single shard
	 * @param member the member or instance that the caller named, {@code null} for none
	 * @param by the {@linkplain #caller caller}
	 * @param reason the reason that the caller gave, {@code null} for none
	 */
	public record Operation(String action, @Nullable String topic, @Nullable ShardId shard, @Nullable String member,
			String by, @Nullable String reason) {

		public Operation {
			topic = shortened(topic, LONGEST_NAME);
			member = shortened(member, LONGEST_NAME);
			by = printable(by, 2 * LONGEST_NAME + 50);
			reason = shortened(reason, LONGEST_TEXT);
		}

	}

}
