package io.github.shardkeeper.benchmarks.scale;

import java.util.HashMap;
import java.util.Map;

import io.github.shardkeeper.redis.coordination.ControlScripts;

/**
 * What the scripts are called that Redis knows by their hashes; a window for benchmarks,
 * hence in this package. Has no state.
 */
public final class ScriptNames {

	private ScriptNames() {
	}

	/**
	 * The control plane's scripts.
	 * @return by hash the name
	 */
	public static Map<String, String> byDigest() {
		ControlScripts scripts = ControlScripts.STANDARD;
		Map<String, String> names = new HashMap<>();
		names.put(scripts.joinGroup().digest(), "join");
		names.put(scripts.updateDescription().digest(), "describe");
		names.put(scripts.heartbeat().digest(), "heartbeat");
		names.put(scripts.readChanges().digest(), "changes");
		names.put(scripts.readLoads().digest(), "loads");
		names.put(scripts.applyPlan().digest(), "plan");
		names.put(scripts.releaseShards().digest(), "release");
		names.put(scripts.claimShards().digest(), "claim");
		names.put(scripts.reapMembers().digest(), "reap");
		names.put(scripts.leaveGroup().digest(), "leave");
		names.put(scripts.notifyOwners().digest(), "nudge");
		return names;
	}

}
