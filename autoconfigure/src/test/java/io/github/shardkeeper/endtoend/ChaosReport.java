package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.github.shardkeeper.endtoend.Fault.Kind;
import io.github.shardkeeper.endtoend.Trace.Line;
import io.github.shardkeeper.endtoend.Trace.StoreCall;

/**
 * Summary of a run, for people. Confined to one thread.
 */
final class ChaosReport {

	private final List<Disruption> disruptions = new ArrayList<>();

	private final Map<Kind, Integer> faults = new EnumMap<>(Kind.class);

	private int atLeader;

	/** Counts a fault. */
	void began(Kind kind, boolean leader) {
		this.faults.merge(kind, 1, Integer::sum);
		this.atLeader += leader ? 1 : 0;
	}

	/** Notes when something went wrong, until the group had come to rest again. */
	void disrupted(String what, long beginMicros, long endMicros) {
		this.disruptions.add(new Disruption(what, beginMicros, endMicros));
	}

	/** The longest time without any call for a shard, outside of faults. */
	Standstill longestOutsideOfFaults(Trace trace) {
		return standstills(trace).stream()
			.filter((standstill) -> this.disruptions.stream().noneMatch(standstill::touches))
			.reduce(Standstill.NONE, Standstill::longer);
	}

	String text(Map<String, Long> fed, Trace trace, TraceChecker checker) {
		Standstill longest = standstills(trace).stream().reduce(Standstill.NONE, Standstill::longer);
		String during = this.disruptions.stream()
			.filter(longest::touches)
			.map(Disruption::what)
			.findFirst()
			.orElse("no fault");
		long records = fed.values().stream().mapToLong(Long::longValue).sum();
		return """
				faults             %d: %s; %d of them at the leader
				changes of owner   %d
				records            %d fed, %d calls returned (%d of them again), %d were interrupted
				commits            %d accepted, %d refused; acquisitions: %d accepted, %d refused
				ends of leases     %d, %d of them outside of faults
				overlaps           %d excused: each the one call in which its process was frozen
				longest standstill %s, during %s
				outside of faults  %s
				""".formatted(this.faults.values().stream().mapToInt(Integer::intValue).sum(), this.faults,
				this.atLeader, moves(trace), records, trace.lines().size(), trace.lines().size() - records,
				trace.interrupted().size(), count(trace, Trace.COMMIT, true), count(trace, Trace.COMMIT, false),
				count(trace, Trace.ACQUIRE, true), count(trace, Trace.ACQUIRE, false), trace.suspensions().size(),
				suspensionsOutsideOfFaults(trace), checker.overlapsWhileFrozen().size(), longest, during,
				longestOutsideOfFaults(trace));
	}

	/** Returns the number of leases that ended although nothing was wrong. */
	private long suspensionsOutsideOfFaults(Trace trace) {
		return trace.suspensions()
			.stream()
			.filter((suspension) -> this.disruptions.stream()
				.noneMatch((disruption) -> disruption.contains(suspension.atMicros())))
			.count();
	}

	private static long moves(Trace trace) {
		return trace.byShard()
			.values()
			.stream()
			.mapToLong((lines) -> lines.stream().mapToLong(Line::token).distinct().count() - 1)
			.sum();
	}

	private static long count(Trace trace, String what, boolean accepted) {
		return trace.storeCalls()
			.stream()
			.filter((StoreCall call) -> call.what().equals(what) && call.accepted() == accepted)
			.count();
	}

	private static List<Standstill> standstills(Trace trace) {
		List<Standstill> standstills = new ArrayList<>();
		new TreeMap<>(trace.byShard()).forEach((shard, lines) -> {
			long end = Long.MAX_VALUE;
			for (Line line : lines) {
				if (line.beginMicros() > end) {
					standstills.add(new Standstill(shard, end, line.beginMicros()));
				}
				end = (end == Long.MAX_VALUE) ? line.endMicros() : Math.max(end, line.endMicros());
			}
		});
		return standstills;
	}

	private record Disruption(String what, long beginMicros, long endMicros) {

		private boolean contains(long micros) {
			return micros >= this.beginMicros && micros <= this.endMicros;
		}

	}

	/** A time without a call for a shard. */
	record Standstill(String shard, long beginMicros, long endMicros) {

		private static final Standstill NONE = new Standstill("none", 0, 0);

		Duration length() {
			return Trace.micros(this.endMicros - this.beginMicros);
		}

		private boolean touches(Disruption disruption) {
			return this.endMicros >= disruption.beginMicros && this.beginMicros <= disruption.endMicros;
		}

		private Standstill longer(Standstill other) {
			return (other.length().compareTo(length()) > 0) ? other : this;
		}

		@Override
		public String toString() {
			return "%d ms (shard %s)".formatted(length().toMillis(), this.shard);
		}

	}

}
