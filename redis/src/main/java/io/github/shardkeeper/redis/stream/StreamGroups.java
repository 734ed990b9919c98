package io.github.shardkeeper.redis.stream;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.GroupPositions.Position;

/**
 * Positions of consumer groups that other applications have on the streams: after the
 * last entry that a group was given, or before the first one that it has not
 * acknowledged. What it has acknowledged after that one is handled again.
 *
 * <pre>
 * XINFO GROUPS &lt;stream&gt;
 * XPENDING &lt;stream&gt; &lt;group&gt;
 * XINFO CONSUMERS &lt;stream&gt; &lt;group&gt;
 * </pre>
 *
 * Redis keeps consumers that are gone, and only knows when one has last asked for
 * entries. One that has waited longer than {@link #ALIVE} for its reply, or has worked on
 * what it was given for longer, is not noticed. Thread-safe.
 */
final class StreamGroups {

	/** Time for which a consumer counts as alive after it has asked for entries. */
	static final Duration ALIVE = Duration.ofMinutes(1);

	private final RedisLink<byte[]> link;

	private final Function<ShardId, String> streamKey;

	private final Duration alive;

	StreamGroups(RedisLink<byte[]> link, Function<ShardId, String> streamKey, Duration alive) {
		this.link = link;
		this.streamKey = streamKey;
		this.alive = alive;
	}

	Map<ShardId, Position> positions(String group, Collection<ShardId> shards) {
		List<ShardId> order = List.copyOf(shards);
		byte[] name = group.getBytes(StandardCharsets.UTF_8);
		// In this order: what a consumer is given meanwhile is pending, and it is alive.
		List<@Nullable List<Object>> groups = ask(CommandType.XINFO, order,
				(stream) -> arguments().add("GROUPS").addKey(stream));
		List<@Nullable List<Object>> pending = ask(CommandType.XPENDING, order,
				(stream) -> arguments().addKey(stream).add(name));
		List<@Nullable List<Object>> consumers = ask(CommandType.XINFO, order,
				(stream) -> arguments().add("CONSUMERS").addKey(stream).add(name));
		Map<ShardId, Position> positions = new HashMap<>();
		for (int i = 0; i < order.size(); i++) {
			ShardId shard = order.get(i);
			positions.put(shard,
					position(group, this.streamKey.apply(shard), groups.get(i), pending.get(i), consumers.get(i)));
		}
		return positions;
	}

	private static CommandArgs<String, byte[]> arguments() {
		return new CommandArgs<>(RedisStreamSource.CODEC);
	}

	/** A reply is {@code null} where there is no stream or no such group. */
	private List<@Nullable List<Object>> ask(CommandType type, List<ShardId> shards,
			Function<String, CommandArgs<String, byte[]>> arguments) {
		List<AsyncCommand<String, byte[], List<Object>>> commands = shards.stream()
			.map(this.streamKey.andThen(arguments))
			.map((args) -> new AsyncCommand<>(
					new Command<>(type, new NestedMultiOutput<>(RedisStreamSource.CODEC), args)))
			.toList();
		return this.link.callEach(commands, (place, refusal) -> {
			if (!isMissing(refusal)) {
				throw refusal;
			}
		});
	}

	private static boolean isMissing(StoreUnavailableException refusal) {
		Throwable cause = refusal.getCause();
		String error = (cause != null) ? String.valueOf(cause.getMessage()) : "";
		return error.startsWith("ERR no such key") || error.startsWith("NOGROUP");
	}

	private Position position(String group, String stream, @Nullable List<Object> groups,
			@Nullable List<Object> pending, @Nullable List<Object> consumers) {
		if (groups == null) {
			// Nobody has appended anything yet.
			return Position.after(EntryIds.BEFORE_ALL);
		}
		String lastDelivered = lastDelivered(group, groups);
		if (lastDelivered == null) {
			return new Position(null,
					("The stream '%s' has no consumer group '%s'. Correct the name; or, if the group has handled nothing "
							+ "of this stream, let it begin with the first entry: XGROUP CREATE %s %s 0")
						.formatted(stream, group, stream, group));
		}
		String names = (consumers != null) ? alive(consumers) : "";
		String obstacle = names.isEmpty() ? null
				: ("Consumers of the group '%s' have asked for entries of the stream '%s' within the last minute (%s). "
						+ "Stop the application that consumes with this group")
					.formatted(group, stream, names);
		return new Position(before(lastDelivered, pending), obstacle);
	}

	private static @Nullable String lastDelivered(String group, List<Object> groups) {
		return groups.stream()
			.filter((each) -> group.equals(field(each, "name")))
			.map((each) -> field(each, "last-delivered-id"))
			.findFirst()
			.orElse(null);
	}

	private static Offset before(String lastDelivered, @Nullable List<Object> pending) {
		if (pending == null || Long.valueOf(0).equals(pending.get(0))) {
			return new Offset(lastDelivered);
		}
		Offset beforePending = EntryIds.before(new Offset(StreamInfo.text(pending.get(1))));
		return (EntryIds.compare(beforePending.value(), lastDelivered) < 0) ? beforePending : new Offset(lastDelivered);
	}

	private String alive(List<Object> consumers) {
		return consumers.stream()
			.filter((consumer) -> Long.parseLong(field(consumer, "idle")) < this.alive.toMillis())
			.map((consumer) -> field(consumer, "name"))
			.collect(Collectors.toCollection(TreeSet::new))
			.stream()
			.collect(Collectors.joining(", "));
	}

	/** Returns a field of an entry of a reply, which is a list of names and values. */
	private static String field(Object entry, String name) {
		List<?> fields = (List<?>) entry;
		for (int i = 0; i + 1 < fields.size(); i += 2) {
			if (StreamInfo.text(fields.get(i)).equals(name)) {
				return StreamInfo.text(fields.get(i + 1));
			}
		}
		throw new IllegalStateException("Redis has replied without '%s': %s".formatted(name, entry));
	}

}
