package io.github.shardkeeper.coordination.member;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MeasuredLoads;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Measures the loads of this member's shards and reports them with heartbeats, if the
 * strategy uses loads. Confined to the coordinator's loop.
 */
public final class LoadReporter implements HeartbeatObserver {

	private final boolean wanted;

	private final LoadReporting reporting;

	private final HeartbeatScheduler heartbeats;

	private final MeasuredLoads loads;

	private MonotonicTime sampleAt;

	public LoadReporter(AssignmentSettings assignment, HeartbeatScheduler heartbeats, MonotonicTime now) {
		this.wanted = assignment.strategy().usesLoad();
		this.reporting = assignment.loads();
		this.heartbeats = heartbeats;
		this.loads = new MeasuredLoads(this.reporting);
		this.sampleAt = now;
	}

	public boolean isWanted() {
		return this.wanted;
	}

	/** Takes a sample if one is due, and reports it if the loads have changed enough. */
	public void run(ShardConsumption consumption, MonotonicTime now) {
		if (!this.wanted || now.isBefore(this.sampleAt)) {
			return;
		}
		this.sampleAt = now.plus(this.reporting.interval());
		this.loads.sample(consumption.work(now), now);
		LoadReport report = this.loads.report();
		if (report != null) {
			this.heartbeats.report(report);
		}
	}

	@Override
	public void writesLost() {
		reportAllAgain();
	}

	/** Reports all loads again, because the store may have lost them. */
	public void reportAllAgain() {
		this.loads.forgetReports();
	}

	@Nullable public MonotonicTime wakeAt() {
		return this.wanted ? this.sampleAt : null;
	}

}
