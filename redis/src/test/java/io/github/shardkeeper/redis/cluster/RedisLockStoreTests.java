package io.github.shardkeeper.redis.cluster;

import java.time.Duration;
import java.util.Map;
import java.util.UUID;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.lock.LockStore;
import io.github.shardkeeper.cluster.lock.LockStore.Outcome;
import io.github.shardkeeper.cluster.lock.LockStore.Request;
import io.github.shardkeeper.cluster.lock.LockStoreContract;
import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.coordination.RedisServer;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@OnEveryRedis
class RedisLockStoreTests extends LockStoreContract {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private final String name = UUID.randomUUID().toString();

	private final CoordinationStore group = new RedisCoordinationStore(RedisClients.sharedConnector(),
			RedisServer.PREFIX, this.name, TIMEOUT);

	private final ClusterLink link = new ClusterLink(RedisClients.sharedConnector(), RedisServer.PREFIX, this.name,
			TIMEOUT, ReplicaWait.NONE);

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

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
	protected LockStore locks() {
		return new RedisLockStore(this.link);
	}

	@Test
	void thoseThatWaitAskAgainIfTheirOrderIsLost() {
		MemberId a = join("a");
		MemberId b = join("b");
		ask(a, "one.1");
		ask(b, "two.1");
		this.redis.delete(key("lockWaiters"));

		assertThat(locks().check(Map.of("two.1", "l"))).containsExactly("two.1");
		assertThat(ask(b, "two.1")).isEqualTo(Outcome.HELD);
		locks().release(a, "l", "one.1");
		assertThat(received("two")).startsWith("lock|l|two.1|");
	}

	@Test
	void ticketThatIsForgottenGetsTheLockOnce() {
		MemberId a = join("a");
		MemberId b = join("b");
		ask(a, "one.1");
		ask(b, "two.1");
		this.redis.delete(key("lockTickets"));
		locks().release(a, "l", "one.1");
		assertThat(received("two")).startsWith("lock|l|two.1|");

		assertThat(locks().release(b, "l", "two.1")).isTrue();

		assertThat(ask(a, "one.2")).isEqualTo(Outcome.GRANTED);
		assertThat(this.redis.hasKey(key("lockWaiters"))).isFalse();
	}

	@Test
	void thoseThatWaitHearOfAnEntryThatSomebodyElseHasWritten() {
		MemberId a = join("a");
		MemberId b = join("b");
		ask(a, "one.1");
		ask(b, "two.1");
		this.redis.opsForHash().put(key("locks"), "l", "nonsense");

		assertThat(locks().check(Map.of("two.1", "l"))).containsExactly("two.1");
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> ask(b, "two.1"))
			.matches(StoreUnavailableException::isRefusal)
			.withMessageContaining("the entry 'l' of the key " + key("locks"));
	}

	@Test
	void waitingSessionThatIsGoneIsForgottenAlsoWithoutItsTicket() {
		MemberId a = join("a");
		MemberId b = join("b");
		ask(a, "one.1");
		ask(b, "two.1");
		this.redis.delete(key("lockTickets"));
		leave(b);

		views().read(a, "one");

		assertThat(this.redis.hasKey(key("lockWaiters"))).isFalse();
	}

	private Outcome ask(MemberId session, String ticket) {
		return locks().acquire(new Request(session, "l", ticket, Duration.ZERO, Duration.ZERO, true)).outcome();
	}

	private String key(String key) {
		return RedisServer.PREFIX + ":{" + this.name + "}:" + key;
	}

}
