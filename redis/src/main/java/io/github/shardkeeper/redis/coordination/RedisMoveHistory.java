package io.github.shardkeeper.redis.coordination;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.Range.Boundary;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.StreamMessage;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

/**
 * The history of moves on Redis, in the stream
 * <code>&lt;prefix&gt;:{&lt;group&gt;}:moves</code>, in the slot of the group:
 * {@code append-moves.lua} and {@code XREVRANGE}. Thread-safe.
 */
public final class RedisMoveHistory implements MoveHistory {

	private static final LuaScript APPEND = LuaScript.load(RedisMoveHistory.class, ScriptOutputType.INTEGER,
			"append-moves.lua");

	private static final String WRITING = "write the history of moves";

	private static final String NOBODY = "";

	private final RedisLink<byte[]> link;

	private final String key;

	private final Bounds bounds;

	/** Creates a history on the shared connection for data. */
	public RedisMoveHistory(RedisConnector connector, String keyPrefix, String group, Duration timeout, Bounds bounds) {
		this.link = connector.dataLink(timeout);
		this.key = keyPrefix + ":{" + group + "}:moves";
		this.bounds = bounds;
	}

	@Override
	public void append(List<ShardMove> moves) {
		List<byte[]> arguments = new ArrayList<>(List.of(bytes(Integer.toString(this.bounds.maxMoves())),
				bytes(Long.toString(this.bounds.retention().toMillis()))));
		for (ShardMove move : moves) {
			arguments.add(bytes(move.shard().toString()));
			arguments.add(bytes(text(move.from())));
			arguments.add(bytes(text(move.to())));
			arguments.add(bytes(move.token().toString()));
			arguments.add(bytes(move.cause().name()));
			arguments.add(bytes(Long.toString(move.plannedMillis())));
			arguments.add(bytes(Long.toString(move.releasedMillis())));
			arguments.add(bytes(Long.toString(move.assignedMillis())));
		}
		try {
			this.link.run(APPEND, List.of(this.key), arguments);
			this.link.refusedOperations().succeeded(WRITING);
		}
		catch (StoreUnavailableException ex) {
			this.link.refusedOperations().recordIfNew(WRITING, ex);
			throw ex;
		}
	}

	@Override
	public Page read(@Nullable String before, int most) {
		Range<String> range = Range.from(Boundary.unbounded(),
				(before != null) ? Boundary.excluding(before) : Boundary.unbounded());
		List<StreamMessage<String, byte[]>> found = this.link
			.call((commands) -> commands.xrevrange(this.key, range, Limit.from(most)));
		List<Entry> entries = new ArrayList<>(found.size());
		for (StreamMessage<String, byte[]> entry : found) {
			ShardMove move = move((entry.getBody() != null) ? entry.getBody() : Map.of());
			if (move != null) {
				entries.add(new Entry(entry.getId(), move));
			}
		}
		return new Page(entries, (found.size() == most) ? found.get(most - 1).getId() : null);
	}

	/** Returns a move; {@code null} if others, or a later version, have written it. */
	private static @Nullable ShardMove move(Map<String, byte[]> fields) {
		try {
			return new ShardMove(ShardId.parse(text(fields, "shard")), member(text(fields, "from")),
					member(text(fields, "to")), new Token(Long.parseLong(text(fields, "token"))),
					MoveCause.valueOf(text(fields, "cause")), Long.parseLong(text(fields, "planned")),
					Long.parseLong(text(fields, "released")), Long.parseLong(text(fields, "assigned")));
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	private static String text(Map<String, byte[]> fields, String name) {
		byte[] value = fields.get(name);
		return (value != null) ? new String(value, StandardCharsets.UTF_8) : "";
	}

	private static @Nullable MemberId member(String text) {
		return text.equals(NOBODY) ? null : new MemberId(text);
	}

	private static String text(@Nullable MemberId member) {
		return (member != null) ? member.value() : NOBODY;
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
