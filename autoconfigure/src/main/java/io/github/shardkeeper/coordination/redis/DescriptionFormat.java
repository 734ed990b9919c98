package io.github.shardkeeper.coordination.redis;

import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

import io.github.shardkeeper.handover.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;

/**
 * A member's description as JSON, <code>{"topics":{"visits":4},"version":"1.4.2",
 * "capacity":2,"zone":"eu-1","strategy":"sticky"}</code>. Fields that a newer version may
 * add are ignored, and those that an older one leaves out are unknown, a capacity 1.
 * Deliberately not the application's own mapper: this is a format between instances of
 * different versions.
 */
final class DescriptionFormat {

	private static final JsonMapper MAPPER = new JsonMapper();

	private DescriptionFormat() {
	}

	static String write(MemberDescription description) {
		ObjectNode root = MAPPER.createObjectNode();
		ObjectNode topics = root.putObject("topics");
		description.topicShards().forEach(topics::put);
		if (!description.version().equals(ApplicationVersion.UNKNOWN)) {
			root.put("version", description.version().value());
		}
		if (description.capacity() != 1) {
			root.put("capacity", description.capacity());
		}
		putIfKnown(root, "zone", description.zone());
		putIfKnown(root, "strategy", description.strategy());
		return MAPPER.writeValueAsString(root);
	}

	private static void putIfKnown(ObjectNode root, String field, @Nullable String value) {
		if (value != null) {
			root.put(field, value);
		}
	}

	static MemberDescription read(String json) {
		SortedMap<String, Integer> topics = new TreeMap<>();
		JsonNode root = MAPPER.readTree(json);
		root.path("topics").properties().forEach((topic) -> topics.put(topic.getKey(), topic.getValue().asInt()));
		return new MemberDescription(topics, new ApplicationVersion(root.path("version").asString("")),
				Math.max(root.path("capacity").asInt(1), 1), known(root, "zone"), known(root, "strategy"));
	}

	private static @Nullable String known(JsonNode root, String field) {
		JsonNode value = root.path(field);
		return value.isString() ? value.asString() : null;
	}

}
