package io.github.shardkeeper.coordination.redis;

import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.ScriptOutputType;

import io.github.shardkeeper.redis.LuaScript;

/**
 * The control plane's scripts, each of which begins with {@code control.lua}. Immutable.
 */
record ControlScripts(LuaScript join, LuaScript describe, LuaScript heartbeat, LuaScript changes, LuaScript loads,
		LuaScript plan, LuaScript release, LuaScript claim, LuaScript reap, LuaScript leave, LuaScript nudge,
		LuaScript publish, LuaScript distrust, LuaScript forget, LuaScript endClaims) {

	static final ControlScripts STANDARD = load();

	/**
	 * Loads the scripts.
	 * @param preludes further files to put between {@code control.lua} and each script
	 * @return the scripts
	 */
	static ControlScripts load(String... preludes) {
		return new ControlScripts(script(ScriptOutputType.MULTI, "join.lua", preludes),
				script(ScriptOutputType.MULTI, "describe.lua", preludes),
				script(ScriptOutputType.MULTI, "heartbeat.lua", preludes),
				script(ScriptOutputType.MULTI, "changes.lua", preludes),
				script(ScriptOutputType.MULTI, "loads.lua", preludes),
				script(ScriptOutputType.MULTI, "plan.lua", preludes),
				script(ScriptOutputType.MULTI, "release.lua", preludes),
				script(ScriptOutputType.MULTI, "claim.lua", preludes),
				script(ScriptOutputType.MULTI, "reap.lua", preludes),
				script(ScriptOutputType.VALUE, "leave.lua", preludes),
				script(ScriptOutputType.VALUE, "nudge.lua", preludes),
				script(ScriptOutputType.MULTI, "publish.lua", preludes),
				script(ScriptOutputType.VALUE, "distrust.lua", preludes),
				script(ScriptOutputType.MULTI, "forget.lua", preludes),
				script(ScriptOutputType.VALUE, "end-claims.lua", preludes));
	}

	private static LuaScript script(ScriptOutputType output, String file, String... preludes) {
		List<String> files = new ArrayList<>(List.of("control.lua"));
		files.addAll(List.of(preludes));
		files.add(file);
		return LuaScript.load(ControlScripts.class, output, files.toArray(String[]::new));
	}

}
