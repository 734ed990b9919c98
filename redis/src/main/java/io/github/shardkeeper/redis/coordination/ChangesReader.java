package io.github.shardkeeper.redis.coordination;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.text.PrintableText;

import static io.github.shardkeeper.redis.coordination.ScriptRunner.number;

/**
 * Reads what has changed in a group, in steps that are short for Redis, and has a group
 * rebuilt whose keys cannot be read. Thread-safe.
 */
final class ChangesReader {

	/** Maximum number of load reports that one script returns; they may be long. */
	private static final int REPORTS_AT_ONCE = 25;

	private static final int SHOWN_CHARACTERS = 200;

	private final ScriptRunner runner;

	private final ControlScripts scripts;

	private final GroupKeys keys;

	private final String name;

	private final int readAtOnce;

	private final int reportsAtOnce;

	/**
	 * Creates a reader.
	 * @param name the name of the group
	 * @param readAtOnce the maximum number of shards that one script returns
	 */
	ChangesReader(ScriptRunner runner, ControlScripts scripts, GroupKeys keys, String name, int readAtOnce) {
		this.runner = runner;
		this.scripts = scripts;
		this.keys = keys;
		this.name = name;
		this.readAtOnce = readAtOnce;
		this.reportsAtOnce = Math.min(REPORTS_AT_ONCE, readAtOnce);
	}

	/**
	 * Reads what has changed since a generation and a membership.
	 * @param onStep is called after each step
	 */
	GroupChanges changes(long afterGeneration, long seenMembership, Runnable onStep) {
		List<Ownership> ownerships = new ArrayList<>();
		List<GroupMember> members = null;
		List<RestartingInstance> away = List.of();
		boolean whole = false;
		long seen = afterGeneration;
		long membershipSeen = seenMembership;
		while (true) {
			List<Object> reply = this.runner.run(this.scripts.readChanges(), number(seen), number(membershipSeen),
					number(this.readAtOnce));
			requireWhole(reply);
			GroupFormatReader reader = new GroupFormatReader(reply, 1);
			onStep.run();
			MemberId leader = reader.member();
			long epoch = reader.number();
			long generation = reader.number();
			long membership = reader.number();
			if (reader.flag()) {
				// Shards were forgotten: the reply begins at generation 0 again.
				whole = true;
				ownerships.clear();
			}
			long through = reader.number();
			List<GroupMember> changedMembers = read(reader.nested()::members);
			members = (membership != membershipSeen) ? changedMembers : members;
			ownerships.addAll(read(reader.nested()::ownerships));
			Map<MemberId, Long> silent = reader.nested().leaseEnds();
			List<RestartingInstance> changedAway = reader.nested().away();
			away = (membership != membershipSeen) ? changedAway : away;
			seen = through;
			membershipSeen = membership;
			if (through >= generation) {
				return new GroupChanges(leader, epoch, generation, membership, whole, members, ownerships, silent,
						away);
			}
		}
	}

	/** Reads the load reports that have changed since a version. */
	LoadChanges loads(long afterVersion) {
		SortedMap<MemberId, LoadReport> reports = new TreeMap<>();
		long seen = afterVersion;
		while (true) {
			GroupFormatReader reader = new GroupFormatReader(
					this.runner.run(this.scripts.readLoads(), number(seen), number(this.reportsAtOnce)), 0);
			long version = reader.number();
			seen = reader.number();
			reports.putAll(reader.loads());
			if (seen >= version) {
				return new LoadChanges(version, reports);
			}
		}
	}

	/** Reads a reply. If it has an entry that cannot be read, the group is rebuilt. */
	<T> T read(Supplier<T> reading) {
		try {
			return reading.get();
		}
		catch (GroupFormatReader.UnreadableEntryException ex) {
			this.runner.run(this.scripts.recordUnreadableEntry(),
					List.of(ex.ofShard() ? "S" : "M", ex.entry(), ex.value()));
			throw new StoreUnavailableException(
					("Redis: the entry %s of %s cannot be read: '%s'. The group is rebuilt; its members keep their "
							+ "shards. Do not change the group's keys by other means")
						.formatted(PrintableText.of(ex.entry(), SHOWN_CHARACTERS),
								this.keys.names().get(ex.ofShard() ? 6 : 1),
								PrintableText.of(ex.value(), SHOWN_CHARACTERS)),
					ex, true);
		}
	}

	/**
	 * Checks whether the keys of the group agree.
	 * @throws StoreUnavailableException if they do not
	 */
	void requireWhole(List<Object> reply) {
		if (reply.get(0).equals("BROKEN")) {
			throw new StoreUnavailableException(
					"The keys of group '%s' in Redis do not agree: %s. The group is rebuilt with its members' next heartbeats"
						.formatted(this.name, faults(reply)),
					null);
		}
	}

	/** Returns what does not agree in the keys of the group, as a reply lists it. */
	static String faults(List<Object> reply) {
		return reply.stream().skip(1).map(String::valueOf).collect(Collectors.joining("; "));
	}

}
