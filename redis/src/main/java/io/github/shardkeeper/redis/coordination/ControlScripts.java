package io.github.shardkeeper.redis.coordination;

import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.ScriptOutputType;

import io.github.shardkeeper.redis.LuaScript;

/** Scripts of the control plane; each begins with {@code control.lua}. Immutable. */
public record ControlScripts(LuaScript joinGroup, LuaScript updateDescription, LuaScript heartbeat,
		LuaScript readChanges, LuaScript readLoads, LuaScript applyPlan, LuaScript releaseShards, LuaScript claimShards,
		LuaScript reapMembers, LuaScript leaveGroup, LuaScript notifyOwners, LuaScript publishProblems,
		LuaScript recordUnreadableEntry, LuaScript forgetShards, LuaScript endClaims) {

	public static final ControlScripts STANDARD = load();

	/** Loads the scripts, with {@code preludes} between {@code control.lua} and each. */
	static ControlScripts load(String... preludes) {
		return new ControlScripts(script(ScriptOutputType.MULTI, "join-group.lua", preludes),
				script(ScriptOutputType.MULTI, "update-description.lua", preludes),
				script(ScriptOutputType.MULTI, "heartbeat.lua", preludes),
				script(ScriptOutputType.MULTI, "read-changes.lua", preludes),
				script(ScriptOutputType.MULTI, "read-loads.lua", preludes),
				script(ScriptOutputType.MULTI, "apply-plan.lua", preludes),
				script(ScriptOutputType.MULTI, "release-shards.lua", preludes),
				script(ScriptOutputType.MULTI, "claim-shards.lua", preludes),
				script(ScriptOutputType.MULTI, "reap-members.lua", preludes),
				script(ScriptOutputType.VALUE, "leave-group.lua", preludes),
				script(ScriptOutputType.VALUE, "notify-owners.lua", preludes),
				script(ScriptOutputType.MULTI, "publish-problems.lua", preludes),
				script(ScriptOutputType.VALUE, "record-unreadable-entry.lua", preludes),
				script(ScriptOutputType.MULTI, "forget-shards.lua", preludes),
				script(ScriptOutputType.VALUE, "end-claims.lua", preludes));
	}

	private static LuaScript script(ScriptOutputType output, String file, String... preludes) {
		List<String> files = new ArrayList<>(List.of("control.lua"));
		files.addAll(List.of(preludes));
		files.add(file);
		return LuaScript.load(ControlScripts.class, output, files.toArray(String[]::new));
	}

}
