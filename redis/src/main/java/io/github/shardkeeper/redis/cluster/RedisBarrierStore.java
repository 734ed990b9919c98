package io.github.shardkeeper.redis.cluster;

import java.util.List;
import java.util.stream.Stream;

import io.lettuce.core.ScriptOutputType;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.barrier.BarrierStore;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.shard.MemberId;

/** Double barriers on Redis; {@code barriers.lua} describes the keys. Thread-safe. */
public final class RedisBarrierStore implements BarrierStore {

	private static final LuaScript ENTER = script("enter-barrier.lua");

	private static final LuaScript WITHDRAW = script("withdraw-from-barrier.lua");

	private static final LuaScript LEAVE = script("leave-barrier.lua");

	private final ClusterLink link;

	private final List<String> keys;

	/** Creates a store. */
	public RedisBarrierStore(ClusterLink link) {
		this.link = link;
		this.keys = link.keys("cluster", "barriers", "barrierEnds", "barrierEndTimes");
	}

	private static LuaScript script(String file) {
		return ClusterLink.script(ScriptOutputType.MULTI, "barriers.lua", file);
	}

	@Override
	public Reply enter(Request request) {
		return run(ENTER, request.session(), request.barrier(), request.ticket(), Integer.toString(request.parties()),
				Long.toString(request.view()));
	}

	@Override
	public Reply withdraw(MemberId session, String barrier, String ticket, boolean force) {
		return run(WITHDRAW, session, barrier, ticket, force ? "1" : "0");
	}

	@Override
	public Reply leave(MemberId session, String barrier, String ticket, long round) {
		return run(LEAVE, session, barrier, ticket, Long.toString(round));
	}

	private Reply run(LuaScript script, MemberId session, String barrier, String... arguments) {
		String[] all = Stream.concat(Stream.of(session.value(), barrier), Stream.of(arguments)).toArray(String[]::new);
		List<String> reply = this.link.runDurably(script, this.keys, all);
		return switch (reply.get(0)) {
			case "ENTERED" -> new Entered(Long.parseLong(reply.get(1)));
			case "WAITING" -> new Waiting(Integer.parseInt(reply.get(1)), Integer.parseInt(reply.get(2)));
			case "BUSY" -> new Busy(Integer.parseInt(reply.get(1)), Integer.parseInt(reply.get(2)));
			case "PAUSED" -> new Paused(Long.parseLong(reply.get(1)));
			case "VIEW_CHANGED" -> new ViewChanged(Long.parseLong(reply.get(1)));
			case "OTHER_PARTIES" -> new OtherParties(Integer.parseInt(reply.get(1)), !reply.get(2).equals("0"));
			case "WITHDRAWN" -> new Withdrawn();
			case "OVER" -> new Over();
			case "BROKEN" -> new Broken(Stream.of(reply.get(1).split(",")).map(MemberId::new).toList());
			case "LOST" -> new Lost();
			default -> throw new StoreUnavailableException(
					("Redis: the entry '%s' of the key %s cannot be read: '%s'. Only somebody else can have written it. "
							+ "When nobody is in the barrier, remove the entry with HDEL")
						.formatted(barrier, this.keys.get(4), reply.get(1)),
					null, true);
		};
	}

}
