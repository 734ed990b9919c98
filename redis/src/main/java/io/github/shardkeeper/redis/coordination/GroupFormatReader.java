package io.github.shardkeeper.redis.coordination;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Reads the format in which Redis holds a group: the array that a script returned, field
 * after field. Confined to one thread.
 */
final class GroupFormatReader {

	/** Entry of every key, so that none is ever empty. */
	private static final String NO_ENTRY = "#";

	private final List<?> reply;

	private int position;

	GroupFormatReader(List<?> reply, int position) {
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

	boolean flag() {
		return text().equals("1");
	}

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
		long longestLease = number();
		GroupStatus status = status();
		long directives = number();
		return new HeartbeatReply.Alive(serverTime, leader, epoch, leaderLeaseEnd, earliestLeaseEnd, generation,
				membership, through, ownerships(), history, lost, subscribed, claimsUntil, loads, setBacks, ownLeaseEnd,
				longestLease, status, directives);
	}

	private GroupStatus status() {
		long epoch = number();
		GroupProblems problems = new GroupProblems(text());
		return new GroupStatus(epoch, problems);
	}

	GroupFormatReader nested() {
		return new GroupFormatReader((List<?>) this.reply.get(this.position++), 0);
	}

	/**
	 * Reads the remaining fields as triples of shard, generation and record.
	 * @throws UnreadableEntryException when a record is missing or cannot be read
	 */
	List<Ownership> ownerships() {
		List<Ownership> ownerships = new ArrayList<>((this.reply.size() - this.position) / 3);
		while (this.position < this.reply.size()) {
			String name = text();
			long generation = number();
			String record = (String) this.reply.get(this.position++);
			try {
				String[] fields = Objects.requireNonNull(record, "no record").split("\\|", -1);
				ownerships.add(new Ownership(ShardId.parse(name), Phase.valueOf(fields[0]),
						new Token(Long.parseLong(fields[1])), memberOrNull(fields[2]), memberOrNull(fields[3]),
						generation, Long.parseLong(fields[4]), Long.parseLong(fields[5])));
			}
			catch (RuntimeException ex) {
				throw new UnreadableEntryException(true, name, record, ex);
			}
		}
		return ownerships;
	}

	/** Reads the remaining fields as pairs of member and load report. */
	Map<MemberId, LoadReport> loads() {
		Map<MemberId, LoadReport> loads = new HashMap<>();
		while (this.position < this.reply.size()) {
			loads.put(new MemberId(text()), new LoadReport(text()));
		}
		return loads;
	}

	/**
	 * Reads the remaining fields as pairs of member and record.
	 * @return the members, ordered by id
	 * @throws UnreadableEntryException when a record cannot be read
	 */
	List<GroupMember> members() {
		List<GroupMember> members = new ArrayList<>();
		while (this.position < this.reply.size()) {
			String id = text();
			String record = text();
			if (id.equals(NO_ENTRY)) {
				continue;
			}
			try {
				String[] fields = record.split("\\|", 4);
				members.add(new GroupMember(new MemberId(id), DescriptionFormat.read(fields[3]), !fields[0].equals("A"),
						fields[0].equals("R")));
			}
			catch (RuntimeException ex) {
				throw new UnreadableEntryException(false, id, record, ex);
			}
		}
		members.sort(Comparator.comparing(GroupMember::id));
		return members;
	}

	/**
	 * Reads the remaining fields as instances that are away. Ignores what cannot be read:
	 * only others can have written it, and the shards of the instance are not kept then.
	 */
	List<RestartingInstance> away() {
		List<RestartingInstance> away = new ArrayList<>();
		while (this.position < this.reply.size()) {
			String instance = text();
			long since = number();
			long until = number();
			String description = text();
			try {
				away.add(new RestartingInstance(instance, DescriptionFormat.read(description), since, until));
			}
			catch (RuntimeException ex) {
				// Neither the name of an instance nor a description.
			}
		}
		away.sort(Comparator.comparing(RestartingInstance::instance));
		return away;
	}

	/** Reads the remaining fields as pairs of member and the end of its lease. */
	Map<MemberId, Long> leaseEnds() {
		Map<MemberId, Long> ends = new HashMap<>();
		while (this.position < this.reply.size()) {
			String id = text();
			String end = text();
			try {
				ends.put(new MemberId(id), Long.parseLong(end));
			}
			catch (IllegalArgumentException ex) {
				// Only others can have written it. The leader finds it when it ends
				// sessions.
			}
		}
		return ends;
	}

	private static @Nullable MemberId memberOrNull(String text) {
		return text.isEmpty() ? null : new MemberId(text);
	}

	/** An entry has no valid value; only others can have written or removed it. */
	static final class UnreadableEntryException extends RuntimeException {

		private final boolean ofShard;

		private final String entry;

		private final @Nullable String value;

		UnreadableEntryException(boolean ofShard, String entry, @Nullable String value, RuntimeException cause) {
			super(cause);
			this.ofShard = ofShard;
			this.entry = entry;
			this.value = value;
		}

		boolean ofShard() {
			return this.ofShard;
		}

		String entry() {
			return this.entry;
		}

		/** Returns its value, empty for none. */
		String value() {
			return (this.value != null) ? this.value : "";
		}

	}

}
