package io.github.shardkeeper.operations.failure;

import java.util.SortedSet;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.operations.request.OperationRequest;
import io.github.shardkeeper.operations.request.RequestedShards;
import io.github.shardkeeper.report.DeadLetterReport;
import io.github.shardkeeper.shard.ShardId;

/**
 * Dead letters for people: finds and lists those of a shard or topic that a request
 * names. Thread-safe.
 */
public final class DeadLetterPages {

	/** Maximum number of dead letters of a page. */
	static final int LONGEST_PAGE = 100;

	private static final int DEFAULT_PAGE = 20;

	private static final int LONGEST_KEY = 500;

	private static final int LONGEST_PAYLOAD = 2_000;

	/** Beginning of a text of an exception if it is a class name. */
	private static final Pattern CLASS_NAME = Pattern.compile("[\\p{L}_$][\\p{L}\\p{N}_$.]*");

	private final @Nullable DeadLetters letters;

	private final RequestedShards shards;

	/**
	 * Creates it.
	 * @param letters the dead letters; {@code null} if the store has none
	 */
	public DeadLetterPages(@Nullable DeadLetters letters, RequestedShards shards) {
		this.letters = letters;
		this.shards = shards;
	}

	/** Returns the dead letters, and refuses a request if the store has none. */
	DeadLetters letters() {
		if (this.letters == null) {
			throw OperationRefusedException.conflict("The store of this application keeps no dead letters");
		}
		return this.letters;
	}

	/** Returns all dead letters of what a request concerns. */
	DeadLetterFilter all(OperationRequest request) {
		ShardId shard = request.shard();
		if (shard != null) {
			require(shard);
			return DeadLetterFilter.shard(shard);
		}
		String topic = request.requiredTopic();
		this.shards.requireTopic(topic);
		String id = request.fields().get("id");
		if (id != null && id.startsWith(topic + "/")) {
			String[] parts = id.split("/");
			require(RequestedShards.shard(topic, (parts.length > 1) ? parts[1] : ""));
		}
		return DeadLetterFilter.topic(topic);
	}

	/** Checks that a shard exists, or has left dead letters behind. */
	private void require(ShardId shard) {
		SortedSet<ShardId> known = this.shards.of(shard.topic());
		if (!known.contains(shard) && !hasAny(shard)) {
			throw RequestedShards.unknownShard(shard, known);
		}
	}

	/** Returns whether a shard has dead letters, possibly a former one. */
	private boolean hasAny(ShardId shard) {
		try {
			return !letters().list(DeadLetterFilter.shard(shard), null, 1).letters().isEmpty();
		}
		catch (IllegalArgumentException ex) {
			// There is no such shard.
			return false;
		}
	}

	/**
	 * Returns a page of the dead letters of a shard, each bounded.
	 * @param showValues whether to show what may be confidential
	 */
	public DeadLetterReport.Page list(ShardId shard, @Nullable String after, @Nullable String limit,
			boolean showValues) {
		require(shard);
		Integer most = OperationRequest.number("limit", limit, LONGEST_PAGE);
		try {
			DeadLetters.Page page = letters().list(DeadLetterFilter.shard(shard), after,
					(most != null) ? most : DEFAULT_PAGE);
			return new DeadLetterReport.Page(
					page.letters().stream().map((letter) -> report(letter, showValues)).toList(), page.next(),
					showValues);
		}
		catch (IllegalArgumentException ex) {
			throw OperationRefusedException.malformed(String.valueOf(ex.getMessage()));
		}
	}

	private static DeadLetterReport report(DeadLetter letter, boolean showValues) {
		String key = letter.key();
		return new DeadLetterReport(letter.id(), letter.offset().value(), letter.attempts(), letter.failedAt(),
				letter.timestamp(), showValues ? letter.exception() : className(letter.exception()),
				letter.payload().length, showValues ? shortenedKey(key) : null,
				showValues ? shortened(letter.text(), LONGEST_PAYLOAD) : null, showValues ? letter.stackTrace() : null);
	}

	/** Returns the class: a message may contain values of the record. */
	static String className(String exception) {
		String name = exception.split(":", 2)[0].strip();
		return CLASS_NAME.matcher(name).matches() ? name : "hidden";
	}

	static @Nullable String shortenedKey(@Nullable String key) {
		return (key != null) ? shortened(key, LONGEST_KEY) : null;
	}

	private static String shortened(String text, int most) {
		return (text.length() > most) ? text.substring(0, most - 1) + "…" : text;
	}

}
