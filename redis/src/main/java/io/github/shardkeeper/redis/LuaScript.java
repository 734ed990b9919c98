package io.github.shardkeeper.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;

/**
 * A Lua script with its hash. Immutable.
 *
 * @param name the name of its file, for messages
 * @param text the source text
 * @param digest the text's SHA-1, for {@code EVALSHA}
 * @param output the type of its result
 * @param writesBeforeWait whether it begins with {@code writeBeforeWait}
 */
public record LuaScript(String name, String text, String digest, ScriptOutputType output, boolean writesBeforeWait) {

	private static final String PRELUDE = read(LuaScript.class, "prelude.lua");

	/** A command, with its subcommand where it has one. */
	private static final Pattern CALL = Pattern.compile("redis\\.p?call\\('([A-Z]+)'(?:, '((?<=PUBSUB', ')[A-Z]+)')?");

	private static final Pattern WRITE_BEFORE_WAIT = Pattern.compile("^writeBeforeWait\\(", Pattern.MULTILINE);

	LuaScript(String name, String text, String digest, ScriptOutputType output) {
		// Once: a search through the text takes longer than a call of the script.
		this(name, text, digest, output, WRITE_BEFORE_WAIT.matcher(text).find());
	}

	/**
	 * Loads a script: {@code prelude.lua}, followed by files beside a class.
	 * @param files names of the files, in their order; the last one names the script
	 */
	public static LuaScript load(Class<?> beside, ScriptOutputType output, String... files) {
		StringBuilder text = new StringBuilder(PRELUDE);
		for (String file : files) {
			text.append(read(beside, file)).append('\n');
		}
		return new LuaScript((files.length > 0) ? files[files.length - 1] : "prelude.lua", text.toString(),
				sha1(text.toString()), output);
	}

	/**
	 * {@return the commands it may call, named as in an ACL: {@code pubsub|numsub}}
	 */
	public Set<String> commands() {
		Set<String> commands = new TreeSet<>();
		for (Matcher call = CALL.matcher(this.text); call.find();) {
			commands.add(command(call));
		}
		return commands;
	}

	/**
	 * {@return the ACL name of the only command in a line (from 1), or {@code null}}
	 */
	@Nullable String commandAt(int line) {
		String text = this.text.lines().skip(line - 1L).findFirst().orElse("");
		Matcher call = CALL.matcher(text);
		String command = call.find() ? command(call) : null;
		return call.find() ? null : command;
	}

	private static String command(Matcher call) {
		String command = (call.group(2) != null) ? call.group(1) + "|" + call.group(2) : call.group(1);
		return command.toLowerCase(Locale.ROOT);
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
