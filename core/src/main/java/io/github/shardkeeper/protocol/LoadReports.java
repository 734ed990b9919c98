package io.github.shardkeeper.protocol;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The load reports that the leader has read, and when to read and use them: at once after
 * the election, then once per interval as long as there are reports, also when they have
 * not changed, because a cool-down may be over.
 * <p>
 * A shard that has moved keeps the load that its last owner reported until the new one
 * has measured it. Not thread-safe: confined to the coordinator's loop.
 */
public final class LoadReports {

	private final @Nullable LoadReporting reporting;

	private final Map<MemberId, LoadReport.Content> reports = new HashMap<>();

	/** Loads that the last owners reported of shards that have moved since. */
	private final Map<ShardId, Double> before = new HashMap<>();

	private final Set<MemberId> complainedOf = new HashSet<>();

	/** Number of reports so far, as the last heartbeat told. */
	private long told;

	/** Version up to which they were read. */
	private long version;

	private @Nullable MonotonicTime lookedAt;

	/**
	 * Creates an empty instance.
	 * @param reporting how loads are measured, {@code null} when the strategy does not
	 * look at them
	 */
	public LoadReports(@Nullable LoadReporting reporting) {
		this.reporting = reporting;
	}

	/**
	 * Takes in the answer to a heartbeat.
	 * @param loads how many reports there have been
	 * @param sentAt when the heartbeat was sent: what was read since then may be newer
	 */
	void told(long loads, MonotonicTime sentAt) {
		boolean isOlder = loads < this.version;
		if (this.reporting == null || isOlder && this.lookedAt != null && !this.lookedAt.isBefore(sentAt)) {
			return;
		}
		this.told = loads;
		if (isOlder) {
			// The store has lost some.
			readAllAgain();
		}
	}

	/** Returns when to look next; {@code null} for at once, or without reports. */
	@Nullable MonotonicTime lookAt() {
		return (this.reporting != null && this.told > 0 && this.lookedAt != null)
				? this.lookedAt.plus(this.reporting.interval()) : null;
	}

	boolean isLookDue(MonotonicTime now) {
		MonotonicTime lookAt = lookAt();
		return this.told > 0 && (lookAt == null || !now.isBefore(lookAt));
	}

	/**
	 * Returns the version to read on from, or -1 when all reports are known.
	 */
	long look(MonotonicTime now) {
		if (this.told != this.version) {
			return this.version;
		}
		this.lookedAt = now;
		return -1;
	}

	/**
	 * Takes in what was read.
	 * @return sentences about reports that cannot be used, one for each member
	 */
	List<String> loadsRead(LoadChanges changes, MonotonicTime now) {
		this.lookedAt = now;
		this.version = changes.version();
		this.told = Math.max(this.told, changes.version());
		List<String> complaints = new ArrayList<>();
		changes.reports().forEach((member, report) -> {
			String complaint = take(member, report);
			if (complaint == null) {
				this.complainedOf.remove(member);
			}
			else if (this.complainedOf.add(member)) {
				complaints.add(complaint);
			}
		});
		return complaints;
	}

	private @Nullable String take(MemberId member, LoadReport report) {
		LoadReport.Content content;
		try {
			content = report.content();
		}
		catch (IllegalArgumentException ex) {
			return "The load report of %s cannot be read and is ignored: %s".formatted(member, ex.getMessage());
		}
		String measure = (this.reporting != null) ? this.reporting.measure().text() : "";
		if (!content.measure().equals(measure)) {
			return "%s measures loads by '%s' ('shardkeeper.assignment.load.measure'), but this leader by '%s': "
				.formatted(member, content.measure(), measure)
					+ "its report is ignored. Give all instances the same measure";
		}
		keepBefore(this.reports.put(member, content), content.loads());
		content.loads().keySet().forEach(this.before::remove);
		return null;
	}

	private void keepBefore(LoadReport.@Nullable Content gone, Map<ShardId, Double> now) {
		if (gone != null) {
			gone.loads().forEach((shard, load) -> {
				if (!now.containsKey(shard)) {
					this.before.put(shard, load);
				}
			});
		}
	}

	/**
	 * Returns the loads for a request.
	 * @param picture the group
	 * @return by the picture's number of each shard its load, NaN where it is not known;
	 * {@code null} when none is
	 */
	double @Nullable [] of(GroupPicture picture) {
		forgetMembersBut(picture.members());
		if (this.reports.isEmpty() && this.before.isEmpty()) {
			return null;
		}
		double[] loads = new double[picture.shards().size()];
		Arrays.fill(loads, Double.NaN);
		this.before.forEach((shard, load) -> set(loads, picture.shards().indexOf(shard), load));
		// The owner's report counts; otherwise the higher one of former owners.
		this.reports.values().forEach((content) -> content.loads().forEach((shard, load) -> {
			int number = picture.shards().indexOf(shard);
			if (number >= 0 && !(loads[number] > load)) {
				loads[number] = load;
			}
		}));
		for (int shard = 0; shard < loads.length; shard++) {
			Ownership ownership = picture.ownership(shard);
			LoadReport.Content owners = (ownership != null) ? this.reports.get(ownership.owner()) : null;
			if (owners != null) {
				set(loads, shard, owners.loads().getOrDefault(picture.shards().get(shard), owners.rest()));
			}
		}
		return loads;
	}

	private static void set(double[] loads, int shard, double load) {
		if (shard >= 0 && !Double.isNaN(load)) {
			loads[shard] = load;
		}
	}

	private void forgetMembersBut(List<GroupMember> members) {
		Set<MemberId> known = new HashSet<>();
		members.forEach((member) -> known.add(member.id()));
		this.complainedOf.retainAll(known);
		for (MemberId member : List.copyOf(this.reports.keySet())) {
			if (!known.contains(member)) {
				keepBefore(this.reports.remove(member), Map.of());
			}
		}
	}

	/** Has all reports read again: the store may have lost some since. */
	void readAllAgain() {
		this.version = 0;
	}

	/** Forgets everything: a leadership begins or ends. */
	void reset() {
		this.reports.clear();
		this.before.clear();
		this.complainedOf.clear();
		this.told = 0;
		this.version = 0;
		this.lookedAt = null;
	}

}
