package io.github.shardkeeper.actuate;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

import io.github.shardkeeper.history.MoveReporter;
import io.github.shardkeeper.history.MoveReporter.Filter;
import io.github.shardkeeper.history.MoveReporter.Moves;
import io.github.shardkeeper.report.MoveReport;
import io.github.shardkeeper.shard.MoveCause;

/**
 * Endpoint {@code /actuator/shardmoves}: the last moves of shards in the group, the
 * newest first. Every instance shows all of them. Thread-safe.
 */
@Endpoint(id = "shardmoves", defaultAccess = Access.READ_ONLY)
public final class ShardMovesEndpoint {

	private static final int DEFAULT_LIMIT = 100;

	private static final int MAX_LIMIT = 1_000;

	private static final Pattern ID = Pattern.compile("\\d{1,18}(-\\d{1,18})?");

	private final EndpointGroups<MoveReporter> reporters;

	/** Creates the endpoint. */
	public ShardMovesEndpoint(EndpointGroups<MoveReporter> reporters) {
		this.reporters = reporters;
	}

	/**
	 * {@return moves, the newest first; with {@code after} the oldest first}
	 * @param topic the topic, {@code null} for all
	 * @param shard the shard as {@code topic/id}, or its id in its topic, {@code null}
	 * for all
	 * @param member the id of a member, or of its instance, {@code null} for all
	 * @param cause the cause, in any case, {@code null} for all
	 * @param before the id of a move before which to begin, {@code null} for the newest
	 * @param after the {@code newest} of another reply, to see what is new since then,
	 * {@code null} otherwise
	 * @param limit the maximum number of moves, {@code null} for 100
	 * @param group the name of the group, {@code null} for the one without a name
	 * @throws InvalidEndpointRequestException if a parameter is malformed, or there is no
	 * such group
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not reply
	 */
	@ReadOperation
	public ShardMoves moves(@Nullable String topic, @Nullable String shard, @Nullable String member,
			@Nullable String cause, @Nullable String before, @Nullable String after, @Nullable String limit,
			@Nullable String group) {
		int most = limit(limit);
		requireId("before", before);
		requireId("after", after);
		if (before != null && after != null) {
			throw invalid("'before' and 'after' exclude each other");
		}
		Filter filter = filter(topic, shard, member, (cause != null) ? cause(cause) : null);
		MoveReporter reporter = this.reporters.get(group);
		Moves moves = (after != null) ? reporter.movesAfter(filter, after, most) : reporter.moves(filter, before, most);
		return new ShardMoves(moves.moves(), moves.next(), moves.newest());
	}

	private static int limit(@Nullable String text) {
		int limit = DEFAULT_LIMIT;
		try {
			limit = (text != null) ? Integer.parseInt(text) : limit;
		}
		catch (NumberFormatException ex) {
			limit = 0;
		}
		if (limit < 1 || limit > MAX_LIMIT) {
			throw invalid("'limit' has to be from 1 to " + MAX_LIMIT);
		}
		return limit;
	}

	private static void requireId(String name, @Nullable String id) {
		if (id != null && !ID.matcher(id).matches()) {
			throw invalid("'" + name + "' has to be the 'id' of a move, or the 'next' or 'newest' of another reply");
		}
	}

	private static Filter filter(@Nullable String topic, @Nullable String shard, @Nullable String member,
			@Nullable MoveCause cause) {
		if (shard == null || shard.indexOf('/') < 0) {
			return new Filter(topic, shard, member, cause);
		}
		String ofTopic = shard.substring(0, shard.indexOf('/'));
		if (topic != null && !topic.equals(ofTopic)) {
			throw invalid("'shard' is of another topic than 'topic'");
		}
		return new Filter(ofTopic, shard.substring(shard.indexOf('/') + 1), member, cause);
	}

	private static MoveCause cause(String text) {
		String name = text.toUpperCase(Locale.ROOT);
		return Arrays.stream(MoveCause.values())
			.filter((cause) -> cause.name().equals(name))
			.findFirst()
			.orElseThrow(() -> invalid("'cause' has to be one of " + Arrays.toString(MoveCause.values())));
	}

	private static InvalidEndpointRequestException invalid(String reason) {
		return new InvalidEndpointRequestException(reason, reason);
	}

	/**
	 * Moves in the order of the request.
	 *
	 * @param next the value of {@code before}, or of {@code after}, for the next ones,
	 * {@code null} if there are none
	 * @param newest the value of {@code after} that shows what comes from now on,
	 * {@code null} if older moves were requested
	 */
	public record ShardMoves(List<MoveReport> moves, @Nullable String next, @Nullable String newest) {

	}

}
