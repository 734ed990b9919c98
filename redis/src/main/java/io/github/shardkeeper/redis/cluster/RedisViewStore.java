package io.github.shardkeeper.redis.cluster;

import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.ScriptOutputType;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.ClusterView.Member;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.coordination.DescriptionFormat;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.text.PrintableText;

/** View of the group on Redis; {@code read-view.lua} describes it. Thread-safe. */
public final class RedisViewStore implements ViewStore {

	private static final LuaScript READ = ClusterLink.script(ScriptOutputType.MULTI, "locks.lua", "barriers.lua",
			"signals.lua", "read-view.lua");

	private static final LuaScript FREE = ClusterLink.script(ScriptOutputType.INTEGER, "locks.lua", "barriers.lua",
			"signals.lua", "explain-failed-freeing.lua");

	private static final int SHOWN_CHARACTERS = 200;

	private final ClusterLink link;

	private final List<String> keys;

	/** The last reply with members, which the next one may leave out. */
	private volatile Reply last = Reply.UNKNOWN;

	/** Creates a store. */
	public RedisViewStore(ClusterLink link) {
		this.link = link;
		this.keys = link.keys("locks", "lockWaiters", "lockTickets", "cluster", "signals", "signalAcks", "barriers",
				"barrierEnds", "barrierEndTimes");
	}

	@Override
	public Reply read(MemberId reader, String address) {
		Reply known = this.last;
		List<String> fields = this.link.run(READ, this.keys, reader.value(), Long.toString(known.number()), address);
		if (fields.get(0).equals("UNKNOWN")) {
			return Reply.UNKNOWN;
		}
		long number = Long.parseLong(fields.get(1));
		List<Member> members = fields.get(5).equals("1") ? members(fields.subList(7, fields.size())) : known.members();
		Reply reply = new Reply(true, fields.get(4).equals("1"), number, members, Long.parseLong(fields.get(2)),
				Long.parseLong(fields.get(3)));
		this.last = reply;
		return fields.get(6).equals("1") ? reply : tryToFree(reply);
	}

	/** Learns why what gone members held could not all be freed. */
	private Reply tryToFree(Reply reply) {
		try {
			this.link.<Long>run(FREE, this.keys);
			return reply;
		}
		catch (StoreUnavailableException ex) {
			return reply.withFailure(ex);
		}
	}

	private static List<Member> members(List<String> fields) {
		List<Member> members = new ArrayList<>();
		for (int i = 0; i < fields.size(); i += 2) {
			String[] record = fields.get(i + 1).split("\\|", 4);
			try {
				MemberDescription description = DescriptionFormat.read(record[3]);
				members.add(new Member(new MemberId(fields.get(i)), description.version(), description.capacity(),
						description.zone()));
			}
			catch (RuntimeException ex) {
				throw new StoreUnavailableException(
						"Redis: the member %s cannot be read: '%s'. The group is rebuilt with its next change"
							.formatted(PrintableText.of(fields.get(i), SHOWN_CHARACTERS),
									PrintableText.of(fields.get(i + 1), SHOWN_CHARACTERS)),
						ex, true);
			}
		}
		return members;
	}

}
