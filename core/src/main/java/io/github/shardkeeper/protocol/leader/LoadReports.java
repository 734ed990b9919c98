package io.github.shardkeeper.protocol.leader;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The load reports that the leader has read, and when to read and use them: immediately
 * after the election, then once per interval even if they have not changed, because a
 * cool-down may be over. A moved shard keeps the load that its last owner reported until
 * the new one has measured it. Confined to the coordinator's loop.
 */
public final class LoadReports {

	private final @Nullable LoadReporting reporting;

	private final Map<MemberId, LoadReport.Content> reports = new HashMap<>();

	/** Loads reported by the last owners of shards that have moved since. */
	private final Map<ShardId, Double> before = new HashMap<>();

	private final Set<MemberId> warnedOf = new HashSet<>();

	/** Number of reports so far, according to the last heartbeat. */
	private long told;

	private long version;

	private @Nullable MonotonicTime lookedAt;

	/** Creates an empty instance; without a measurement if the strategy ignores loads. */
	public LoadReports(@Nullable LoadReporting reporting) {
		this.reporting = reporting;
	}

	/**
	 * Takes in the number of reports so far.
	 * @param sentAt the time at which the heartbeat was sent: later reads may be newer
	 */
	void told(long loads, MonotonicTime sentAt) {
		boolean isOlder = loads < this.version;
		if (this.reporting == null || isOlder && this.lookedAt != null && !this.lookedAt.isBefore(sentAt)) {
			return;
		}
		this.told = loads;
		if (isOlder) {
			readAllAgain();
		}
	}

	/** Returns the time of the next look; {@code null} for now, or without reports. */
	@Nullable MonotonicTime lookAt() {
		return (this.reporting != null && this.told > 0 && this.lookedAt != null)
				? this.lookedAt.plus(this.reporting.interval()) : null;
	}

	boolean isLookDue(MonotonicTime now) {
		MonotonicTime lookAt = lookAt();
		return this.told > 0 && (lookAt == null || !now.isBefore(lookAt));
	}

	/** Returns the version from which to read; -1 when all reports are known. */
	long look(MonotonicTime now) {
		if (this.told != this.version) {
			return this.version;
		}
		this.lookedAt = now;
		return -1;
	}

	/** Returns warnings about unusable reports, one for each member. */
	List<String> loadsRead(LoadChanges changes, MonotonicTime now) {
		this.lookedAt = now;
		this.version = changes.version();
		this.told = Math.max(this.told, changes.version());
		List<String> warnings = new ArrayList<>();
		changes.reports().forEach((member, report) -> {
			String warning = take(member, report);
			if (warning == null) {
				this.warnedOf.remove(member);
			}
			else if (this.warnedOf.add(member)) {
				warnings.add(warning);
			}
		});
		return warnings;
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

	/** Returns the load by shard, NaN if unknown; {@code null} if all are unknown. */
	double @Nullable [] of(GroupPicture picture) {
		forgetMembersBut(picture.members());
		if (this.reports.isEmpty() && this.before.isEmpty()) {
			return null;
		}
		double[] loads = new double[picture.shards().size()];
		Arrays.fill(loads, Double.NaN);
		this.before.forEach((shard, load) -> set(loads, picture.shards().indexOf(shard), load));
		// The report of the owner counts; otherwise the highest of former owners.
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
		this.warnedOf.retainAll(known);
		for (MemberId member : List.copyOf(this.reports.keySet())) {
			if (!known.contains(member)) {
				keepBefore(this.reports.remove(member), Map.of());
			}
		}
	}

	void readAllAgain() {
		this.version = 0;
	}

	void reset() {
		this.reports.clear();
		this.before.clear();
		this.warnedOf.clear();
		this.told = 0;
		this.version = 0;
		this.lookedAt = null;
	}

}
