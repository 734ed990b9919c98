package io.github.shardkeeper.redis.coordination;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.ReplicatedLink;
import io.github.shardkeeper.redis.WrongKeyType;
import io.github.shardkeeper.shard.MemberId;

/**
 * Directives of a group on Redis, in the hash
 * <code>&lt;prefix&gt;:{&lt;group&gt;}:directives</code>; {@code directives.lua}
 * describes it. Uses the connections of the control plane: there are few of them, and
 * they are read after a change only. A change waits for replicas. Thread-safe.
 */
final class RedisDirectives implements DirectiveStore {

	/** More than members write, in case a later version allows more. */
	private static final int MOST_READ = 10 * MOST;

	private static final int MOST_BYTES = 4_000;

	private static final String FORMAT = "1";

	private static final LuaScript CHANGE = LuaScript.load(RedisDirectives.class, ScriptOutputType.MULTI,
			"directives.lua", "change-directive.lua");

	private static final LuaScript COMPLETE = LuaScript.load(RedisDirectives.class, ScriptOutputType.VALUE,
			"directives.lua", "complete-requests.lua");

	private static final LuaScript READ = LuaScript.load(RedisDirectives.class, ScriptOutputType.MULTI,
			"directives.lua", "read-directives.lua");

	private final RedisLink<String> link;

	private final ReplicatedLink<String> replicated;

	private final String base;

	/** Creates a store on the connection of each link. */
	RedisDirectives(RedisLink<String> link, ReplicatedLink<String> replicated, String base) {
		this.link = link;
		this.replicated = replicated;
		this.base = base;
	}

	@Override
	public Directives read() {
		List<Object> reply = run(READ, List.of(Integer.toString(MOST_READ), Integer.toString(MOST_BYTES)));
		long version = Long.parseLong((String) reply.get(1));
		List<Directive> directives = new ArrayList<>();
		List<String> problems = new ArrayList<>();
		switch ((String) reply.get(0)) {
			case "WRONGTYPE" -> problems.add("Redis: " + wrongType());
			case "TOOMANY" -> problems.add("Redis: the key %s has %s entries, far more than Shardkeeper writes; "
				.formatted(key("directives"), reply.get(2)) + "remove those that others have written");
			default -> {
				for (int i = 2; i < reply.size(); i += 2) {
					String name = (String) reply.get(i);
					Directive.parse(name, (String) reply.get(i + 1))
						.ifPresentOrElse(directives::add, () -> problems.add(unreadable(name)));
				}
			}
		}
		return new Directives(version, directives, problems);
	}

	private String unreadable(String name) {
		return "Redis: the entry '%s' of %s cannot be read: it is broken, or a later version has written it"
			.formatted(name.replaceAll("[^ -~]", "?"), key("directives"));
	}

	@Override
	public Change put(Directive directive) {
		return change(directive.kind(), directive.subject(), List.of("PUT", directive.name(), Integer.toString(MOST),
				FORMAT, (directive.to() != null) ? directive.to() : "", directive.by(), directive.reason()));
	}

	@Override
	public Change clear(Kind kind, String subject) {
		return change(kind, subject, List.of("CLEAR", Directive.name(kind, subject)));
	}

	private Change change(Kind kind, String subject, List<String> arguments) {
		List<Object> reply = this.replicated.run(CHANGE, keys(), arguments);
		String outcome = (String) reply.get(0);
		return switch (outcome) {
			case "WRONGTYPE" -> throw new StoreUnavailableException("Redis: " + wrongType(), null, true);
			case "UNKNOWN" -> throw new StoreUnavailableException(
					"Redis does not know the group: no instance has joined it since Redis was emptied. Try again later",
					null, true);
			case "FULL" -> new Change(Outcome.FULL, null);
			default -> new Change(Outcome.valueOf(outcome), before(kind, subject, (String) reply.get(1)));
		};
	}

	private static @Nullable Directive before(Kind kind, String subject, String text) {
		return Directive.parse(Directive.name(kind, subject), text).orElse(null);
	}

	@Override
	public boolean complete(MemberId leader, long epoch, Collection<Directive> requests) {
		List<String> arguments = new ArrayList<>(List.of(leader.value(), Long.toString(epoch)));
		requests.forEach((request) -> {
			arguments.add(request.name());
			arguments.add(Long.toString(request.version()));
		});
		return this.<String>run(COMPLETE, arguments).equals("DONE");
	}

	private <T> T run(LuaScript script, List<String> arguments) {
		return this.link.run(script, keys(), arguments);
	}

	private List<String> keys() {
		return List.of(key("group"), key("members"), key("directives"));
	}

	private String wrongType() {
		return WrongKeyType.sentence(key("directives"), "value of another type", "hash");
	}

	private String key(String name) {
		return this.base + ":" + name;
	}

}
