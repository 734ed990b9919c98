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
	public Answer enter(Request request) {
		return run(ENTER, request.session(), request.barrier(), request.ticket(), Integer.toString(request.parties()),
				Long.toString(request.view()));
	}

	@Override
	public Answer withdraw(MemberId session, String barrier, String ticket, boolean force) {
		return run(WITHDRAW, session, barrier, ticket, force ? "1" : "0");
	}

	@Override
	public Answer leave(MemberId session, String barrier, String ticket, long round) {
		return run(LEAVE, session, barrier, ticket, Long.toString(round));
	}

	private Answer run(LuaScript script, MemberId session, String barrier, String... arguments) {
		String[] all = Stream.concat(Stream.of(session.value(), barrier), Stream.of(arguments)).toArray(String[]::new);
		List<String> answer = this.link.runDurably(script, this.keys, all);
		return switch (answer.get(0)) {
			case "ENTERED" -> new Entered(Long.parseLong(answer.get(1)));
			case "WAITING" -> new Waiting(Integer.parseInt(answer.get(1)), Integer.parseInt(answer.get(2)));
			case "BUSY" -> new Busy(Integer.parseInt(answer.get(1)), Integer.parseInt(answer.get(2)));
			case "PAUSED" -> new Paused(Long.parseLong(answer.get(1)));
			case "VIEW_CHANGED" -> new ViewChanged(Long.parseLong(answer.get(1)));
			case "OTHER_PARTIES" -> new OtherParties(Integer.parseInt(answer.get(1)), !answer.get(2).equals("0"));
			case "WITHDRAWN" -> new Withdrawn();
			case "OVER" -> new Over();
			case "BROKEN" -> new Broken(Stream.of(answer.get(1).split(",")).map(MemberId::new).toList());
			case "LOST" -> new Lost();
			default -> throw new StoreUnavailableException(
					("Redis: the entry '%s' of the key %s cannot be read: '%s'. Only somebody else can have written it. "
							+ "When nobody is in the barrier, remove the entry with HDEL")
						.formatted(barrier, this.keys.get(4), answer.get(1)),
					null, true);
		};
	}

}
