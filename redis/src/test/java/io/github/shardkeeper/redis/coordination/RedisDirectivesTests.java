package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.UUID;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.DirectiveStore.Outcome;
import io.github.shardkeeper.directive.DirectiveStoreContract;
import io.github.shardkeeper.directive.Directives;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@OnEveryRedis
class RedisDirectivesTests extends DirectiveStoreContract {

	private final String group = UUID.randomUUID().toString();

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@Override
	protected CoordinationStore createStore() {
		return new RedisCoordinationStore(RedisClients.sharedConnector(), RedisServer.PREFIX, this.group,
				Duration.ofSeconds(10));
	}

	private String key() {
		return RedisServer.PREFIX + ":{" + this.group + "}:directives";
	}

	@Test
	void entryHasTheDocumentedForm() {
		this.directives.put(Directive.of(Kind.PIN, "visits/3", "host-2", "anna", "more memory"));
		Directives read = this.directives.read();

		assertThat(this.redis.<String, String>opsForHash().get(key(), "pin|visits/3")).isEqualTo(
				"1\t%d\t%d\thost-2\tanna\tmore memory".formatted(read.version(), read.all().get(0).sinceMillis()));
		assertThat(read.all().get(0).text())
			.isEqualTo(this.redis.<String, String>opsForHash().get(key(), "pin|visits/3"));
	}

	@Test
	void whatCannotBeReadIsNamedAndCanBeCleared() {
		this.directives.put(Directive.of(Kind.DRAIN, "ann", null, "anna", ""));
		this.redis.opsForHash().put(key(), "pause|visits", "broken");
		this.redis.opsForHash().put(key(), "pause|orders", "2\t1\t1\t\tanna\t\tfrom a later version");
		this.redis.opsForHash().put(key(), "teleport|visits/1", "1\t1\t1\tann\tanna\t");
		this.redis.opsForHash().put(key(), "pin|visits/1", "1\t1\t1\t<b>\n\tanna\t");
		this.redis.opsForHash().put(key(), "pause|long", "1\t1\t1\t\tanna\t" + "x".repeat(1_000_000));
		this.redis.opsForHash().put(key(), "<b>\n" + "y".repeat(100_000), "1");

		Directives read = this.directives.read();

		assertThat(read.all()).extracting(Directive::name).containsExactly("drain|ann");
		assertThat(read.problems()).hasSize(6)
			.allSatisfy((problem) -> assertThat(problem).contains("cannot be read")
				.doesNotContain("\n")
				.hasSizeLessThan(400));
		assertThat(this.directives.clear(Kind.PAUSE, "visits").outcome()).isEqualTo(Outcome.CHANGED);
		assertThat(this.directives.read().problems()).hasSize(5);
	}

	@Test
	void partsThatLaterVersionsAddAreIgnored() {
		this.redis.opsForHash().put(key(), "pause|visits", "1\t7\t8\t\tanna\tbroken\tuntil tomorrow");

		assertThat(this.directives.read().all()).singleElement().satisfies((kept) -> {
			assertThat(kept.reason()).isEqualTo("broken");
			assertThat(kept.version()).isEqualTo(7);
		});
	}

	@Test
	void keyOfAnotherTypeIsNamedAndNotRemoved() {
		this.redis.opsForValue().set(key(), "something else");

		assertThat(this.directives.read().problems()).singleElement().asString().contains(key(), "DEL");
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.directives.put(Directive.of(Kind.DRAIN, "ann", null, "anna", "")))
			.satisfies((ex) -> assertThat(ex.isRefusal()).isTrue())
			.withMessageContaining(key());
		assertThat(this.redis.opsForValue().get(key())).isEqualTo("something else");
	}

	@Test
	void farTooManyEntriesAreNotRead() {
		for (int i = 0; i <= 10_000; i++) {
			this.redis.opsForHash().put(key(), "pause|visits/" + i, "1\t1\t1\t\tanna\t");
		}

		assertThat(this.directives.read().all()).isEmpty();
		assertThat(this.directives.read().problems()).singleElement().asString().contains("10001");
	}

	@Test
	void groupThatRedisDoesNotKnowGetsNoDirectives() {
		this.redis.delete(RedisServer.PREFIX + ":{" + this.group + "}:group");

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.directives.put(Directive.of(Kind.DRAIN, "ann", null, "anna", "")))
			.withMessageContaining("does not know the group");
		assertThat(this.redis.hasKey(RedisServer.PREFIX + ":{" + this.group + "}:group")).isFalse();
	}

}
