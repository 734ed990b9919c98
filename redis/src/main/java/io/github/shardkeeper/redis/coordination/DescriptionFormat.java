package io.github.shardkeeper.redis.coordination;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * A member's description as JSON, <code>{"topics":{"visits":4},"version":"1.4.2",
 * "capacity":2,"zone":"eu-1","strategy":"sticky"}</code>. A topic's number counts its
 * shards from 0; others are in
 * <code>"shards":{"visits":"4:5&lt;1 6&lt;2,3 spare"}</code>: 4 and 5 were split from 1,
 * 6 was merged from 2 and 3, and "spare" has no parents. Topics with an exact list of
 * shards are named in <code>"exact":["tenants"]</code>. A member whose subscription Redis
 * does not see adds <code>"hidden":true</code>. Unknown fields, of a newer version, are
 * ignored; missing fields are unknown, a missing capacity is 1. Does not use the
 * application's mapper, because instances of different versions share the format.
 */
public final class DescriptionFormat {

	private static final JsonMapper MAPPER = new JsonMapper();

	/** {@code reap-members.lua} searches for it: no other field is true or false. */
	private static final String HIDDEN = "hidden";

	private static final String EXACT = "exact";

	private DescriptionFormat() {
	}

	static String write(MemberDescription description) {
		ObjectNode root = MAPPER.createObjectNode();
		ObjectNode topics = root.putObject("topics");
		ObjectNode shards = MAPPER.createObjectNode();
		ArrayNode exact = MAPPER.createArrayNode();
		description.topicShards().forEach((topic, known) -> {
			topics.put(topic, known.count());
			if (!known.others().isEmpty()) {
				shards.put(topic, writeShards(known.others()));
			}
			if (known.isExact()) {
				exact.add(topic);
			}
		});
		if (!shards.isEmpty()) {
			root.set("shards", shards);
		}
		if (!exact.isEmpty()) {
			root.set(EXACT, exact);
		}
		if (!description.version().equals(ApplicationVersion.UNKNOWN)) {
			root.put("version", description.version().value());
		}
		if (description.capacity() != 1) {
			root.put("capacity", description.capacity());
		}
		putIfKnown(root, "zone", description.zone());
		putIfKnown(root, "strategy", description.strategy());
		if (description.subscriptionHidden()) {
			root.put(HIDDEN, true);
		}
		return MAPPER.writeValueAsString(root);
	}

	private static void putIfKnown(ObjectNode root, String field, @Nullable String value) {
		if (value != null) {
			root.put(field, value);
		}
	}

	public static MemberDescription read(String json) {
		SortedMap<String, TopicShards> topics = new TreeMap<>();
		JsonNode root = MAPPER.readTree(json);
		Set<String> exact = new HashSet<>();
		root.path(EXACT).values().forEach((topic) -> exact.add(topic.asString("")));
		root.path("topics")
			.properties()
			.forEach((topic) -> topics.put(topic.getKey(), shards(topic.getValue().asInt(0),
					root.path("shards").path(topic.getKey()).asString(""), exact.contains(topic.getKey()))));
		return new MemberDescription(topics, new ApplicationVersion(root.path("version").asString("")),
				Math.max(root.path("capacity").asInt(1), 1), known(root, "zone"), known(root, "strategy"),
				root.path(HIDDEN).asBoolean(false));
	}

	private static TopicShards shards(int count, String others, boolean exact) {
		TopicShards counted = TopicShards.count(Math.max(count, 0));
		try {
			TopicShards all = counted.with(readShards(others));
			return exact ? all.exactly() : all;
		}
		catch (IllegalArgumentException ex) {
			// Written by a newer version; members that can read it report these shards.
			return counted;
		}
	}

	private static @Nullable String known(JsonNode root, String field) {
		JsonNode value = root.path(field);
		return value.isString() ? value.asString() : null;
	}

	/** Writes parents by shard id, numbers in their order. */
	private static String writeShards(Map<String, SortedSet<String>> parents) {
		StringBuilder text = new StringBuilder();
		String first = null;
		String last = null;
		SortedSet<String> common = Collections.emptySortedSet();
		for (Map.Entry<String, SortedSet<String>> entry : parents.entrySet()) {
			boolean continues = last != null && entry.getValue().equals(common) && follows(last, entry.getKey());
			if (!continues) {
				append(text, first, last, common);
				first = entry.getKey();
				common = entry.getValue();
			}
			last = entry.getKey();
		}
		append(text, first, last, common);
		return text.toString();
	}

	private static boolean follows(String number, String next) {
		return ShardId.number(number) >= 0 && ShardId.number(next) == ShardId.number(number) + 1;
	}

	private static void append(StringBuilder text, @Nullable String first, @Nullable String last,
			SortedSet<String> parents) {
		if (first == null || last == null) {
			return;
		}
		text.append(text.isEmpty() ? "" : " ").append(first);
		if (!last.equals(first)) {
			text.append(':').append(last);
		}
		if (!parents.isEmpty()) {
			text.append('<').append(String.join(",", parents));
		}
	}

	/** Reads the text of {@link #writeShards}: parents by shard id. */
	private static Map<String, List<String>> readShards(String text) {
		Map<String, List<String>> parents = new TreeMap<>();
		if (text.isEmpty()) {
			return parents;
		}
		for (String entry : text.split(" ")) {
			String[] sides = entry.split("<", 2);
			List<String> common = (sides.length > 1) ? Arrays.asList(sides[1].split(",")) : List.of();
			String[] range = sides[0].split(":", 2);
			if (range.length == 1) {
				parents.put(sides[0], common);
				continue;
			}
			for (int number = Integer.parseInt(range[0]); number <= Integer.parseInt(range[1]); number++) {
				parents.put(Integer.toString(number), common);
			}
		}
		return parents;
	}

}
