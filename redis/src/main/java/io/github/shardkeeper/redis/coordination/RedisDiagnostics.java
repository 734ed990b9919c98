package io.github.shardkeeper.redis.coordination;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.MapScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.WrongKeyType;

/**
 * Notes of a group on Redis, in the slot of the group:
 *
 * <pre>
 * &lt;prefix&gt;:{&lt;group&gt;}:problems    hash  member     problems of its shards
 * &lt;prefix&gt;:{&lt;group&gt;}:reasons     hash  topic/id   reason for its last move
 * </pre>
 *
 * Each script declares one of them and no other key: while Redis Cluster moves the slot,
 * a node refuses a script if some of its keys exist and others do not. Uses the
 * connection of the data plane, so that a long reply delays no heartbeat. Thread-safe.
 */
final class RedisDiagnostics implements GroupDiagnostics {

	/** Bytes of a text of the greatest length. */
	private static final int MOST_BYTES = 4 * MAX_LENGTH;

	/** Far more than a group has members. */
	private static final int MOST_NAMES = 10_000;

	private static final int SCANNED_AT_ONCE = 1000;

	private static final LuaScript WRITE = LuaScript.load(RedisDiagnostics.class, ScriptOutputType.VALUE,
			"write-diagnostics.lua");

	private static final LuaScript READ = LuaScript.load(RedisDiagnostics.class, ScriptOutputType.MULTI,
			"read-diagnostics.lua");

	private static final LuaScript LIST = LuaScript.load(RedisDiagnostics.class, ScriptOutputType.MULTI,
			"list-diagnostics.lua");

	private static final Duration RETRY_PAUSE = Duration.ofSeconds(5);

	private final RedisLink<byte[]> link;

	/** Keys with a value of another type that are looked at again soon. */
	private final Set<Kind> looking = ConcurrentHashMap.newKeySet();

	private final Map<Kind, String> keys = new EnumMap<>(Kind.class);

	RedisDiagnostics(RedisLink<byte[]> link, String base) {
		this.link = link;
		this.keys.put(Kind.PROBLEMS, base + ":problems");
		this.keys.put(Kind.REASONS, base + ":reasons");
	}

	private String key(Kind kind) {
		return this.keys.getOrDefault(kind, "");
	}

	private static String operation(Kind kind) {
		return switch (kind) {
			case PROBLEMS -> "share the problems of shards with other instances";
			case REASONS -> "keep the reasons of moves for other instances";
		};
	}

	@Override
	public CompletableFuture<Void> write(Kind kind, Map<String, String> texts) {
		return write(kind, "REPLACE", texts);
	}

	@Override
	public CompletableFuture<Void> writeMissing(Kind kind, Map<String, String> texts) {
		return write(kind, "ADD", texts);
	}

	private CompletableFuture<Void> write(Kind kind, String how, Map<String, String> texts) {
		List<byte[]> arguments = new ArrayList<>(2 * texts.size() + 1);
		arguments.add(bytes(how));
		texts.forEach((name, text) -> {
			arguments.add(bytes(name));
			arguments.add(bytes(text));
		});
		return this.<Object>send(kind, WRITE, arguments).thenApply((written) -> null);
	}

	@Override
	public CompletableFuture<Set<String>> names(Kind kind) {
		return this.<List<byte[]>>send(kind, LIST, List.of(bytes(Integer.toString(MOST_NAMES)))).thenApply((names) -> {
			Set<String> found = new HashSet<>();
			names.forEach((name) -> found.add(text(name)));
			return found;
		});
	}

	private <T> CompletableFuture<T> send(Kind kind, LuaScript script, List<byte[]> arguments) {
		return this.link.<T>send(script, List.of(key(kind)), arguments).whenComplete((reply, failure) -> {
			if (failure == null) {
				this.link.refusedOperations().succeeded(operation(kind));
			}
			else if (isWrongType(failure)) {
				this.link.refusedOperations().skipped(operation(kind), wrongType(kind));
				lookAgain(kind);
			}
			else {
				this.link.refusedOperations().failed(operation(kind), failure);
			}
		});
	}

	/**
	 * Looks until the key can be used again: there may be nothing to write for a long
	 * time, in which health would show what is over.
	 */
	private void lookAgain(Kind kind) {
		if (this.looking.add(kind)) {
			CompletableFuture.delayedExecutor(RETRY_PAUSE.toMillis(), TimeUnit.MILLISECONDS, this.link.background())
				.execute(() -> {
					this.looking.remove(kind);
					names(kind);
				});
		}
	}

	@Override
	public Map<String, String> read(Kind kind, Collection<String> names) {
		if (names.isEmpty()) {
			return Map.of();
		}
		List<byte[]> arguments = new ArrayList<>(names.size() + 1);
		arguments.add(bytes(Integer.toString(MOST_BYTES)));
		names.forEach((name) -> arguments.add(bytes(name)));
		List<byte @Nullable []> texts;
		try {
			texts = this.link.run(READ, List.of(key(kind)), arguments);
		}
		catch (StoreUnavailableException ex) {
			throw isWrongType(ex) ? new StoreUnavailableException("Redis: " + wrongType(kind), ex.getCause(), true)
					: ex;
		}
		Map<String, String> found = new HashMap<>();
		int i = 0;
		for (String name : names) {
			byte @Nullable [] stored = texts.get(i++);
			if (stored != null) {
				String text = text(stored);
				found.put(name, (text.length() <= MAX_LENGTH) ? text : "");
			}
		}
		return found;
	}

	@Override
	public void removeAll(Kind kind, String beginning) {
		String key = key(kind);
		ScanArgs matching = ScanArgs.Builder.matches(beginning + "*").limit(SCANNED_AT_ONCE);
		ScanCursor cursor = ScanCursor.INITIAL;
		try {
			while (!cursor.isFinished()) {
				ScanCursor last = cursor;
				MapScanCursor<String, byte[]> page = this.link.call((commands) -> commands.hscan(key, last, matching));
				String[] found = page.getMap().keySet().toArray(String[]::new);
				if (found.length > 0) {
					this.link.call((commands) -> commands.hdel(key, found));
				}
				cursor = page;
			}
		}
		catch (StoreUnavailableException ex) {
			// Of what others have put there, no text is left.
			if (!isWrongType(ex)) {
				throw ex;
			}
		}
	}

	private static boolean isWrongType(Throwable failure) {
		Throwable unwrapped = (failure instanceof CompletionException) ? failure.getCause() : failure;
		Throwable cause = (unwrapped != null) ? unwrapped.getCause() : null;
		return cause != null && WrongKeyType.isReason(cause);
	}

	private String wrongType(Kind kind) {
		return WrongKeyType.sentence(key(kind), "value of another type", "hash");
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
