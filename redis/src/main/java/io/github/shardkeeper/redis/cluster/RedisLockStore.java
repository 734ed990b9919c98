package io.github.shardkeeper.redis.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.lettuce.core.ScriptOutputType;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.lock.LockStore;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Token;

/** Locks on Redis; {@code locks.lua} describes the keys. Thread-safe. */
public final class RedisLockStore implements LockStore {

	private static final LuaScript ACQUIRE = script(ScriptOutputType.MULTI, "acquire-free-lock.lua",
			"acquire-lock.lua");

	private static final LuaScript RELEASE = script(ScriptOutputType.VALUE, "release-unwanted-lock.lua",
			"release-lock.lua");

	private static final LuaScript CHECK = script(ScriptOutputType.MULTI, "check-waiting.lua");

	private static final LuaScript HELD = script(ScriptOutputType.MULTI, "read-held-locks.lua");

	private final ClusterLink link;

	private final List<String> keys;

	/** Creates a store. */
	public RedisLockStore(ClusterLink link) {
		this.link = link;
		this.keys = link.keys("locks", "lockWaiters", "lockTickets");
	}

	private static LuaScript script(ScriptOutputType output, String file) {
		return ClusterLink.script(output, "locks.lua", file);
	}

	/** Loads a script whose usual case is in a file of its own, and comes first. */
	private static LuaScript script(ScriptOutputType output, String usualCase, String file) {
		return LuaScript.load(RedisLockStore.class, output, usualCase, "cluster.lua", "locks.lua", file);
	}

	@Override
	public Reply acquire(Request request) {
		List<String> reply = this.link.runDurably(ACQUIRE, this.keys, request.session().value(), request.lock(),
				request.ticket(), ClusterLink.millis(request.atLeast()), ClusterLink.millis(request.atMost()),
				request.waits() ? "1" : "0");
		return switch (reply.get(0)) {
			case "GRANTED" -> Reply.granted(new Token(Long.parseLong(reply.get(1))), Long.parseLong(reply.get(2)));
			case "HELD" -> Reply.held(Long.parseLong(reply.get(1)));
			case "NO_SESSION" -> Reply.NO_SESSION;
			default -> throw new StoreUnavailableException(
					("Redis: the entry '%s' of the key %s cannot be read: '%s'. Only somebody else can have written it. "
							+ "When nobody holds the lock, remove the entry with HDEL")
						.formatted(request.lock(), this.keys.get(3), reply.get(1)),
					null, true);
		};
	}

	@Override
	public boolean release(MemberId session, String lock, String ticket) {
		String reply = this.link.runDurably(RELEASE, this.keys, session.value(), lock, ticket);
		return reply.equals("RELEASED");
	}

	@Override
	public Set<String> check(Map<String, String> waiting) {
		List<String> arguments = new ArrayList<>();
		waiting.forEach((ticket, lock) -> arguments.addAll(List.of(lock, ticket)));
		List<String> reply = this.link.runDurably(CHECK, this.keys, arguments.toArray(String[]::new));
		return Set.copyOf(reply);
	}

	@Override
	public Map<String, String> held(MemberId session) {
		List<String> reply = this.link.run(HELD, this.keys, session.value());
		Map<String, String> held = new TreeMap<>();
		for (int i = 0; i < reply.size(); i += 2) {
			held.put(reply.get(i), reply.get(i + 1));
		}
		return held;
	}

}
