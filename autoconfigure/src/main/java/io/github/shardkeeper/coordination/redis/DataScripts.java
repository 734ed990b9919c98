package io.github.shardkeeper.coordination.redis;

import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.ScriptOutputType;

import io.github.shardkeeper.redis.LuaScript;

/**
 * The data plane's scripts, each of which begins with {@code data.lua}. Immutable.
 */
record DataScripts(LuaScript acquire, LuaScript commit, LuaScript due, LuaScript complete, LuaScript sendBack,
		LuaScript since, LuaScript read, LuaScript statePage, LuaScript seek, LuaScript letters, LuaScript remove) {

	static final DataScripts STANDARD = load();

	/**
	 * Loads the scripts.
	 * @param preludes further files to put between {@code data.lua} and each script
	 * @return the scripts
	 */
	static DataScripts load(String... preludes) {
		return new DataScripts(script(ScriptOutputType.MULTI, "acquire.lua", preludes),
				script(ScriptOutputType.VALUE, "commit.lua", preludes),
				script(ScriptOutputType.MULTI, "due.lua", preludes),
				script(ScriptOutputType.VALUE, "complete.lua", preludes),
				script(ScriptOutputType.INTEGER, "send-back.lua", preludes),
				script(ScriptOutputType.VALUE, "since.lua", preludes),
				script(ScriptOutputType.MULTI, "read.lua", preludes),
				script(ScriptOutputType.MULTI, "state-page.lua", preludes),
				script(ScriptOutputType.VALUE, "seek.lua", preludes),
				script(ScriptOutputType.MULTI, "letters.lua", preludes),
				script(ScriptOutputType.INTEGER, "remove.lua", preludes));
	}

	private static LuaScript script(ScriptOutputType output, String file, String... preludes) {
		List<String> files = new ArrayList<>(List.of("data.lua"));
		files.addAll(List.of(preludes));
		files.add(file);
		return LuaScript.load(DataScripts.class, output, files.toArray(String[]::new));
	}

}
