package io.github.shardkeeper.coordination.redis;

import java.util.SortedMap;
import java.util.TreeMap;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

import io.github.shardkeeper.handover.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;

/**
 * A member's description as JSON, <code>{"topics":{"visits":4},"version":"1.4.2"}</code>.
 * Fields that a newer version may add are ignored; a version that is not there is
 * unknown. Deliberately not the application's own mapper: this is a format between
 * instances of different versions.
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
		return MAPPER.writeValueAsString(root);
	}

	static MemberDescription read(String json) {
		SortedMap<String, Integer> topics = new TreeMap<>();
		JsonNode root = MAPPER.readTree(json);
		root.path("topics").properties().forEach((topic) -> topics.put(topic.getKey(), topic.getValue().asInt()));
		return new MemberDescription(topics, new ApplicationVersion(root.path("version").asString("")));
	}

}
