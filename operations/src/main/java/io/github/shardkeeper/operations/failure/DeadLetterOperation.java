package io.github.shardkeeper.operations.failure;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.operations.request.Operation;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.operations.request.OperationRequest;
import io.github.shardkeeper.shard.ShardId;

/**
 * Operation on dead letters: one by its id, the oldest ones, or all that meet conditions.
 * Thread-safe.
 */
abstract class DeadLetterOperation extends Operation {

	private static final int MOST_LIMIT = 1_000;

	/** Number of dead letters up to which a dry run counts those that match. */
	private static final int MOST_COUNTED = 10_000;

	private final DeadLetterPages pages;

	DeadLetterOperation(String name, DeadLetterPages pages) {
		super(name, Set.of(Level.TOPIC, Level.SHARD),
				List.of("id", "limit", "exception", "key", "failedSince", "failedBefore"));
		this.pages = pages;
	}

	@Override
	public final List<String> perform(OperationRequest request) {
		DeadLetters letters = this.pages.letters();
		DeadLetterFilter all = this.pages.all(request);
		String id = id(all, request);
		DeadLetterFilter filter = filter(all, request);
		Integer limit = request.number("limit", MOST_LIMIT);
		if (id != null) {
			if (request.fields().size() > 1) {
				throw OperationRefusedException.malformed("Send either 'id' or conditions, not both");
			}
			if (request.dryRun()) {
				return List.of(letters.find(id).isPresent() ? would() + ": " + id : gone(id));
			}
			return performOne(letters, id);
		}
		if (request.dryRun()) {
			int count = oldest(letters, filter, (limit != null) ? limit : MOST_COUNTED).size();
			String atLeast = (limit == null && count == MOST_COUNTED) ? "at least " : "";
			return List.of(would() + ": " + atLeast + number(count));
		}
		return (limit != null) ? performEach(letters, oldest(letters, filter, limit)) : performAll(letters, filter);
	}

	/** Returns what a dry run says, up to the colon. */
	abstract String would();

	abstract List<String> performOne(DeadLetters letters, String id);

	abstract List<String> performEach(DeadLetters letters, List<String> ids);

	abstract List<String> performAll(DeadLetters letters, DeadLetterFilter filter);

	static String gone(String id) {
		return "Nothing to do: %s has already been sent back or dropped".formatted(id);
	}

	static String number(long letters) {
		return (letters == 1) ? "1 dead letter" : letters + " dead letters";
	}

	/** Returns the ids of the oldest ones that match; payloads may be large. */
	private static List<String> oldest(DeadLetters letters, DeadLetterFilter filter, int limit) {
		List<String> found = new ArrayList<>();
		String after = null;
		do {
			DeadLetters.Page page = letters.list(filter, after,
					Math.min(limit - found.size(), DeadLetterPages.LONGEST_PAGE));
			page.letters().forEach((letter) -> found.add(letter.id()));
			after = page.next();
		}
		while (after != null && found.size() < limit);
		return found;
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

}
