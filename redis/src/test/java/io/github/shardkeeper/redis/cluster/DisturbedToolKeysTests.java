package io.github.shardkeeper.redis.cluster;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.BarrierBrokenException;
import io.github.shardkeeper.cluster.LockLostException;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A key of the cluster tools is removed, replaced by a value of another type, or gets
 * entries of somebody else, while a lock is held and awaited, a round of a barrier is
 * under way, and signals and parameters are used: each call ends, with an exception that
 * the guide names if not as usual, and once the damage is undone all works as before.
 */
@OnEveryRedis
class DisturbedToolKeysTests {

	/** Of the group itself: {@code BrokenGroupTests}. */
	private static final Set<String> CONTROL_PLANE = Set.of("group", "members", "sessions", "told", "loads", "reported",
			"shards", "changes", "concerns", "concernsAt", "problems", "reasons", "moves");

	private static final List<String> KEYS = List.of("cluster", "locks", "lockWaiters", "lockTickets", "signals",
			"signalAcks", "parameters", "parameterHistory", "barriers", "barrierEnds", "barrierEndTimes");

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	private final String group = UUID.randomUUID().toString();

	private final String base = ToolUser.PREFIX + ":{" + this.group + "}:";

	private ToolUser a;

	private ToolUser b;

	/** The key that is damaged. */
	private String key = "";

	private int value = 1;

	private CountDownLatch releases;

	private CompletableFuture<Void> holding;

	private CompletableFuture<Void> waiting;

	@ParameterizedTest
	@EnumSource
	void everyCallEndsAndAllWorksAfterwards(Damage damage) throws Exception {
		begin();
		meet();
		for (String key : KEYS) {
			this.key = key;
			try {
				disturb(damage);
			}
			catch (Exception | AssertionError ex) {
				throw new AssertionError(key + ": " + ex.getMessage(), ex);
			}
		}
	}

	@Test
	void allKeysAreTried() throws Exception {
		begin();
		meet();
		useAll();
		Set<String> keys = new TreeSet<>();
		this.redis.keys(this.base + "*").forEach((name) -> keys.add(name.substring(this.base.length())));
		keys.removeAll(CONTROL_PLANE);
		allWorks();

		assertThat(keys).containsExactlyInAnyOrderElementsOf(KEYS);
	}

	@Test
	void numberOfTheViewThatSomebodyElseHasWrittenIsReplaced() throws Exception {
		begin();
		long number = this.a.view.current().number();

		this.redis.opsForHash().put(this.base + "cluster", "view", "junk");

		ToolUser.await().until(() -> this.a.view.current().number() > number);
		ToolUser.await().until(() -> this.b.view.current().number() == this.a.view.current().number());
		assertThat(this.a.signal("works").handled()).hasSize(2);
	}

	private void disturb(Damage damage) throws Exception {
		useAll();
		String name = this.base + this.key;
		damage.apply(this.redis, name);
		this.releases.countDown();
		CompletableFuture<Void> left = this.a.run(() -> {
			this.a.barrier.leave(ToolUser.LEASE);
			return null;
		});
		ends(this.b.run(() -> {
			this.b.barrier.leave(ToolUser.LEASE);
			return null;
		}));
		ends(left);
		ends(this.a.run(() -> this.a.signals.send(ToolUser.NAME, "damaged").awaitAll(ToolUser.LEASE)));
		ends(this.a.run(() -> this.a.parameter.set(this.value++)));
		ends(this.a.run(() -> this.a.parameters.history(ToolUser.NAME)));
		ends(this.holding);
		damage.undo(this.redis, name);
		allWorks();
	}

	private void begin() {
		KnownGroup.begin(RedisClients.sharedConnector(), ToolUser.PREFIX, this.group);
		this.a = new ToolUser(RedisClients.sharedConnector(), this.group, "a");
		this.b = new ToolUser(RedisClients.sharedConnector(), this.group, "b");
		this.a.awaitMembers(2);
		this.b.awaitMembers(2);
	}

	@AfterEach
	void close() {
		this.a.close();
		this.b.close();
	}

