package io.github.shardkeeper.redis.coordination;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.WrongKeyType;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableText;

/**
 * The history of moves on Redis, in the stream
 * <code>&lt;prefix&gt;:{&lt;group&gt;}:moves</code>, in the slot of the group:
 * {@code append-moves.lua}, {@code append-phases.lua} and {@code read-moves.lua}.
 * Thread-safe.
 */
public final class RedisMoveHistory implements MoveHistory {

	private static final LuaScript APPEND = LuaScript.load(RedisMoveHistory.class, ScriptOutputType.INTEGER,
			"append-moves.lua");

	private static final LuaScript APPEND_PHASES = LuaScript.load(RedisMoveHistory.class, ScriptOutputType.VALUE,
			"append-phases.lua");

	private static final LuaScript READ = LuaScript.load(RedisMoveHistory.class, ScriptOutputType.MULTI,
			"read-moves.lua");

	/** Others may have left anything there. */
	private static final int BYTES_AT_ONCE = 1_000_000;

	private static final String WRITING = "write the history of moves";

	private static final String NOBODY = "";

	private static final int LONGEST_WHY = 200;

	private static final int LONGEST_BY = 250;

	/** More of an entry is not read: others may have left anything there. */
	private static final int MOST_PHASE_LINES = 1_000;

