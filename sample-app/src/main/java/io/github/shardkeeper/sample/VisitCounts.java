package io.github.shardkeeper.sample;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.stereotype.Component;

import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.shard.ShardId;

/**
 * Committed counts of all shards, whichever instance owns them. A result is kept for 300
 * ms, so that many open pages cost Redis no more than one. Thread-safe.
 */
@Component
class VisitCounts {

	private static final long KEPT_NANOS = Duration.ofMillis(300).toNanos();

	private static final Comparator<ClientCount> MOST_FIRST = Comparator.comparingLong(ClientCount::count)
		.reversed()
		.thenComparing(ClientCount::client);

	private final ShardStateReader reader;

	private final JsonMapper jsonMapper;

	private final ShardTopics topics;

	private @Nullable List<ClientCount> kept;

	private long keptSinceNanos;

	VisitCounts(ShardStateReader reader, JsonMapper jsonMapper, ShardTopics topics) {
		this.reader = reader;
		this.jsonMapper = jsonMapper;
		this.topics = topics;
	}

	/**
	 * Returns all clients.
	 * @return an immutable list, most visits first
	 */
	synchronized List<ClientCount> clients() {
		List<ClientCount> clients = this.kept;
		if (clients == null || System.nanoTime() - this.keptSinceNanos > KEPT_NANOS) {
			clients = read();
			this.kept = clients;
			this.keptSinceNanos = System.nanoTime();
		}
		return clients;
	}

	private List<ClientCount> read() {
		Map<String, ClientVisits> visits = new HashMap<>();
		int shards = this.topics.shards(VisitCounter.TOPIC);
		for (int number = 0; number < shards; number++) {
			ShardId shard = ShardId.of(VisitCounter.TOPIC, number);
			this.reader.read(shard, JsonNode.class).forEach((key, value) -> {
				if (key.startsWith(VisitCounter.CLIENT)) {
					visits.merge(key.substring(VisitCounter.CLIENT.length()),
							this.jsonMapper.treeToValue(value, ClientVisits.class), ClientVisits::plus);
				}
			});
		}
		return visits.entrySet()
			.stream()
			.map((client) -> new ClientCount(client.getKey(), client.getValue().count(), client.getValue().bytes(),
					client.getValue().lastVisit()))
			.sorted(MOST_FIRST)
			.toList();
	}

	/**
	 * Counts of one client.
	 *
	 * @param client its address
	 * @param count number of its lines in the log
	 * @param bytes bytes that were sent to it
	 * @param lastVisit time of its last visit, in the log's own format
	 */
	record ClientCount(String client, long count, long bytes, String lastVisit) {

	}

}
