package io.github.shardkeeper.redis.cluster;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.ClusterSignal;
import io.github.shardkeeper.cluster.signal.SignalStore;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.shard.MemberId;

/** Signals on Redis; {@code signals.lua} describes the keys. Thread-safe. */
public final class RedisSignalStore implements SignalStore {

	private static final LuaScript SEND = ClusterLink.script(ScriptOutputType.VALUE, "signals.lua", "send-signal.lua");

	private static final LuaScript ACKNOWLEDGE = ClusterLink.script(ScriptOutputType.MULTI, "signals.lua",
			"acknowledge-signals.lua");

	private static final LuaScript READ_ACKS = ClusterLink.script(ScriptOutputType.MULTI, "read-signal-acks.lua");

	/** Replies for each name. */
	private static final int ANSWERS = 3;

	private final ClusterLink link;

	private final List<String> sendKeys;

	private final List<String> acknowledgeKeys;

	private final List<String> readKeys;

	/** Creates a store. */
	public RedisSignalStore(ClusterLink link) {
		this.link = link;
		this.sendKeys = link.keys("cluster", "signals", "signalAcks");
		this.acknowledgeKeys = link.keys("cluster", "signals", "signalAcks");
		this.readKeys = link.keys("signalAcks");
	}

	@Override
	public long send(String name, String payload, Duration retention, String address) {
		String number = this.link.runDurably(SEND, this.sendKeys, name, ClusterLink.millis(retention), address,
				payload);
		return Long.parseLong(number);
	}

	@Override
	public @Nullable Map<String, Latest> acknowledge(MemberId session, Map<String, Listening> listening) {
		List<String> names = List.copyOf(listening.keySet());
		List<String> arguments = new ArrayList<>(List.of(session.value()));
		listening.forEach((name, each) -> arguments.addAll(List.of(name, Long.toString(each.handled().number()),
				each.handled().outcome().name(), each.handled().message(), ClusterLink.millis(each.maxAge()))));
		List<String> reply = this.link.run(ACKNOWLEDGE, this.acknowledgeKeys, arguments.toArray(String[]::new));
		if (reply.get(0).equals("NO_SESSION")) {
			return null;
		}
		Map<String, Latest> latest = new TreeMap<>();
		for (int i = 1; i < reply.size(); i += ANSWERS) {
			String name = names.get((i - 1) / ANSWERS);
			String number = reply.get(i);
			if (number.equals("UNREADABLE")) {
				latest.put(name, Latest.unreadable(reply.get(i + 2)));
			}
			else if (!number.isEmpty()) {
				latest.put(name, Latest.of(new ClusterSignal(name, Long.parseLong(number),
						Instant.ofEpochMilli(Long.parseLong(reply.get(i + 1))), reply.get(i + 2))));
			}
		}
		return latest;
	}

	@Override
	public Map<MemberId, Handled> acknowledgements(String name) {
		List<String> reply = this.link.run(READ_ACKS, this.readKeys, name);
		Map<MemberId, Handled> handled = new TreeMap<>();
		for (int i = 0; i < reply.size(); i += 2) {
			handled.put(new MemberId(reply.get(i)), handled(reply.get(i + 1)));
		}
		return handled;
	}

	private static Handled handled(String entry) {
		String[] fields = entry.split("\\|", 3);
		try {
			return new Handled(Long.parseLong(fields[0]), Outcome.valueOf(fields[1]), fields[2]);
		}
		catch (IllegalArgumentException | IndexOutOfBoundsException ex) {
			// What cannot be read is the reply: the sender learns of it.
			return Handled.unreadable(entry);
		}
	}

}
