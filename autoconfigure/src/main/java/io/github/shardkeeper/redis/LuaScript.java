package io.github.shardkeeper.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

import io.lettuce.core.ScriptOutputType;

/**
 * A Lua script with its hash. Immutable.
 *
 * @param text the script
 * @param digest its SHA-1, by which Redis knows it
 * @param output the shape of its result
 */
public record LuaScript(String text, String digest, ScriptOutputType output) {

	/** What every script may need, beside this class. */
	private static final String COMMON = read(LuaScript.class, "memory.lua");

	private static final Pattern WRITE_BEFORE_WAIT = Pattern.compile("^writeBeforeWait\\(", Pattern.MULTILINE);

	/**
	 * Loads a script that stands in one or several files beside a class. Before them
	 * comes {@code memory.lua}.
	 * @param beside the class
	 * @param output the shape of the result
	 * @param files the files' names, to be put one after the other
	 * @return the script
	 */
	public static LuaScript load(Class<?> beside, ScriptOutputType output, String... files) {
		StringBuilder text = new StringBuilder(COMMON);
		for (String file : files) {
			text.append(read(beside, file)).append('\n');
		}
		return new LuaScript(text.toString(), sha1(text.toString()), output);
	}

	/** Whether it writes something each time, as {@code memory.lua} says. */
	boolean writesBeforeWait() {
		return WRITE_BEFORE_WAIT.matcher(this.text).find();
	}

	private static String read(Class<?> beside, String file) {
		try (InputStream stream = beside.getResourceAsStream(file)) {
			if (stream == null) {
				throw new IllegalStateException("Missing on the class path: " + file + " beside " + beside.getName());
			}
			return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot read " + file, ex);
		}
	}

	static String sha1(String text) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
			return HexFormat.of().formatHex(digest);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
