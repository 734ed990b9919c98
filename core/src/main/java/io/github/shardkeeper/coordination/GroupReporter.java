package io.github.shardkeeper.coordination;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.MemberReport;
import io.github.shardkeeper.report.RunReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.schedule.RunPosition;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * Creates the report of a group from the stores on demand: it is current on every
 * instance and costs nothing between calls. Thread-safe.
 */
public final class GroupReporter {

	private final ShardCoordinator coordinator;

	private final CoordinationStore coordinationStore;

	private final CheckpointStore checkpointStore;

	private final Supplier<Map<ShardId, String>> problems;

	/**
	 * Creates a reporter.
	 * @param problems the problems of this instance's shards
	 */
	public GroupReporter(ShardCoordinator coordinator, CoordinationStore coordinationStore,
			CheckpointStore checkpointStore, Supplier<Map<ShardId, String>> problems) {
		this.coordinator = coordinator;
		this.coordinationStore = coordinationStore;
		this.checkpointStore = checkpointStore;
		this.problems = problems;
	}

	/** Returns the report; only the reason if the store does not answer. */
	public GroupReport report() {
		try {
			return read();
		}
		catch (StoreUnavailableException ex) {
			return new GroupReport(this.coordinator.settings().group(), self(), this.coordinator.isConnected(), null, 0,
					0, List.of(), List.of(), this.coordinator.groupProblems(), ex.getMessage());
		}
	}

	private @Nullable String self() {
		return this.coordinator.member().map(MemberId::value).orElse(null);
	}

	private GroupReport read() {
		GroupChanges group = this.coordinationStore.readChanges(0, -1);
		List<ShardReport> shards = shards(group.ownerships());
		Map<String, Integer> loads = new HashMap<>();
		shards.forEach((shard) -> loads.merge(String.valueOf(shard.owner()), 1, Integer::sum));
		List<MemberReport> members = new ArrayList<>();
		for (GroupMember member : (group.members() != null) ? group.members() : List.<GroupMember>of()) {
			String id = member.id().value();
			members.add(new MemberReport(id, member.id().instance(), text(member.description().version()),
					member.description().capacity(), member.description().zone(), member.id().equals(group.leader()),
					member.leaving(), sizes(member.description().topicShards()), loads.getOrDefault(id, 0)));
		}
		members.sort((one, other) -> one.id().compareTo(other.id()));
		return new GroupReport(this.coordinator.settings().group(), self(), this.coordinator.isConnected(),
				text(group.leader()), group.epoch(), group.generation(), members, shards,
				this.coordinator.groupProblems(), null);
	}

	private static Map<String, Integer> sizes(Map<String, TopicShards> topics) {
		Map<String, Integer> sizes = new TreeMap<>();
		topics.forEach((topic, shards) -> sizes.put(topic, shards.size()));
		return sizes;
	}

	private List<ShardReport> shards(List<Ownership> ownerships) {
		Map<ShardId, String> problems = new HashMap<>();
		Map<ShardId, Offset> offsets = this.checkpointStore.offsets(ownerships.stream().map(Ownership::shard).toList(),
				(shard, failure) -> problems.put(shard, "Its offset cannot be read. " + failure.getMessage()));
		problems.putAll(this.problems.get());
		return ownerships.stream().sorted((one, other) -> one.shard().compareTo(other.shard())).map((ownership) -> {
			ShardId shard = ownership.shard();
			Offset offset = offsets.get(shard);
			RunPosition runs = RunPosition.of(offset);
			return new ShardReport(shard.topic(), shard.id(), ownership.phase().name(), text(ownership.owner()),
					text(ownership.target()), ownership.token().value(),
					(offset != null && runs == null) ? offset.value() : null,
					Instant.ofEpochMilli(ownership.sinceMillis()), problems.get(shard),
					this.coordinator.why(shard).orElse(null),
					(runs != null)
							? new RunReport(runs.next(), runs.started(), runs.failed(), runs.last(), runs.ended())
							: null);
		}).toList();
	}

	private static @Nullable String text(ApplicationVersion version) {
		return version.equals(ApplicationVersion.UNKNOWN) ? null : version.value();
	}

	private static @Nullable String text(@Nullable MemberId member) {
		return (member != null) ? member.value() : null;
	}

}