	/** Has a lock held and awaited, a round under way, and the rest used once. */
	private void useAll() throws Exception {
		this.a.parameter.set(this.value++);
		assertThat(this.a.signal("begin").handled()).hasSize(2);
		CountDownLatch holds = new CountDownLatch(1);
		CountDownLatch released = new CountDownLatch(1);
		this.releases = released;
		this.holding = this.a.run(() -> {
			this.a.lock.lock();
			holds.countDown();
			released.await();
			this.a.lock.unlock();
			return null;
		});
		holds.await();
		this.waiting = this.b.run(() -> {
			this.b.lock.lock();
			this.b.lock.unlock();
			return null;
		});
		ToolUser.await().until(() -> this.redis.hasKey(this.base + "lockWaiters"));
		enter();
	}

	private void allWorks() throws Exception {
		this.releases.countDown();
		ends(this.holding);
		ends(this.waiting);
		for (ToolUser each : List.of(this.a, this.b)) {
			ToolUser.ended(each.run(() -> {
				each.lock.lock();
				each.lock.unlock();
				return null;
			}));
		}
		// What is left of the last round may be in the way.
		ToolUser.await().ignoreExceptions().until(() -> {
			meet();
			return true;
		});
		String payload = "works " + this.value;
		assertThat(this.a.signal(payload).pending()).isEmpty();
		ToolUser.await().until(() -> this.a.handled().contains(payload) && this.b.handled().contains(payload));
		int next = this.value++;
		ToolUser.ended(this.a.run(() -> this.a.parameter.set(next)));
		ToolUser.await().until(() -> this.b.parameter.get() == next);
		ToolUser.await().until(() -> this.a.session.problem().isEmpty() && this.b.session.problem().isEmpty());
		assertThat(this.a.view.size()).isEqualTo(2);
		ToolUser.await().until(() -> this.a.view.current().number() == this.b.view.current().number());
	}

	private void meet() throws Exception {
		enter();
		CompletableFuture<Void> left = this.a.run(() -> {
			this.a.barrier.leave(ToolUser.PATIENCE);
			return null;
		});
		this.b.barrier.leave(ToolUser.PATIENCE);
		ToolUser.ended(left);
	}

	private void enter() throws Exception {
		this.a.barrier.abort();
		this.b.barrier.abort();
		CompletableFuture<Void> entered = this.a.run(() -> {
			this.a.barrier.enter(2, ToolUser.LEASE.multipliedBy(5));
			return null;
		});
		try {
			this.b.barrier.enter(2, ToolUser.LEASE.multipliedBy(5));
		}
		finally {
			ToolUser.ended(entered);
		}
	}

	/** Ends as usual, or with an exception that the guide names. */
	private void ends(CompletableFuture<?> call) throws Exception {
		try {
			ToolUser.ended(call);
		}
		catch (ExecutionException ex) {
			assertThat(ex.getCause()).isInstanceOfAny(StoreUnavailableException.class, BarrierBrokenException.class,
					TimeoutException.class, LockLostException.class);
			if (ex.getCause() instanceof StoreUnavailableException) {
				assertThat(ex.getCause()).hasMessageContaining(this.base + this.key);
			}
		}
	}

	/** What somebody else does to a key. */
	private enum Damage {

		REMOVED {

			@Override
			void apply(StringRedisTemplate redis, String key) {
				redis.delete(key);
			}

			@Override
			void undo(StringRedisTemplate redis, String key) {
			}

		},

		OTHER_TYPE {

			@Override
			void apply(StringRedisTemplate redis, String key) {
				redis.opsForValue().set(key, "text");
			}

			@Override
			void undo(StringRedisTemplate redis, String key) {
				redis.delete(key);
			}

		},

		JUNK {

			@Override
			void apply(StringRedisTemplate redis, String key) {
				if (key.endsWith("Waiters") || key.endsWith("History") || key.endsWith("Times")) {
					redis.opsForZSet().add(key, "junk", 0);
					redis.opsForZSet().add(key, ToolUser.NAME + "|junk", 0);
				}
				else {
					redis.opsForHash().keys(key).forEach((field) -> redis.opsForHash().put(key, field, "junk"));
					redis.opsForHash().put(key, "other", "junk");
				}
			}

			@Override
			void undo(StringRedisTemplate redis, String key) {
				redis.delete(key);
			}

		};

		abstract void apply(StringRedisTemplate redis, String key);

		abstract void undo(StringRedisTemplate redis, String key);

	}

}
