package io.github.shardkeeper.operations;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.DeadLetters.SentBack;
import io.github.shardkeeper.report.DeadLetterReport;
import io.github.shardkeeper.shard.ShardId;

/**
 * Lists, sends back and drops dead letters for people: by id, the oldest ones, or all
 * that meet conditions. Thread-safe.
 */
final class DeadLetterOperation {

	static final List<String> FIELDS = List.of("id", "limit", "exception", "key", "failedSince", "failedBefore");

	/** Maximum number of dead letters of a page. */
	static final int LONGEST_PAGE = 100;

	private static final int DEFAULT_PAGE = 20;

	private static final int MOST_LIMIT = 1_000;

	/** Number of dead letters up to which a dry run counts those that match. */
	private static final int MOST_COUNTED = 10_000;

	private static final int LONGEST_KEY = 500;

	private static final int LONGEST_PAYLOAD = 2_000;

	private static final int MOST_NAMED = 10;

	/** Beginning of a text of an exception if it is a class name. */
	private static final Pattern CLASS_NAME = Pattern.compile("[\\p{L}_$][\\p{L}\\p{N}_$.]*");

	private final DeadLetters letters;

	DeadLetterOperation(DeadLetters letters) {
		this.letters = letters;
	}

	/**
	 * Returns a page of the dead letters of a shard, each bounded.
	 * @param showValues whether to show what may be confidential
	 */
	DeadLetterReport.Page list(ShardId shard, @Nullable String after, @Nullable String limit, boolean showValues) {
		Integer most = new OperationRequest("list", "", null, true, (limit != null) ? Map.of("limit", limit) : Map.of())
			.number("limit", LONGEST_PAGE);
		try {
			DeadLetters.Page page = this.letters.list(DeadLetterFilter.shard(shard), after,
					(most != null) ? most : DEFAULT_PAGE);
			return new DeadLetterReport.Page(
					page.letters().stream().map((letter) -> report(letter, showValues)).toList(), page.next(),
					showValues);
		}
		catch (IllegalArgumentException ex) {
			throw OperationRefusedException.malformed(String.valueOf(ex.getMessage()));
		}
	}

	/** Returns whether a shard has dead letters, possibly a former one. */
	boolean hasAny(ShardId shard) {
		try {
			return !this.letters.list(DeadLetterFilter.shard(shard), null, 1).letters().isEmpty();
		}
		catch (IllegalArgumentException ex) {
			// There is no such shard.
			return false;
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

	List<String> sendBack(DeadLetterFilter all, OperationRequest request) {
		Selection selection = selection(all, request);
		String id = selection.id();
		if (request.dryRun()) {
			return List.of(would("Would be sent back to be handled again", selection));
		}
		if (id != null) {
			SentBack sent = this.letters.sendBack(id);
			return sentences(sent, (sent.letters() > 0) ? "Sent back to be handled again: " + id : gone(id));
		}
		SentBack sent = (selection.limit() != null) ? sendBack(oldest(selection.filter(), selection.limit()))
				: this.letters.sendBack(selection.filter());
		return sentences(sent, "Sent back to be handled again: " + letters(sent.letters()));
	}

	private SentBack sendBack(Collection<String> ids) {
		long moved = 0;
		Set<ShardId> completed = new TreeSet<>();
		for (String id : ids) {
			SentBack sent = this.letters.sendBack(id);
			moved += sent.letters();
			completed.addAll(sent.completedShards());
		}
		return new SentBack(moved, completed);
	}

	private static List<String> sentences(SentBack sent, String first) {
		List<String> effects = new ArrayList<>();
		if (sent.letters() > 0 || sent.completedShards().isEmpty()) {
			effects.add(first);
		}
		if (!sent.completedShards().isEmpty()) {
			effects.add(
					"%d shards are completed and never consumed again, so their dead letters stay: %s. Send the payloads again, or drop them"
						.formatted(sent.completedShards().size(),
								new TreeSet<>(sent.completedShards()).stream().limit(MOST_NAMED).toList()));
		}
		return effects;
	}

	List<String> drop(DeadLetterFilter all, OperationRequest request) {
		Selection selection = selection(all, request);
		String id = selection.id();
		if (request.dryRun()) {
			return List.of(would("Would be deleted permanently", selection));
		}
		if (id != null) {
			return List.of(this.letters.drop(id) ? "Deleted: " + id : gone(id));
		}
		long dropped = (selection.limit() != null)
				? oldest(selection.filter(), selection.limit()).stream().filter(this.letters::drop).count()
				: this.letters.drop(selection.filter());
		return List.of("Deleted: " + letters(dropped));
	}

	private static String gone(String id) {
		return "Nothing to do: %s has already been sent back or dropped".formatted(id);
	}

	/** Returns the ids of the oldest ones that match; payloads may be large. */
	private List<String> oldest(DeadLetterFilter filter, int limit) {
		List<String> found = new ArrayList<>();
		String after = null;
		do {
			DeadLetters.Page page = this.letters.list(filter, after, Math.min(limit - found.size(), LONGEST_PAGE));
			page.letters().forEach((letter) -> found.add(letter.id()));
			after = page.next();
		}
		while (after != null && found.size() < limit);
		return found;
	}

	private String would(String what, Selection selection) {
		String id = selection.id();
		if (id != null) {
			return this.letters.find(id).isPresent() ? what + ": " + id : gone(id);
		}
		Integer limit = selection.limit();
		int count = oldest(selection.filter(), (limit != null) ? limit : MOST_COUNTED).size();
		return what + ": " + ((limit == null && count == MOST_COUNTED) ? "at least " : "") + letters(count);
	}

	private static String letters(long number) {
		return (number == 1) ? "1 dead letter" : number + " dead letters";
	}

	private static Selection selection(DeadLetterFilter all, OperationRequest request) {
		Selection selection = new Selection(id(all, request), filter(all, request),
				request.number("limit", MOST_LIMIT));
		if (selection.id() != null && request.fields().size() > 1) {
			throw OperationRefusedException.malformed("Send either 'id' or conditions, not both");
		}
		return selection;
	}

	private static @Nullable String id(DeadLetterFilter all, OperationRequest request) {
		String id = request.optional("id");
		if (id == null) {
			return null;
		}
		String place = all.shard().map(ShardId::toString).orElse(all.topic()) + "/";
		if (!id.startsWith(place)) {
			throw OperationRequest.malformed("id", id,
					"the id of a dead letter of this place, beginning with " + place);
		}
		return id;
	}

	private static DeadLetterFilter filter(DeadLetterFilter all, OperationRequest request) {
		String exception = request.optional("exception");
		String key = request.optional("key");
		Instant since = request.time("failedSince");
		Instant before = request.time("failedBefore");
		DeadLetterFilter filter = all;
		filter = (exception != null) ? filter.exception(exception) : filter;
		filter = (key != null) ? filter.key(key) : filter;
		filter = (since != null) ? filter.failedSince(since) : filter;
		return (before != null) ? filter.failedBefore(before) : filter;
	}

	/** The dead letters of a request: one, the oldest ones, or all that match. */
	private record Selection(@Nullable String id, DeadLetterFilter filter, @Nullable Integer limit) {

	}

}
