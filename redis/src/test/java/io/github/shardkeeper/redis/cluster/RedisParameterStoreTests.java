package io.github.shardkeeper.redis.cluster;

import java.time.Duration;
import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.parameter.ParameterStore;
import io.github.shardkeeper.cluster.parameter.ParameterStore.Reply;
import io.github.shardkeeper.cluster.parameter.ParameterStoreContract;
import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.coordination.RedisServer;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@OnEveryRedis
class RedisParameterStoreTests extends ParameterStoreContract {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private final String name = UUID.randomUUID().toString();

	private final CoordinationStore group = new RedisCoordinationStore(RedisClients.sharedConnector(),
			RedisServer.PREFIX, this.name, TIMEOUT);

	private final ClusterLink link = new ClusterLink(RedisClients.sharedConnector(), RedisServer.PREFIX, this.name,
			TIMEOUT, ReplicaWait.NONE);

	@Override
	protected CoordinationStore group() {
		return this.group;
	}

	@Override
	protected ClusterMessages messages() {
		return this.link;
	}

	@Override
	protected StoreServer server() {
		return new RedisServer(this.name);
	}

	@Override
	protected ViewStore views() {
		return new RedisViewStore(this.link);
	}

	@Override
	protected ParameterStore parameters() {
		return new RedisParameterStore(this.link);
	}

	private HashOperations<String, String, String> hashes() {
		return new StringRedisTemplate(RedisClients.sharedFactory()).opsForHash();
	}

	private String key(String name) {
		return RedisServer.PREFIX + ":{" + this.name + "}:" + name;
	}

	@ParameterizedTest
	@ValueSource(strings = { "200", "", "1|2|V|ann", "1|2|X|ann|5", "x|2|V|ann|5", "1|x|V|ann|5", "|",
			"99999999999999999|2|V|ann|5" })
	void recordOfSomebodyElseIsReportedAndReplaced(String record) {
		long version = set("other", "1").version();
		hashes().put(key("parameters"), "a", record);

		assertThat(parameters().read(0).entries()).hasSize(2)
			.filteredOn((entry) -> entry.name().equals("a"))
			.singleElement()
			.satisfies((entry) -> {
				assertThat(entry.change()).isNull();
				assertThat(entry.unreadable()).contains("'a'", key("parameters"), "'" + record + "'", "HDEL");
			});
		assertThat(parameters().read(version).entries()).extracting(ParameterStore.Entry::name).containsExactly("a");
		assertThat(parameters().set("a", "5", "ann", 0)).isEqualTo(new Reply.Conflict(-1));
		set("a", "5");
		assertThat(parameters().read(0).entries()).allSatisfy((entry) -> assertThat(entry.unreadable()).isNull());
	}

	@Test
	void longRecordOfSomebodyElseIsCut() {
		hashes().put(key("parameters"), "a", "x".repeat(10_000));

		assertThat(parameters().read(0).entries()).singleElement()
			.satisfies((entry) -> assertThat(entry.unreadable()).hasSizeLessThan(500));
	}

	@Test
	void versionOfTheGroupThatWasRemovedDoesNotRepeat() {
		long version = set("a", "1").version();
		hashes().put(key("parameters"), "a", (version + 1_000_000_000_000L) + "|5|V|ann|5");
		hashes().getOperations().delete(key("cluster"));

		assertThat(set("a", "2").version()).isEqualTo(version + 1_000_000_000_001L);
	}

	@Test
	void keyOfAnotherTypeIsRefused() {
		new StringRedisTemplate(RedisClients.sharedFactory()).opsForValue().set(key("parameters"), "text");

		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> parameters().read(0))
			.matches(StoreUnavailableException::isRefusal)
			.withMessageContaining(key("parameters") + ": string");
	}

}
