package io.github.shardkeeper.actuate;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

import io.github.shardkeeper.StoreUnavailableException;
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

	private final MoveReporter reporter;

	/** Creates the endpoint. */
	public ShardMovesEndpoint(MoveReporter reporter) {
		this.reporter = reporter;
	}

	/**
	 * {@return moves, the newest first}
	 * @param topic the topic, {@code null} for all
	 * @param shard the id of the shard in its topic, {@code null} for all
	 * @param member the id of a member, or of its instance, {@code null} for all
	 * @param cause the cause, in any case, {@code null} for all
	 * @param before the id of a move before which to begin, {@code null} for the newest
	 * @param limit the maximum number of moves, {@code null} for 100
	 */
	@ReadOperation
	public ShardMoves moves(@Nullable String topic, @Nullable String shard, @Nullable String member,
			@Nullable String cause, @Nullable String before, @Nullable Integer limit) {
		int most = (limit != null) ? limit : DEFAULT_LIMIT;
		if (most < 1 || most > MAX_LIMIT) {
			throw invalid("'limit' has to be from 1 to " + MAX_LIMIT);
		}
		if (before != null && !before.matches("\\d{1,20}(-\\d{1,20})?")) {
			throw invalid("'before' has to be the 'id' of a move, or the 'next' of another answer");
		}
		Filter filter = new Filter(topic, shard, member, (cause != null) ? cause(cause) : null);
		try {
			Moves moves = this.reporter.moves(filter, before, most);
			return new ShardMoves(moves.moves(), moves.next(), null);
		}
		catch (StoreUnavailableException ex) {
			return new ShardMoves(List.of(), null, ex.getMessage());
		}
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
	 * Moves, the newest first.
	 *
	 * @param next the value of {@code before} for the next ones, {@code null} if there
	 * are none
	 * @param error why they could not be read, {@code null} if they could
	 */
	public record ShardMoves(List<MoveReport> moves, @Nullable String next, @Nullable String error) {

	}

}
