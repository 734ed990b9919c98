package io.github.shardkeeper.redis.checkpoint;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;

import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

import io.github.shardkeeper.shard.Offset;

/**
 * Offsets as a JSON array, because they may be any text; none are empty text.
 */
final class OffsetsFormat {

	private static final JsonMapper MAPPER = new JsonMapper();

	private OffsetsFormat() {
	}

	static String write(Set<Offset> offsets) {
		if (offsets.isEmpty()) {
			return "";
		}
		ArrayNode array = MAPPER.createArrayNode();
		offsets.forEach((offset) -> array.add(offset.value()));
		return MAPPER.writeValueAsString(array);
	}

	static Set<Offset> read(String text) {
		if (text.isEmpty()) {
			return Set.of();
		}
		Set<Offset> offsets = new LinkedHashSet<>();
		MAPPER.readTree(text).forEach((offset) -> offsets.add(new Offset(offset.asString())));
		return Collections.unmodifiableSet(offsets);
	}

}
