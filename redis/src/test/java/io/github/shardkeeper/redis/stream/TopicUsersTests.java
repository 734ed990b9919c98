package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.Map;
import java.util.UUID;

import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.testsupport.CapturesOutput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@OnEveryRedis
@CapturesOutput
class TopicUsersTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final String prefix = UUID.randomUUID().toString();

	private final String key = this.prefix + ":{visits}:topic";

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@Test
	void groupIsRecordedInTheDocumentedForm() {
		record("visits-app", 4, "JSON");

		assertThat(users().get("user:visits-app")).matches("\\d+\\|4\\|JSON");
	}

	@Test
	void otherNumberOfShardsIsSaidOnceAndNamesBothGroups(CapturedOutput output) {
		record("visits-app", 4, "JSON");
		TopicUsers shop = users("shop", 8, "JSON");
		shop.recordIfDue(0);

		await().atMost(PATIENCE)
			.untilAsserted(() -> assertThat(shop.problems().get("visits")).contains("'shop' with 8 shards",
					"'visits-app' with 4 shards", "'shardkeeper.key-prefix'"));
		assertThat(output.getOut()).containsOnlyOnce("The topic 'visits' is used by this group 'shop'");
	}

	@Test
	void otherFormatIsFound() {
		record("visits-app", 4, "JSON");
		TopicUsers shop = users("shop", 4, "com.example.Protobuf");
		shop.recordIfDue(0);

		await().atMost(PATIENCE).until(() -> shop.problems().containsKey("visits"));
	}

	/** Several groups on one topic are a feature. */
	@Test
	void groupsThatUseTheTopicInTheSameWayAreNoProblem() {
		record("visits-app", 4, "JSON");
		TopicUsers shop = record("shop", 4, "JSON");

		assertThat(shop.problems()).isEmpty();
	}

	@Test
	void groupThatHasLeftTheTopicIsForgotten() {
		this.redis.opsForHash().put(this.key, "user:visits-app", "1000|8|JSON");
		TopicUsers shop = record("shop", 4, "JSON");

		assertThat(shop.problems()).isEmpty();
		assertThat(users()).doesNotContainKey("user:visits-app");
	}

	@Test
	void otherFieldsStay() {
		this.redis.opsForHash().put(this.key, "shards", "4");
		this.redis.opsForHash().put(this.key, "mine", "1000|8|JSON");
		this.redis.opsForHash().put(this.key, "user:broken", "?");

		record("shop", 4, "JSON");

		assertThat(users()).containsEntry("shards", "4").containsKeys("mine", "user:broken");
	}

	private TopicUsers record(String group, int shards, String format) {
		TopicUsers users = users(group, shards, format);
		users.recordIfDue(0);
		await().atMost(PATIENCE).until(() -> users().containsKey("user:" + group));
		return users;
	}

	private TopicUsers users(String group, int shards, String format) {
		return new TopicUsers(RedisClients.sharedConnector(), this.prefix, group, Map.of("visits", shards),
				(topic) -> format, Duration.ofSeconds(10));
	}

	private Map<String, String> users() {
		return this.redis.<String, String>opsForHash().entries(this.key);
	}

}
