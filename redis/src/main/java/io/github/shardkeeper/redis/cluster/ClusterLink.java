package io.github.shardkeeper.redis.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.codec.StringCodec;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.RedisSubscription;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.ReplicatedLink;
import io.github.shardkeeper.redis.WrongKeyType;

/**
 * What the stores of the cluster tools on Redis share: one connection, the group's keys,
 * and messages. {@code cluster.lua} describes the keys. Connects when it is first used.
 * Thread-safe.
 */
public final class ClusterLink implements ClusterMessages, AutoCloseable {

	private final RedisConnector connector;

	private final RedisLink<String> link;

	private final ReplicatedLink<String> replicated;

	private final Duration timeout;

	private final String base;

	/** Creates a link that is not connected. The time limit is for each reply. */
	public ClusterLink(RedisConnector connector, String keyPrefix, String group, Duration timeout, ReplicaWait wait) {
		this.connector = connector;
		this.link = new RedisLink<>(connector, StringCodec.UTF8, timeout);
		this.replicated = new ReplicatedLink<>(connector, this.link, timeout, wait);
		this.timeout = timeout;
		this.base = keyPrefix + ":{" + group + "}";
	}

	/** Loads a script: {@code cluster.lua}, followed by other files. */
	static LuaScript script(ScriptOutputType output, String... files) {
		List<String> all = new ArrayList<>(List.of("cluster.lua"));
		all.addAll(List.of(files));
		return LuaScript.load(ClusterLink.class, output, all.toArray(String[]::new));
	}

	/** Returns the full name of a key of the group. */
	String key(String name) {
		return this.base + ":" + name;
	}

	/** Returns the keys of a script: those of the group, and those of the tool. */
	List<String> keys(String... names) {
		List<String> keys = new ArrayList<>(List.of(key("group"), key("members"), key("sessions")));
		for (String name : names) {
			keys.add(key(name));
		}
		return List.copyOf(keys);
	}

	/**
	 * Runs a script.
	 * @throws io.github.shardkeeper.StoreUnavailableException when there is no reply in
	 * time, or an error
	 */
	<T> T run(LuaScript script, List<String> keys, String... arguments) {
		return named(keys, () -> this.link.run(script, keys, List.of(arguments)));
	}

	/**
	 * Runs a script that begins with {@code writeBeforeWait}, and waits for the
	 * configured number of replicas.
	 * @throws io.github.shardkeeper.StoreUnavailableException when there is no reply in
	 * time, or an error, or too few replicas have the change; the master may have it
	 */
	<T> T runDurably(LuaScript script, List<String> keys, String... arguments) {
		return named(keys, () -> this.replicated.run(script, keys, List.of(arguments)));
	}

	/** Names the types of the keys if one of them is not what it should be. */
	private <T> T named(List<String> keys, Supplier<T> call) {
		try {
			return call.get();
		}
		catch (StoreUnavailableException ex) {
			if (ex.getCause() == null || !WrongKeyType.isReason(ex.getCause())) {
				throw ex;
			}
			String types = keys.stream()
				.map((key) -> key + ": " + this.link.<String>call((commands) -> commands.type(key)))
				.collect(Collectors.joining(", "));
			throw new StoreUnavailableException(
					"Redis: a key holds a value of another type than what belongs there (%s). Move it away with RENAME or remove it with DEL"
						.formatted(types),
					ex, true);
		}
	}

	static String millis(Duration time) {
		return Long.toString(time.toMillis());
	}

	@Override
	public Subscription subscribe(String address, Consumer<String> onMessage) {
		RedisSubscription subscription = RedisSubscription.open(this.connector,
				List.of(key("cluster"), key("cluster:" + address)), this.timeout, onMessage);
		return new Subscription() {
			@Override
			public boolean isOpen() {
				return subscription.isOpen();
			}

			@Override
			public void close() {
				subscription.close();
			}
		};
	}

	@Override
	public void close() {
		this.replicated.close();
		this.link.close();
	}

}
