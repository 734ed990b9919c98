package io.github.shardkeeper.redis.cluster;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.signal.SignalStore.Handled;
import io.github.shardkeeper.cluster.signal.SignalStore.Outcome;
import io.github.shardkeeper.cluster.signal.SignalStoreContract;
import io.github.shardkeeper.cluster.signal.SignalStores;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@OnEveryRedis
class RedisSignalStoreTests extends SignalStoreContract {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private final String group = UUID.randomUUID().toString();

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@Override
	protected SignalStores openStores() {
		ClusterLink link = new ClusterLink(RedisClients.sharedConnector(), "test", this.group, TIMEOUT,
				ReplicaWait.NONE);
		return new SignalStores(new RedisCoordinationStore(RedisClients.sharedConnector(), "test", this.group, TIMEOUT),
				link, new RedisViewStore(link), new RedisSignalStore(link), link::close);
	}

	@Override
	protected void advance(Duration duration) {
		try (RedisConnection connection = RedisClients.sharedFactory().getConnection()) {
			long end = connection.serverCommands().time() + duration.toMillis() + 1;
			while (connection.serverCommands().time() < end) {
				LockSupport.parkNanos(1_000_000);
			}
		}
	}

	private String key(String name) {
		return "test:{" + this.group + "}:" + name;
	}

	private void write(String key, String field, String value) {
		this.redis.opsForHash().put(key(key), field, value);
	}

	@Test
	void everyKeyHasTheHashTagOfTheGroup() {
		begin(A);
		send("1");

		assertThat(this.redis.keys("test:*" + this.group + "*")).contains(key("signals"), key("signalAcks"))
			.allMatch((key) -> key.startsWith("test:{" + this.group + "}:"));
	}

	@Test
	void entriesOfGoneMembersAreRemoved() {
		begin(A);
		begin(B);
		stores().coordination().leaveGroup(A, Duration.ZERO);

		stores().views().read(B, "one");

		assertThat(this.redis.opsForHash().keys(key("signalAcks"))).containsExactly("rebuild|" + B);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "nonsense", "1|2|3", "x|1|1|a|payload", "99999999999999999999|1|1|a|payload",
			"-1|1|1|a|payload" })
	void signalThatCannotBeReadIsNamedAndTheNextOneReplacesIt(String value) {
		begin(A);
		write("signals", "rebuild", value);

		assertThat(Objects.requireNonNull(acknowledge(A, Handled.NOTHING)).unreadable()).isEqualTo(value);
		assertThat(Objects.requireNonNull(acknowledge(A, Handled.NOTHING)).signal()).isNull();
		joinAndReadView();

		send("next");
		assertThat(Objects.requireNonNull(begin(A)).payload()).isEqualTo("next");
	}

	private void joinAndReadView() {
		stores().views().read(A, "one");
		join(MemberId.of("c", "1"));
		stores().views().read(A, "one");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "nonsense", "|OK|", "99999999999999999999|OK|", "9000000000000000|OK|" })
	void acknowledgementThatCannotBeReadIsReplaced(String value) {
		begin(A);
		write("signalAcks", "rebuild|" + A, value);
		long number = send("1");

		assertThat(Objects.requireNonNull(begin(A)).number()).isEqualTo(number);
		assertThat(acknowledge(A, new Handled(number, Outcome.OK, ""))).isNull();
		assertThat(store().acknowledgements("rebuild").get(A)).isEqualTo(new Handled(number, Outcome.OK, ""));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "nonsense", "5|WHAT|", "99999999999999999999|OK|", "5" })
	void senderHearsOfAnAcknowledgementThatCannotBeRead(String value) {
		write("signalAcks", "rebuild|" + A, value);

		assertThat(store().acknowledgements("rebuild").get(A)).satisfies((entry) -> {
			assertThat(entry.outcome()).isEqualTo(Outcome.FAILED);
			assertThat(entry.message()).contains("cannot be read: '" + value + "'");
		});
	}

	@Test
	void fieldsThatNameNoSessionAreRemoved() {
		write("signalAcks", "nonsense", "1|OK|");
		write("signalAcks", "rebuild|nobody", "1|OK|");
		joinAndReadView();

		assertThat(this.redis.hasKey(key("signalAcks"))).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "nonsense", "-5", "1.5", "99999999999999999999" })
	void numberThatCannotBeReadIsReplaced(String value) {
		long first = send("1");
		write("cluster", "signals", value);
		assertThat(stores().views().read(A, "one").signals()).isZero();

		long second = send("2");

		assertThat(second).isGreaterThan(first);
		assertThat(stores().views().read(A, "one").signals()).isEqualTo(second);
	}

	@Test
	void numbersGrowAlthoughTheCounterIsLost() {
		write("signals", "rebuild", "9000000000000000|1|1|sender|from tomorrow");

		assertThat(send("1")).isEqualTo(9_000_000_000_000_001L);
	}

	/** Also while no member comes or goes. */
	@Test
	void namesThatAreMadeUpDoNotAccumulate() {
		begin(A);
		for (int i = 0; i < 600; i++) {
			store().send("made-up-" + i, "", Duration.ZERO, "sender");
		}

		assertThat(this.redis.opsForHash().size(key("signals"))).isLessThan(300);
		long number = send("1");
		assertThat(Objects.requireNonNull(begin(A)).number()).isEqualTo(number);
	}

	@Test
	void keyOfAnotherTypeIsNamed() {
		this.redis.opsForValue().set(key("signals"), "text");

		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> send("1"))
			.withMessageContaining(key("signals") + ": string")
			.satisfies((ex) -> assertThat(ex.isRefusal()).isTrue());
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> acknowledge(A, Handled.NOTHING));
	}

}
