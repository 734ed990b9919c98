package io.github.shardkeeper.redis.checkpoint;

import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.ScriptOutputType;

import io.github.shardkeeper.redis.LuaScript;

/** Scripts of the data plane; each begins with {@code data.lua}. Immutable. */
record DataScripts(LuaScript acquireShard, LuaScript commit, LuaScript readDueRetries, LuaScript completeShard,
		LuaScript sendBackDeadLetters, LuaScript recordConsumedSince, LuaScript readCheckpoint, LuaScript readStatePage,
		LuaScript requestSeek, LuaScript listDeadLetters, LuaScript removeShard, LuaScript expireDeadLetters,
		LuaScript readOutbox, LuaScript listWaiting, LuaScript readRetries, LuaScript changeWaiting,
		LuaScript leaveShard, LuaScript readTimers, LuaScript readEntries, LuaScript readKeys) {

	static final DataScripts STANDARD = load();

	/** Loads the scripts, with {@code preludes} between {@code data.lua} and each. */
	static DataScripts load(String... preludes) {
		return new DataScripts(script(ScriptOutputType.MULTI, "acquire-shard.lua", preludes),
				script(ScriptOutputType.VALUE, "commit.lua", preludes),
				script(ScriptOutputType.MULTI, "read-due-retries.lua", preludes),
				script(ScriptOutputType.VALUE, "complete-shard.lua", preludes),
				script(ScriptOutputType.INTEGER, "send-back-dead-letters.lua", preludes),
				script(ScriptOutputType.VALUE, "record-consumed-since.lua", preludes),
				script(ScriptOutputType.MULTI, "read-checkpoint.lua", preludes),
				script(ScriptOutputType.MULTI, "read-state-page.lua", preludes),
				script(ScriptOutputType.VALUE, "request-seek.lua", preludes),
				script(ScriptOutputType.MULTI, "list-dead-letters.lua", preludes),
				script(ScriptOutputType.INTEGER, "remove-shard.lua", preludes),
				script(ScriptOutputType.INTEGER, "expire-dead-letters.lua", preludes),
				script(ScriptOutputType.MULTI, "read-outbox.lua", preludes),
				script(ScriptOutputType.MULTI, "list-waiting.lua", preludes),
				script(ScriptOutputType.MULTI, "read-retries.lua", preludes),
				script(ScriptOutputType.INTEGER, "change-waiting.lua", preludes),
				script(ScriptOutputType.INTEGER, "leave-shard.lua", preludes),
				script(ScriptOutputType.MULTI, "read-timers.lua", preludes),
				script(ScriptOutputType.MULTI, "read-entries.lua", preludes),
				script(ScriptOutputType.MULTI, "read-keys.lua", preludes));
	}

	private static LuaScript script(ScriptOutputType output, String file, String... preludes) {
		List<String> files = new ArrayList<>(List.of("data.lua"));
		files.addAll(List.of(preludes));
		files.add(file);
		return LuaScript.load(DataScripts.class, output, files.toArray(String[]::new));
	}

}
