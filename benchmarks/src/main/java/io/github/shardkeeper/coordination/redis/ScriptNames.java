package io.github.shardkeeper.coordination.redis;

import java.util.HashMap;
import java.util.Map;

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
		names.put(scripts.join().digest(), "join");
		names.put(scripts.describe().digest(), "describe");
		names.put(scripts.heartbeat().digest(), "heartbeat");
		names.put(scripts.changes().digest(), "changes");
		names.put(scripts.loads().digest(), "loads");
		names.put(scripts.plan().digest(), "plan");
		names.put(scripts.release().digest(), "release");
		names.put(scripts.claim().digest(), "claim");
		names.put(scripts.reap().digest(), "reap");
		names.put(scripts.leave().digest(), "leave");
		names.put(scripts.nudge().digest(), "nudge");
		return names;
	}

}
