package io.github.shardkeeper.protocol;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.text.PrintableText;

/**
 * Problems of the shards of a member, as text for other members. Immutable.
 * <p>
 * The text begins with a line of the format's version and {@code more}; each other line
 * names shards and their problem: <pre>
 * 1 0
 * visits:0,5~9 orders:3	VisitCounter.count(…) at offset 17-0 keeps failing: …
 * </pre>
 *
 * @param texts the problems by shard
 * @param more the number of shards whose problems did not fit into the text
 */
public record MemberProblems(SortedMap<ShardId, String> texts, int more) {

	/** Maximum length of the text. */
	public static final int MAX_LENGTH = 16_000;

	/** Maximum length of a problem in a report. */
	public static final int LONGEST_PROBLEM = 500;

	private static final String VERSION = "1";

	/** Lengths to which problems are shortened, one after the other, until all fit. */
	private static final int[] LENGTHS = { LONGEST_PROBLEM, 200, 80 };

	/** Room for the first line. */
	private static final int HEADER = 20;

	public MemberProblems {
		texts = Collections.unmodifiableSortedMap(new TreeMap<>(texts));
	}

	/** Returns the problems without line breaks, as many as fit into the text. */
	public static MemberProblems of(Map<ShardId, String> problems) {
		MemberProblems fitting = new MemberProblems(new TreeMap<>(), 0);
		for (int length : LENGTHS) {
			fitting = fitting(problems, length);
			if (fitting.more == 0) {
				break;
			}
		}
		return fitting;
	}

	private static MemberProblems fitting(Map<ShardId, String> problems, int length) {
		SortedMap<ShardId, String> shortened = new TreeMap<>();
		problems.forEach((shard, text) -> shortened.put(shard, PrintableText.of(text, length)));
		SortedMap<ShardId, String> fitting = new TreeMap<>();
		int room = MAX_LENGTH - HEADER;
		for (Map.Entry<String, SortedSet<ShardId>> line : byText(shortened).entrySet()) {
			SortedSet<ShardId> shards = line.getValue();
			String names = names(shards);
			if (names.length() + line.getKey().length() + 2 > room) {
				continue;
			}
			room -= names.length() + line.getKey().length() + 2;
			shards.forEach((shard) -> fitting.put(shard, line.getKey()));
		}
		return new MemberProblems(fitting, problems.size() - fitting.size());
	}

	private static Map<String, SortedSet<ShardId>> byText(SortedMap<ShardId, String> problems) {
		Map<String, SortedSet<ShardId>> shards = new TreeMap<>();
		problems.forEach((shard, text) -> shards.computeIfAbsent(text, (t) -> new TreeSet<>()).add(shard));
		return shards;
	}

	/** Returns the problems as text; empty if there are none. */
	public String text() {
		if (this.texts.isEmpty() && this.more == 0) {
			return "";
		}
		StringBuilder text = new StringBuilder(VERSION).append(' ').append(this.more);
		byText(this.texts)
			.forEach((problem, shards) -> text.append('\n').append(names(shards)).append('\t').append(problem));
		return text.toString();
	}

	private static String names(SortedSet<ShardId> shards) {
		StringBuilder names = new StringBuilder();
		String topic = "";
		int first = -1;
		int last = -1;
		for (ShardId shard : shards) {
			int number = ShardId.number(shard.id());
			if (shard.topic().equals(topic) && number >= 0 && number == last + 1 && last >= 0) {
				last = number;
				continue;
			}
			endRange(names, first, last);
			names.append(!shard.topic().equals(topic) ? (names.isEmpty() ? "" : " ") + shard.topic() + ":" : ",")
				.append(shard.id());
			topic = shard.topic();
			first = number;
			last = number;
		}
		endRange(names, first, last);
		return names.toString();
	}

	private static void endRange(StringBuilder names, int first, int last) {
		if (last > first) {
			names.append('~').append(last);
		}
	}

	/**
	 * Parses a text.
	 * @throws IllegalArgumentException if it is broken or has another format
	 */
	public static MemberProblems parse(String text) {
		String[] lines = text.split("\n", -1);
		String[] header = lines[0].split(" ", -1);
		if (header.length != 2 || !header[0].equals(VERSION) || text.length() > MAX_LENGTH) {
			throw new IllegalArgumentException("not in format " + VERSION);
		}
		int more = Integer.parseInt(header[1]);
		SortedMap<ShardId, String> texts = new TreeMap<>();
		for (int i = 1; i < lines.length; i++) {
			int tab = lines[i].indexOf('\t');
			if (tab < 0) {
				throw new IllegalArgumentException("line " + (i + 1) + " is broken");
			}
			String problem = PrintableText.of(lines[i].substring(tab + 1), LONGEST_PROBLEM);
			for (String ofTopic : lines[i].substring(0, tab).split(" ", -1)) {
				addShards(ofTopic, problem, texts);
			}
		}
		return new MemberProblems(texts, Math.max(0, more));
	}

	private static void addShards(String ofTopic, String problem, SortedMap<ShardId, String> texts) {
		int colon = ofTopic.indexOf(':');
		if (colon < 0) {
			throw new IllegalArgumentException("shards without a topic");
		}
		String topic = ofTopic.substring(0, colon);
		for (String ids : ofTopic.substring(colon + 1).split(",", -1)) {
			int tilde = ids.indexOf('~');
			if (tilde < 0) {
				texts.put(new ShardId(topic, ids), problem);
				continue;
			}
			int first = ShardId.number(ids.substring(0, tilde));
			int last = ShardId.number(ids.substring(tilde + 1));
			if (first < 0 || last < first || texts.size() + last - first > TopicShards.MOST_SHARDS) {
				throw new IllegalArgumentException("a range that is not possible");
			}
			for (int number = first; number <= last; number++) {
				texts.put(ShardId.of(topic, number), problem);
			}
		}
	}

}
