package io.github.shardkeeper.protocol;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import io.github.shardkeeper.assignment.load.LoadMeasure;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * The report of a member about the loads of its shards, as text that members of different
 * versions understand, for example
 * {@code 1|handler-time||orders:512=0;37=4,6;0=1,2,5|visits:3=0}: the version of the
 * format, the measure, the average load of omitted shards, and by topic each load with
 * its shards. Of more shards than fit into 16,000 characters the busiest are listed.
 * Immutable.
 *
 * @param text the text; empty without news
 */
public record LoadReport(String text) {

	public static final LoadReport NONE = new LoadReport("");

	private static final String FORMAT = "1";

	/** A thousand such reports are read in pieces that do not block a store. */
	private static final int MOST_CHARACTERS = 16_000;

	private static final int TWO_DIGITS = 100;

	/** Writes a report of loads that are not negative, rounded to two digits. */
	public static LoadReport of(LoadMeasure measure, Map<ShardId, Double> loads) {
		List<Map.Entry<ShardId, Double>> busiestFirst = new ArrayList<>(loads.entrySet());
		busiestFirst.sort(Map.Entry.<ShardId, Double>comparingByValue().reversed().thenComparing(Map.Entry::getKey));
		Map<String, Map<Long, List<String>>> named = new TreeMap<>();
		int length = FORMAT.length() + measure.text().length() + 20;
		int count = 0;
		for (Map.Entry<ShardId, Double> shard : busiestFirst) {
			long load = rounded(shard.getValue());
			Map<Long, List<String>> topic = named.getOrDefault(shard.getKey().topic(), Map.of());
			length += topic.isEmpty() ? shard.getKey().topic().length() + 2 : 0;
			length += topic.containsKey(load) ? 0 : Long.toString(load).length() + 2;
			length += shard.getKey().id().length() + 1;
			if (length > MOST_CHARACTERS) {
				break;
			}
			named.computeIfAbsent(shard.getKey().topic(), (t) -> new TreeMap<>(Comparator.reverseOrder()))
				.computeIfAbsent(load, (l) -> new ArrayList<>())
				.add(shard.getKey().id());
			count++;
		}
		String rest = (count == busiestFirst.size()) ? ""
				: Long.toString(rounded(busiestFirst.subList(count, busiestFirst.size())
					.stream()
					.mapToDouble(Map.Entry::getValue)
					.average()
					.orElse(0)));
		StringBuilder text = new StringBuilder(length).append(FORMAT).append('|').append(measure.text()).append('|');
		text.append(rest);
		named.forEach((topic, byLoad) -> {
			text.append('|').append(topic);
			char separator = ':';
			for (Map.Entry<Long, List<String>> shards : byLoad.entrySet()) {
				text.append(separator).append(shards.getKey()).append('=').append(String.join(",", shards.getValue()));
				separator = ';';
			}
		});
		return new LoadReport(text.toString());
	}

	private static long rounded(double load) {
		long digits = Math.round(load);
		long unit = 1;
		while (digits >= TWO_DIGITS) {
			digits = Math.round(digits / 10.0);
			unit *= 10;
		}
		return digits * unit;
	}

	/**
	 * Parses the report.
	 * @throws IllegalArgumentException when the text is malformed
	 */
	public Content content() {
		String[] fields = this.text.split("\\|", -1);
		if (fields.length < 3 || !fields[0].equals(FORMAT)) {
			throw new IllegalArgumentException("Not in format " + FORMAT + ": " + beginning());
		}
		try {
			Map<ShardId, Double> loads = new HashMap<>();
			for (int field = 3; field < fields.length; field++) {
				int colon = fields[field].indexOf(':');
				String topic = fields[field].substring(0, colon);
				for (String group : fields[field].substring(colon + 1).split(";")) {
					int equals = group.indexOf('=');
					double load = number(group.substring(0, equals));
					for (String id : group.substring(equals + 1).split(",")) {
						loads.put(new ShardId(topic, id), load);
					}
				}
			}
			return new Content(fields[1], loads, fields[2].isEmpty() ? Double.NaN : number(fields[2]));
		}
		catch (RuntimeException ex) {
			throw new IllegalArgumentException("Not a load report: " + beginning(), ex);
		}
	}

	private static double number(String text) {
		long number = Long.parseLong(text);
		if (number < 0) {
			throw new IllegalArgumentException("A load of " + number);
		}
		return number;
	}

	private String beginning() {
		return String.format(Locale.ROOT, "'%.60s'", this.text);
	}

	/**
	 * The content of a report. Immutable.
	 *
	 * @param measure the {@linkplain LoadMeasure#text() name} of what was measured
	 * @param rest the average load of the member's other shards; NaN when all are named
	 */
	public record Content(String measure, Map<ShardId, Double> loads, double rest) {

		public Content {
			loads = Map.copyOf(loads);
		}

	}

	/**
	 * The load reports since a version. Immutable.
	 *
	 * @param version the number of reports so far, from which to continue reading
	 * @param reports by member its last report
	 */
	public record LoadChanges(long version, SortedMap<MemberId, LoadReport> reports) {

		public LoadChanges {
			reports = new TreeMap<>(reports);
		}

	}

}
