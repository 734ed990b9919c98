package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import io.lettuce.core.ScriptOutputType;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.SettingsStore;
import io.github.shardkeeper.coordination.store.SharedSettings;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.RefusedOperations;
import io.github.shardkeeper.redis.WrongKeyType;

/**
 * Settings of the instances of a group on Redis:
 *
 * <pre>
 * &lt;prefix&gt;:{&lt;group&gt;}:settings   hash: see announce-settings.lua
 * </pre>
 *
 * A missing right, or a value of another type, keeps no instance from running: then
 * nothing is compared, and health says why. Thread-safe.
 */
final class RedisSettings implements SettingsStore {

	private static final LuaScript ANNOUNCE = LuaScript.load(RedisSettings.class, ScriptOutputType.MULTI,
			"announce-settings.lua");

	private static final String COMPARING = "compare the settings of instances";

	private final RedisLink<String> link;

	private final RefusedOperations refused;

	private final String key;

	RedisSettings(RedisLink<String> link, RefusedOperations refused, String base) {
		this.link = link;
		this.refused = refused;
		this.key = base + ":settings";
	}

	@Override
	public Reply announce(String instance, SharedSettings settings, Duration lease) {
		List<Object> reply;
		try {
			reply = this.link.run(ANNOUNCE, List.of(this.key),
					List.of(instance, Long.toString(lease.toMillis()), write(settings)));
		}
		catch (StoreUnavailableException ex) {
			if (isSkipped(ex)) {
				return Reply.ACCEPTED;
			}
			throw ex;
		}
		if (reply.get(0).equals("TOOMANY")) {
			this.refused.skipped(COMPARING,
					"Redis: the key %s has %s entries, far more than Shardkeeper writes; remove it with DEL"
						.formatted(this.key, reply.get(1)));
			return Reply.ACCEPTED;
		}
		this.refused.succeeded(COMPARING);
		List<Other> others = new ArrayList<>();
		for (int i = 1; i < reply.size(); i += 3) {
			others.add(new Other(read((String) reply.get(i)), List.of(((String) reply.get(i + 2)).split(" ")),
					Math.toIntExact((Long) reply.get(i + 1))));
		}
		return new Reply(reply.get(0).equals("OK"), others);
	}

	private boolean isSkipped(StoreUnavailableException failure) {
		Throwable cause = failure.getCause();
		if (cause != null && WrongKeyType.isReason(cause)) {
			this.refused.skipped(COMPARING, String.valueOf(failure.getMessage()));
			return true;
		}
		return this.refused.failed(COMPARING, failure);
	}

	@Override
	public void withdraw(String instance) {
		this.link.call((commands) -> commands.hdel(this.key, instance));
	}

	private static String write(SharedSettings settings) {
		StringBuilder text = new StringBuilder();
		append(text, '!', settings.dividing());
		append(text, '-', settings.harmless());
		return text.toString();
	}

	private static void append(StringBuilder text, char kind, Map<String, String> values) {
		values.forEach((name, value) -> text.append(kind).append(name).append('\t').append(value).append('\n'));
	}

	/** Ignores what cannot be read: a later version may have written it. */
	private static SharedSettings read(String text) {
		SortedMap<String, String> dividing = new TreeMap<>();
		SortedMap<String, String> harmless = new TreeMap<>();
		text.lines().forEach((line) -> {
			int tab = line.indexOf('\t');
			if (tab > 1) {
				(line.startsWith("!") ? dividing : harmless).put(line.substring(1, tab), line.substring(tab + 1));
			}
		});
		return new SharedSettings(dividing, harmless);
	}

}
