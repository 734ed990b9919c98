package io.github.shardkeeper.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;

/**
 * A Lua script with its hash. Its files are read when it is first used: most scripts of a
 * store are not needed in most runs, and reading all of them would delay each start.
 * Thread-safe.
 */
public final class LuaScript {

	/** A command, with its subcommand where it has one. */
	private static final Pattern CALL = Pattern.compile("redis\\.p?call\\('([A-Z]+)'(?:, '((?<=PUBSUB', ')[A-Z]+)')?");

	/** The line of a script that an error of Redis names. */
	private static final Pattern LINE = Pattern.compile("@user_script: ?(\\d+)");

	private static final String WRITE_BEFORE_WAIT = "\nwriteBeforeWait(";

	private final String name;

	private final ScriptOutputType output;

	private final Supplier<String> reader;

	/** {@code null} before the first use; two threads may read the same files. */
	private volatile @Nullable Source source;

	private LuaScript(String name, ScriptOutputType output, Supplier<String> reader) {
		this.name = name;
		this.output = output;
		this.reader = reader;
	}

	LuaScript(String name, String text, ScriptOutputType output) {
		this(name, output, () -> text);
	}

	/**
	 * Describes a script: {@code prelude.lua}, followed by files beside a class. A file
	 * that is missing fails the first use.
	 * @param files names of the files, in their order; the last one names the script
	 */
	public static LuaScript load(Class<?> beside, ScriptOutputType output, String... files) {
		List<String> parts = List.of(files);
		return new LuaScript(parts.isEmpty() ? "prelude.lua" : parts.get(parts.size() - 1), output, () -> {
			StringBuilder text = new StringBuilder(Prelude.TEXT);
			parts.forEach((file) -> text.append(read(beside, file)).append('\n'));
			return text.toString();
		});
	}

	/** Returns the name of its file, for messages. */
	public String name() {
		return this.name;
	}

	/** Returns the source text. */
	public String text() {
		return source().text();
	}

	/** Returns the text's SHA-1, for {@code EVALSHA}. */
	public String digest() {
		return source().digest();
	}

	/** Returns the type of its result. */
	public ScriptOutputType output() {
		return this.output;
	}

	/** Returns whether it begins with {@code writeBeforeWait}. */
	public boolean writesBeforeWait() {
		return source().writesBeforeWait();
	}

	/** Returns whether its files were read. */
	boolean isRead() {
		return this.source != null;
	}

	private Source source() {
		Source known = this.source;
		if (known == null) {
			known = Source.of(this.reader.get());
			this.source = known;
		}
		return known;
	}

	/**
	 * {@return the commands it may call, named as in an ACL: {@code pubsub|numsub}}
	 */
	public Set<String> commands() {
		Set<String> commands = new TreeSet<>();
		for (Matcher call = CALL.matcher(text()); call.find();) {
			commands.add(command(call));
		}
		return commands;
	}

	/**
	 * {@return the ACL name of the only command in the line that an error of Redis names,
	 * or {@code null}}
	 */
	@Nullable String commandOf(String error) {
		Matcher line = LINE.matcher(error);
		return line.find() ? commandAt(Integer.parseInt(line.group(1))) : null;
	}

	/**
	 * {@return the ACL name of the only command in a line (from 1), or {@code null}}
	 */
	@Nullable String commandAt(int line) {
		String text = text().lines().skip(line - 1L).findFirst().orElse("");
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

	private static String sha1(String text) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
			return HexFormat.of().formatHex(digest);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** What every script begins with. */
	private static final class Prelude {

		private static final String TEXT = read(LuaScript.class, "prelude.lua");

	}

	/**
	 * What is read and computed once: a search through the text takes longer than a call.
	 */
	private record Source(String text, String digest, boolean writesBeforeWait) {

		static Source of(String text) {
			return new Source(text, sha1(text), text.contains(WRITE_BEFORE_WAIT));
		}

	}

}