	private static final Pattern CAUSE_OF_A_LATER_VERSION = Pattern.compile("[A-Z][A-Z_]{0,29}");

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
		List<byte[]> arguments = bounds();
		for (ShardMove move : moves) {
			arguments.add(bytes(move.shard().toString()));
			arguments.add(bytes(text(move.from())));
			arguments.add(bytes(text(move.to())));
			arguments.add(bytes(move.token().toString()));
			arguments.add(bytes(move.cause().name()));
			arguments.add(bytes(Long.toString(move.plannedMillis())));
			arguments.add(bytes(Long.toString(move.releasedMillis())));
			arguments.add(bytes(Long.toString(move.assignedMillis())));
			arguments.add(bytes(move.formerToken().equals(Token.NONE) ? "" : move.formerToken().toString()));
			arguments.add(bytes((move.why() != null) ? move.why() : ""));
			arguments.add(bytes((move.by() != null) ? move.by() : ""));
		}
		write(APPEND, arguments);
	}

	@Override
	public void appendPhases(List<PhaseAges> phases) {
		List<byte[]> arguments = bounds();
		for (PhaseAges reached : phases) {
			arguments.add(bytes(reached.shard().toString()));
			arguments.add(bytes(reached.token().toString()));
			for (MovePhase phase : MovePhase.values()) {
				Duration age = reached.ages().get(phase);
				arguments.add(bytes((age != null) ? Long.toString(Math.max(0, age.toMillis())) : "-1"));
			}
		}
		write(APPEND_PHASES, arguments);
	}

	private List<byte[]> bounds() {
		return new ArrayList<>(List.of(bytes(Integer.toString(this.bounds.maxMoves())),
				bytes(Long.toString(this.bounds.retention().toMillis()))));
	}

	private void write(LuaScript script, List<byte[]> arguments) {
		try {
			this.link.run(script, List.of(this.key), arguments);
			this.link.refusedOperations().succeeded(WRITING);
		}
		catch (StoreUnavailableException ex) {
			StoreUnavailableException failure = named(ex);
			if (failure.isRefusal()) {
				this.link.refusedOperations().refused(WRITING, String.valueOf(failure.getMessage()));
			}
			throw failure;
		}
	}

	@Override
	public Page read(@Nullable String before, int most) {
		return read("NEWEST", before, most);
	}

	@Override
	public Page readAfter(@Nullable String after, int most) {
		return read("OLDEST", after, most);
	}

	private Page read(String first, @Nullable String from, int most) {
		try {
			return page(this.link.run(READ, List.of(this.key),
					List.of(bytes(first), bytes((from != null) ? from : ""), bytes(Integer.toString(most)),
							bytes(Long.toString(this.bounds.retention().toMillis())),
							bytes(Integer.toString(BYTES_AT_ONCE)))),
					first.equals("NEWEST"));
		}
		catch (StoreUnavailableException ex) {
			throw named(ex);
		}
	}

	/** Names the key if it holds a value of another type. */
	private StoreUnavailableException named(StoreUnavailableException failure) {
		Throwable cause = failure.getCause();
		return (cause != null && WrongKeyType.isReason(cause))
				? new StoreUnavailableException(
						"Redis: " + WrongKeyType.sentence(this.key, "value of another type", "stream"), cause, true)
				: failure;
	}

	private static Page page(List<Object> reply, boolean newestFirst) {
		List<Entry> moves = new ArrayList<>();
		List<PhaseTimes> phases = new ArrayList<>();
		String first = null;
		String last = null;
		for (int i = 1; i < reply.size(); i += 2) {
			last = text((byte[]) reply.get(i));
			first = (first != null) ? first : last;
			Map<String, byte[]> fields = fields((List<?>) reply.get(i + 1));
			phases.addAll(newestFirst ? 0 : phases.size(), phases(text(fields, "phases")));
			ShardMove move = fields.containsKey("phases") ? null : move(fields);
			if (move != null) {
				moves.add(new Entry(last, move));
			}
		}
		return new Page(moves, phases, first, last, text((byte[]) reply.get(0)).equals("1"));
	}

	private static Map<String, byte[]> fields(List<?> namesAndValues) {
		Map<String, byte[]> fields = new HashMap<>();
		for (int i = 0; i < namesAndValues.size(); i += 2) {
			fields.put(text((byte[]) namesAndValues.get(i)), (byte[]) namesAndValues.get(i + 1));
		}
		return fields;
	}

	/** Returns the phases of an entry, without those that cannot be read. */
	private static List<PhaseTimes> phases(String text) {
		return text.lines()
			.limit(MOST_PHASE_LINES)
			.map(RedisMoveHistory::phasesOfShard)
			.flatMap(Stream::ofNullable)
			.toList();
	}

	/** Returns the phases of a shard; {@code null} if others have written them. */
	private static @Nullable PhaseTimes phasesOfShard(String line) {
		String[] values = line.split(" ");
		MovePhase[] all = MovePhase.values();
		// A later version may have more of them.
		if (values.length < 2 + all.length) {
			return null;
		}
		try {
			Map<MovePhase, Long> millis = new EnumMap<>(MovePhase.class);
			for (MovePhase phase : all) {
				long at = Long.parseLong(values[2 + phase.ordinal()]);
				if (at > 0) {
					millis.put(phase, at);
				}
			}
			return new PhaseTimes(ShardId.parse(values[0]), new Token(Long.parseLong(values[1])), millis);
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/** Returns a move; {@code null} if others have written it. */
	private static @Nullable ShardMove move(Map<String, byte[]> fields) {
		try {
			String former = text(fields, "former");
			return new ShardMove(ShardId.parse(text(fields, "shard")), member(text(fields, "from")),
					member(text(fields, "to")), new Token(Long.parseLong(text(fields, "token"))),
					former.isEmpty() ? Token.NONE : new Token(Long.parseLong(former)), cause(text(fields, "cause")),
					Long.parseLong(text(fields, "planned")), Long.parseLong(text(fields, "released")),
					Long.parseLong(text(fields, "assigned")), printable(text(fields, "why"), LONGEST_WHY),
					printable(text(fields, "by"), LONGEST_BY));
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/** Returns the cause; a later version may know more of them. */
	private static MoveCause cause(String text) {
		return Arrays.stream(MoveCause.values())
			.filter((cause) -> cause.name().equals(text))
			.findFirst()
			.orElseGet(() -> {
				if (!CAUSE_OF_A_LATER_VERSION.matcher(text).matches()) {
					throw new IllegalArgumentException("'" + text + "' is no cause");
				}
				return MoveCause.UNKNOWN;
			});
	}

	private static @Nullable String printable(String text, int most) {
		return text.isBlank() ? null : PrintableText.of(text, most);
	}

	private static String text(Map<String, byte[]> fields, String name) {
		byte[] value = fields.get(name);
		return (value != null) ? text(value) : "";
	}

	private static String text(byte[] value) {
		return new String(value, StandardCharsets.UTF_8);
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
