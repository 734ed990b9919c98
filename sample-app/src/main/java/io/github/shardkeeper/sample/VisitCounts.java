package io.github.shardkeeper.sample;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.shard.ShardId;

/**
 * The committed counts of all shards, whoever owns them. Thread-safe; a result is kept
 * for a moment, so that many open pages cost Redis no more than one.
 */
@Component
class VisitCounts {

	private static final long KEPT_NANOS = Duration.ofMillis(300).toNanos();

	private static final Comparator<ClientCount> MOST_FIRST = Comparator.comparingLong(ClientCount::count)
		.reversed()
		.thenComparing(ClientCount::client);

	private final ShardStateReader reader;

	private final JsonMapper jsonMapper;

	private final int shards;

	private @Nullable List<ClientCount> kept;

	private long keptSinceNanos;

	VisitCounts(ShardStateReader reader, JsonMapper jsonMapper,
			@Value("${shardkeeper.topics.visits.shards}") int shards) {
		this.reader = reader;
		this.jsonMapper = jsonMapper;
		this.shards = shards;
	}

	/**
	 * All clients.
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
		List<ClientCount> clients = new ArrayList<>();
		for (int number = 0; number < this.shards; number++) {
			ShardId shard = ShardId.of(VisitCounter.TOPIC, number);
			this.reader.read(shard, JsonNode.class).forEach((key, value) -> {
				if (key.startsWith(VisitCounter.CLIENT)) {
					clients.add(clientCount(key.substring(VisitCounter.CLIENT.length()), value));
				}
			});
		}
		clients.sort(MOST_FIRST);
		return List.copyOf(clients);
	}

	private ClientCount clientCount(String client, JsonNode value) {
		ClientVisits visits = this.jsonMapper.treeToValue(value, ClientVisits.class);
		return new ClientCount(client, visits.count(), visits.bytes(), visits.lastVisit());
	}

	/**
	 * One client's line in the result.
	 *
	 * @param client its address
	 * @param count how many lines it has in the log
	 * @param bytes how much it was sent
	 * @param lastVisit when it came last, in the log's own format
	 */
	record ClientCount(String client, long count, long bytes, String lastVisit) {

	}

}
