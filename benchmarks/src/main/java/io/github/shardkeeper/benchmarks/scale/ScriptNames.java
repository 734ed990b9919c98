package io.github.shardkeeper.benchmarks.scale;

import java.util.HashMap;
import java.util.Map;

import io.github.shardkeeper.redis.coordination.ControlScripts;

/**
 * Names of the scripts that Redis knows by their hashes, for benchmarks; needs access to
 * this package. Has no state.
 */
public final class ScriptNames {

	private ScriptNames() {
	}

	/**
	 * Returns the control plane's scripts.
	 * @return the name by hash
	 */
	public static Map<String, String> byDigest() {
		ControlScripts scripts = ControlScripts.STANDARD;
		Map<String, String> names = new HashMap<>();
		names.put(scripts.joinGroup().digest(), "joinGroup");
		names.put(scripts.updateDescription().digest(), "updateDescription");
		names.put(scripts.heartbeat().digest(), "heartbeat");
		names.put(scripts.readChanges().digest(), "readChanges");
		names.put(scripts.readLoads().digest(), "readLoads");
		names.put(scripts.applyPlan().digest(), "applyPlan");
		names.put(scripts.releaseShards().digest(), "releaseShards");
		names.put(scripts.claimShards().digest(), "claimShards");
		names.put(scripts.reapMembers().digest(), "reapMembers");
		names.put(scripts.leaveGroup().digest(), "leaveGroup");
		names.put(scripts.notifyOwners().digest(), "notifyOwners");
		return names;
	}

}
