package io.github.shardkeeper.coordination.redis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.handover.GroupMember;
import io.github.shardkeeper.handover.GroupProblems;
import io.github.shardkeeper.handover.GroupStatus;
import io.github.shardkeeper.handover.HeartbeatReply;
import io.github.shardkeeper.handover.LoadReport;
import io.github.shardkeeper.handover.Ownership;
import io.github.shardkeeper.handover.ShardPhase;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Reads the array that a script returned, field after field. Confined to one thread.
 */
final class ReplyReader {

	private final GroupKeys keys;

	private final List<?> reply;

	private int position;

	ReplyReader(GroupKeys keys, List<?> reply, int position) {
		this.keys = keys;
		this.reply = reply;
		this.position = position;
	}

	private String text() {
		return (String) this.reply.get(this.position++);
	}

	long number() {
		return Long.parseLong(text());
	}

	@Nullable MemberId member() {
		return memberOrNull(text());
	}

	private boolean flag() {
		return text().equals("1");
	}

	/** What {@code heartbeat.lua} tells a member that is alive. */
	HeartbeatReply.Alive alive() {
		long serverTime = number();
		MemberId leader = member();
		long epoch = number();
		long leaderLeaseEnd = number();
		long earliestLeaseEnd = number();
		long generation = number();
		long membership = number();
		long through = number();
		long history = number();
		boolean lost = flag();
		boolean subscribed = flag();
		long claimsUntil = number();
		long loads = number();
		long setBacks = number();
		long ownLeaseEnd = number();
		GroupStatus status = status();
		return new HeartbeatReply.Alive(serverTime, leader, epoch, leaderLeaseEnd, earliestLeaseEnd, generation,
				membership, through, ownerships(), history, lost, subscribed, claimsUntil, loads, setBacks, ownLeaseEnd,
				status);
	}

	private GroupStatus status() {
		long epoch = number();
		GroupProblems problems = new GroupProblems(text());
		return new GroupStatus(epoch, problems, number(), number());
	}

	ReplyReader nested() {
		return new ReplyReader(this.keys, (List<?>) this.reply.get(this.position++), 0);
	}

	/**
	 * The rest, as triples of shard, generation and record.
	 * @throws StoreUnavailableException when a record is missing
	 */
	List<Ownership> ownerships() {
		List<Ownership> ownerships = new ArrayList<>((this.reply.size() - this.position) / 3);
		while (this.position < this.reply.size()) {
			ShardId shard = ShardId.parse(text());
			long generation = number();
			if (this.reply.get(this.position) == null) {
				throw this.keys.withoutRecord(shard);
			}
			String[] fields = text().split("\\|", -1);
			ownerships.add(new Ownership(shard, ShardPhase.valueOf(fields[0]), new Token(Long.parseLong(fields[1])),
					memberOrNull(fields[2]), memberOrNull(fields[3]), generation, Long.parseLong(fields[4]),
					Long.parseLong(fields[5])));
		}
		return ownerships;
	}

	/** The rest, as pairs of member and load report. */
	Map<MemberId, LoadReport> loads() {
		Map<MemberId, LoadReport> loads = new HashMap<>();
		while (this.position < this.reply.size()) {
			loads.put(new MemberId(text()), new LoadReport(text()));
		}
		return loads;
	}

	/** The rest, as pairs of member and record; ordered by the member's id. */
	List<GroupMember> members() {
		List<GroupMember> members = new ArrayList<>();
		while (this.position < this.reply.size()) {
			MemberId id = new MemberId(text());
			String[] fields = text().split("\\|", 4);
			members.add(new GroupMember(id, DescriptionFormat.read(fields[3]), fields[0].equals("L")));
		}
		members.sort(Comparator.comparing(GroupMember::id));
		return members;
	}

	private static @Nullable MemberId memberOrNull(String text) {
		return text.isEmpty() ? null : new MemberId(text);
	}

}
