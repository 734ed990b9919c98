package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.SettingsStore.Reply;
import io.github.shardkeeper.coordination.store.SettingsStoreContract;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;

import static org.assertj.core.api.Assertions.assertThat;

@OnEveryRedis
class RedisSettingsTests extends SettingsStoreContract {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private final String group = UUID.randomUUID().toString();

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@Override
	protected CoordinationStore createStore() {
		return new RedisCoordinationStore(RedisClients.sharedConnector(), RedisServer.PREFIX, this.group,
				Duration.ofSeconds(10));
	}

	private String key() {
		return RedisServer.PREFIX + ":{" + this.group + "}:settings";
	}

	private Map<String, String> entries() {
		return this.redis.<String, String>opsForHash().entries(key());
	}

	@Test
	void entriesHaveTheDocumentedForm() {
		this.settings.announce("ann~1", COORDINATED, LEASE);
		this.settings.announce("bob~1", COORDINATED, LEASE);

		Map<String, String> entries = entries();
		assertThat(entries).hasSize(3);
		assertThat(entries.get("ann~1")).matches("\\d+\\|300000\\|[0-9a-f]{40}");
		assertThat(entries.get("#" + entries.get("bob~1").substring(entries.get("bob~1").length() - 40)))
			.isEqualTo("!visits.mode\tcoordinated\n-visits.max-age\t7d\n");
	}

	@Test
	void settingsThatNobodyHasAnyMoreAreRemoved() {
		this.settings.announce("ann~1", COORDINATED, LEASE);
		this.settings.withdraw("ann~1");
		this.settings.announce("eve~1", BROADCAST, LEASE);

		assertThat(entries()).hasSize(2).containsKey("eve~1");
	}

	/** Otherwise an entry would keep others out for as long as the clock was set back. */
	@Test
	void entryOfAFutureTimeEndsAfterItsLease() {
		this.settings.announce("ann~1", COORDINATED, LEASE);
		String stored = entries().get("ann~1");
		long until = Long.parseLong(stored.substring(0, stored.indexOf('|')));
		this.redis.opsForHash().put(key(), "ann~1", (until + 3_600_000) + stored.substring(stored.indexOf('|')));

		assertThat(this.settings.announce("eve~1", BROADCAST, LEASE).accepted()).isFalse();
		String kept = entries().get("ann~1");
		assertThat(Long.parseLong(kept.substring(0, kept.indexOf('|')))).isBetween(until, until + 60_000);
	}

	@Test
	void lostKeyIsWrittenAgain() {
		this.settings.announce("ann~1", COORDINATED, LEASE);
		this.redis.delete(key());

		this.settings.announce("ann~1", COORDINATED, LEASE);

		assertThat(this.settings.announce("eve~1", BROADCAST, LEASE).accepted()).isFalse();
	}

	@Test
	void entriesOfOthersAreIgnored() {
		this.redis.opsForHash().put(key(), "mine", "broken");
		this.redis.opsForHash().put(key(), "yours~1", "99999999999999|x|abc");
		this.redis.opsForHash().put(key(), "#abc", "!visits.mode\tbroadcast\n");

		assertThat(this.settings.announce("ann~1", COORDINATED, LEASE)).isEqualTo(Reply.ACCEPTED);
	}

	@Test
	void keyThatOthersHaveFilledKeepsNobodyOutAndIsNamed() {
		Map<String, String> many = new HashMap<>();
		for (int i = 0; i <= 20_000; i++) {
			many.put("mine-" + i, "");
		}
		this.redis.opsForHash().putAll(key(), many);
		try (CoordinationStore store = createStore()) {
			assertThat(store.settings().announce("ann~1", COORDINATED, LEASE)).isEqualTo(Reply.ACCEPTED);
			assertThat(store.refusedOperations().get("compare the settings of instances")).contains(key(), "20001");
		}
	}

	/** The instance runs, because nothing of its own is in danger. */
	@Test
	void valueOfAnotherTypeKeepsNobodyOutAndIsNamed() {
		this.redis.opsForValue().set(key(), "mine");
		try (CoordinationStore store = createStore()) {
			assertThat(store.settings().announce("ann~1", COORDINATED, LEASE)).isEqualTo(Reply.ACCEPTED);
			assertThat(store.refusedOperations().get("compare the settings of instances")).contains(key(), "RENAME");
			this.redis.delete(key());
			store.settings().announce("ann~1", COORDINATED, LEASE);
			assertThat(store.refusedOperations()).doesNotContainKey("compare the settings of instances");
		}
	}

}
