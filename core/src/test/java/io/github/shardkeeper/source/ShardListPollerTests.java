package io.github.shardkeeper.source;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardSource.Watch;
import io.github.shardkeeper.testsupport.SettableClock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

@Isolated("it looks at all threads")
class ShardListPollerTests {

	private final Map<String, TopicShards> existing = new ConcurrentHashMap<>(
			Map.of("orders", TopicShards.count(2), "visits", TopicShards.count(1)));

	private final AtomicInteger listings = new AtomicInteger();

	private final ShardListPoller poller = new ShardListPoller(Set.of("orders", "visits"), this::list,
			Duration.ofMillis(5));

	private TopicShards list(String topic) throws IOException {
		this.listings.incrementAndGet();
		TopicShards shards = this.existing.get(topic);
		if (shards == null) {
			throw new IOException("/data/" + topic);
		}
		return shards;
	}

	@AfterEach
	void close() {
		this.poller.close();
	}

	@Test
	void shardsAreKnownAtOnce() {
		assertThat(this.poller.topics())
			.isEqualTo(Map.of("orders", TopicShards.count(2), "visits", TopicShards.count(1)));
		assertThat(this.poller.problems()).isEmpty();
	}

	@Test
	void listenerSeesTheChange() throws InterruptedException {
		BlockingQueue<TopicShards> seen = new LinkedBlockingQueue<>();
		this.poller.watch(() -> seen.add(this.poller.topics().get("orders")));
		this.existing.put("orders", TopicShards.count(3));

		assertThat(seen.poll(60, TimeUnit.SECONDS)).isEqualTo(TopicShards.count(3));
		int listed = this.listings.get();
		await().until(() -> this.listings.get() > listed + 10);
		assertThat(seen).as("nothing has changed since").isEmpty();
	}

	@Test
	void changeBeforeTheFirstWatchIsNotified() throws InterruptedException {
		this.existing.put("orders", TopicShards.count(3));
		CountDownLatch changed = new CountDownLatch(1);
		this.poller.watch(changed::countDown);

		assertThat(changed.await(60, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void listingThatHangsIsAProblemOfItsTopic() {
		SettableClock clock = new SettableClock();
		CountDownLatch released = new CountDownLatch(1);
		AtomicBoolean hangs = new AtomicBoolean();
		AtomicBoolean waiting = new AtomicBoolean();
		try (ShardListPoller hanging = new ShardListPoller(Set.of("orders"), (topic) -> {
			if (hangs.get()) {
				waiting.set(true);
				released.await();
			}
			return TopicShards.count(2);
		}, Duration.ofMillis(5), clock)) {
			hanging.watch(() -> {
			});
			hangs.set(true);
			await().untilTrue(waiting);
			clock.advance(Duration.ofSeconds(9));
			assertThat(hanging.problems()).isEmpty();
			clock.advance(Duration.ofSeconds(2));
			assertThat(hanging.problems()).containsOnly(Map.entry("orders",
					"The shards of 'orders' are being listed for 11 s: the source must return or fail within some seconds"));
			assertThat(hanging.topics()).containsEntry("orders", TopicShards.count(2));

			released.countDown();
			await().untilAsserted(() -> assertThat(hanging.problems()).isEmpty());
		}
	}

	@Test
	void nothingIsListedWithoutListener() {
		assertThat(this.listings).hasValue(2);
		Set<Thread> ofOthers = Thread.getAllStackTraces().keySet();
		Watch one = this.poller.watch(() -> {
		});
		Watch other = this.poller.watch(() -> {
		});
		one.close();
		one.close();
		int listed = this.listings.get();
		await().until(() -> this.listings.get() > listed);
		other.close();

		await().until(() -> Thread.getAllStackTraces()
			.keySet()
			.stream()
			.noneMatch((thread) -> thread.getName().equals("shardkeeper-shard-list") && !ofOthers.contains(thread)));
	}

	@Test
	void topicThatCannotBeListedKeepsItsShards() {
		TopicShards before = this.existing.remove("orders");
		this.existing.put("visits", TopicShards.count(5));
		this.poller.refresh();

		assertThat(this.poller.topics())
			.isEqualTo(Map.of("orders", TopicShards.count(2), "visits", TopicShards.count(5)));
		assertThat(this.poller.problems())
			.isEqualTo(Map.of("orders", "The shards of 'orders' cannot be listed: IOException: /data/orders"));
		this.existing.put("orders", before);
		this.poller.refresh();
		assertThat(this.poller.problems()).isEmpty();
	}

	@Test
	void errorsAndListenersThatFailDoNotEndTheListing() throws InterruptedException {
		AtomicInteger calls = new AtomicInteger();
		ShardListPoller failing = new ShardListPoller(Set.of("orders"), (topic) -> {
			if (calls.incrementAndGet() < 5) {
				throw new NoClassDefFoundError("expected by the test");
			}
			return TopicShards.count(calls.get());
		}, Duration.ofMillis(1));
		assertThat(failing.topics()).containsEntry("orders", TopicShards.NONE);
		assertThat(failing.problems().get("orders")).contains("NoClassDefFoundError: expected by the test");
		CountDownLatch changes = new CountDownLatch(3);
		failing.watch(() -> {
			changes.countDown();
			throw new IllegalStateException("expected by the test");
		});

		assertThat(changes.await(60, TimeUnit.SECONDS)).isTrue();
		failing.close();
	}

	/** It would end the schedule. */
	@Test
	void failureWhoseMessageCannotBeReadIsAProblem() {
		ShardListPoller failing = new ShardListPoller(Set.of("orders"), (topic) -> {
			throw new IllegalStateException() {

				@Override
				public String getMessage() {
					throw new StackOverflowError("expected by the test");
				}

			};
		}, Duration.ofSeconds(1));
		failing.refresh();

		assertThat(failing.problems().get("orders")).contains("cannot be listed", "whose message cannot be read");
	}

	@Test
	void notificationThatFailedIsRepeatedAndDelaysNoOtherListener() throws InterruptedException {
		CountDownLatch failures = new CountDownLatch(3);
		AtomicInteger others = new AtomicInteger();
		BlockingQueue<TopicShards> seen = new LinkedBlockingQueue<>();
		this.poller.watch(() -> {
			if (failures.getCount() > 0) {
				failures.countDown();
				throw new NoClassDefFoundError("expected by the test");
			}
			seen.add(this.poller.topics().get("orders"));
		});
		this.poller.watch(others::incrementAndGet);
		this.existing.put("orders", TopicShards.count(3));

		assertThat(seen.poll(60, TimeUnit.SECONDS)).as("nothing else has changed").isEqualTo(TopicShards.count(3));
		assertThat(failures.getCount()).isZero();
		assertThat(others).hasValue(1);
	}

	@Test
	void nullIsAProblemThatNamesTheFix() {
		ShardListPoller none = new ShardListPoller(Set.of("orders"), (topic) -> null, Duration.ofSeconds(1));

		assertThat(none.problems().get("orders")).contains("return TopicShards.NONE");
	}

	@Test
	void intervalIsPositive() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new ShardListPoller(Set.of(), (topic) -> TopicShards.NONE, Duration.ZERO))
			.withMessageContaining("at least 1 ms");
	}

}
