package io.github.shardkeeper.sample;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.sample.VisitCounts.ClientCount;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

class VisitsControllerTests {

	private static final Map<ShardId, Map<String, String>> COMMITTED = Map
		.of(ShardId.of("visits", 0),
				Map.of("line", "6", "client:192.0.2.9",
						"{\"count\":2,\"bytes\":10,\"lastVisit\":\"17/May/2015:10:05:03 +0000\"}"),
				ShardId.of("visits", 2),
				Map.of("line", "5", "client:192.0.2.1", "{\"count\":3,\"bytes\":0,\"lastVisit\":\"\"}",
						"client:192.0.2.2", "{\"count\":2,\"bytes\":1,\"lastVisit\":\"\"}"),
				ShardId.of("visits", 3), Map.of("line", "9", "client:192.0.2.9",
						"{\"count\":4,\"bytes\":7,\"lastVisit\":\"02/Jun/2015:00:00:00 +0000\"}"));

	private final AtomicInteger reads = new AtomicInteger();

	private final RaisedTopics topics = new RaisedTopics();

	private final MockMvcTester mvc = MockMvcTester
		.of(new VisitsController(new VisitCounts(new Reader(), new JsonMapper(), this.topics)));

	@Test
	void topSumsUpAllShards() {
		assertThat(this.mvc.get().uri("/visits/top?limit=2")).hasStatusOk().bodyJson().isStrictlyEqualTo("""
				{"lines": 7, "clients": 3, "top": [
					{"client": "192.0.2.1", "count": 3, "bytes": 0, "lastVisit": ""},
					{"client": "192.0.2.2", "count": 2, "bytes": 1, "lastVisit": ""}]}""");
	}

	@Test
	void allVisitsAreTextLikeTheOutputOfUniq() {
		assertThat(this.mvc.get().uri("/visits")).hasStatusOk()
			.hasContentTypeCompatibleWith(MediaType.TEXT_PLAIN)
			.hasBodyTextEqualTo("3 192.0.2.1\n2 192.0.2.2\n2 192.0.2.9\n");
	}

	@Test
	void manyPagesReadOnce() {
		VisitCounts counts = new VisitCounts(new Reader(), new JsonMapper(), this.topics);
		assertThat(counts.clients()).isEqualTo(counts.clients());
		assertThat(this.reads).hasValueLessThanOrEqualTo(6);
	}

	@Test
	void shardsOfARaisedTopicAreRead() {
		this.topics.shards = 2;
		assertThat(new VisitCounts(new Reader(), new JsonMapper(), this.topics).clients()).hasSize(1);
		VisitCounts counts = new VisitCounts(new Reader(), new JsonMapper(), this.topics);
		this.topics.raise("visits", 3);
		assertThat(counts.clients()).hasSize(3);
	}

	@Test
	void countsOfAClientInTwoShardsAreSummed() {
		this.topics.raise("visits", 4);
		assertThat(new VisitCounts(new Reader(), new JsonMapper(), this.topics).clients()).first()
			.isEqualTo(new ClientCount("192.0.2.9", 6, 17, "02/Jun/2015:00:00:00 +0000"));
	}

	private static final class RaisedTopics implements ShardTopics {

		private int shards = 3;

		@Override
		public int shards(String topic) {
			assertThat(topic).isEqualTo("visits");
			return this.shards;
		}

		@Override
		public int raise(String topic, int shards) {
			this.shards = shards;
			return shards;
		}

	}

	private final class Reader implements ShardStateReader {

		@Override
		public <T> Map<String, T> read(ShardId shard, Class<T> type) {
			VisitsControllerTests.this.reads.incrementAndGet();
			Map<String, T> values = new LinkedHashMap<>();
			COMMITTED.getOrDefault(shard, Map.of())
				.forEach((key, json) -> values.put(key, new JsonMapper().readValue(json, type)));
			return values;
		}

		@Override
		public <T> Map<String, T> read(ShardId shard, Collection<String> keys, Class<T> type) {
			Map<String, T> values = read(shard, type);
			values.keySet().retainAll(keys);
			return values;
		}

	}

}
