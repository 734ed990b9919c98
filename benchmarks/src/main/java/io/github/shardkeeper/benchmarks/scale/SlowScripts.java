package io.github.shardkeeper.benchmarks.scale;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * The commands that took Redis long, from its {@code SLOWLOG}. Its times are by the
 * clock: Redis' waiting for a processor counts, too. Confined to its thread.
 */
final class SlowScripts {

	/** From then on a command is remembered. */
	static final long REMEMBERED_MICROS = 500;

	private static final int MOST_REMEMBERED = 50_000;

	private static final double LIMIT_MILLIS = 5;

	/** Commands that take microseconds each: a measure of the machine. */
	private static final String SINGLE = "single commands";

	private final RedisFigures redis;

	private final Map<String, String> names = ScriptNames.byDigest();

	private int overLimit;

	private final List<String> lines = new ArrayList<>(
			List.of("| while | script | calls | over 0.5 ms | median of these, ms | over 5 ms | longest, ms |",
					"|---|---|---:|---:|---:|---:|---:|"));

	SlowScripts(RedisFigures redis) {
		this.redis = redis;
		redis.commands().configSet("slowlog-log-slower-than", String.valueOf(REMEMBERED_MICROS));
		redis.commands().configSet("slowlog-max-len", String.valueOf(MOST_REMEMBERED));
	}

	/**
	 * Reads and clears the slow commands since the last call.
	 * @param phase the name of the phase since then
	 * @param calls the calls of the store since then, each of which may have been several
	 * scripts
	 */
	void read(String phase, Map<String, Long> calls) {
		Map<String, Samples> slow = new TreeMap<>();
		for (Object entry : this.redis.commands().slowlogGet(MOST_REMEMBERED)) {
			List<?> fields = (List<?>) entry;
			slow.computeIfAbsent(name((List<?>) fields.get(3)), (name) -> new Samples())
				.add((Long) fields.get(2) / 1000.0);
		}
		this.redis.commands().slowlogReset();
		calls.forEach((name, count) -> slow.computeIfAbsent(name, (unseen) -> new Samples()));
		slow.forEach((name, millis) -> this.lines.add(line(phase, name, calls.get(name), millis)));
	}

	private String line(String phase, String name, Long calls, Samples millis) {
		long over = millis.values().stream().filter((value) -> value > LIMIT_MILLIS).count();
		this.overLimit += name.equals(SINGLE) ? 0 : over;
		String figures = millis.values().isEmpty() ? "0 | | 0 | under 0.5" : String.format(Locale.ROOT,
				"%,d | %.1f | %,d | %.1f", millis.values().size(), millis.median(), over, millis.highest());
		return String.format(Locale.ROOT, "| %s | %s | %s | %s |", phase, name,
				(calls != null) ? String.format(Locale.ROOT, "%,d", calls) : "", figures);
	}

	private String name(List<?> command) {
		String name = String.valueOf(command.get(0)).toUpperCase(Locale.ROOT);
		boolean isScript = name.equals("EVALSHA") || name.equals("EVAL");
		return isScript ? this.names.getOrDefault(String.valueOf(command.get(1)), "one that is new to Redis") : SINGLE;
	}

	List<String> lines() {
		return this.lines;
	}

	/** Returns the number of scripts over the limit, by the clock. */
	int overLimit() {
		return this.overLimit;
	}

}
