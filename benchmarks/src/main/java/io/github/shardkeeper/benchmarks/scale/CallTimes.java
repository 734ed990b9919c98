package io.github.shardkeeper.benchmarks.scale;

import java.util.Map;
import java.util.TreeMap;

import io.github.shardkeeper.benchmarks.Samples;

/**
 * Number of calls of members to their store, and the time they waited for answers to
 * heartbeats: their leases depend on it. Thread-safe.
 */
final class CallTimes {

	private Samples heartbeatMillis = new Samples();

	private Map<String, Long> calls = new TreeMap<>();

	synchronized void took(String call, long begunNanos, long endedNanos) {
		this.calls.merge(call.equals("announceLeave") ? "leaveGroup" : call, 1L, Long::sum);
		if (call.equals("heartbeat")) {
			this.heartbeatMillis.add((endedNanos - begunNanos) / 1e6);
		}
	}

	/** Those since the last call of this method. */
	synchronized Samples takeHeartbeatMillis() {
		Samples taken = this.heartbeatMillis;
		this.heartbeatMillis = new Samples();
		return taken;
	}

	/** Returns the number of calls by operation since the last call of this method. */
	synchronized Map<String, Long> takeCalls() {
		Map<String, Long> taken = this.calls;
		this.calls = new TreeMap<>();
		taken.remove("verify");
		return taken;
	}

}
