package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.store.CoordinationStore.Hearing;
import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/** A member finds out with a message to itself whether its subscription brings any. */
class MemberSubscriptionTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final RedisConnector connector = RedisClients.sharedConnector();

	private final String channel = UUID.randomUUID().toString();

	private final AtomicInteger events = new AtomicInteger();

	private final AtomicLong nanoTime = new AtomicLong(1);

	private final MemberSubscription subscription = new MemberSubscription(this.events::incrementAndGet,
			this.nanoTime::get);

	@BeforeEach
	void open() {
		this.subscription.open(this.connector, this.channel, TIMEOUT);
	}

	@AfterEach
	void close() {
		this.subscription.close();
		this.connector.destroy();
	}

	@Test
	void messageToItselfIsHeardAndIsNoEvent() {
		assertThat(this.subscription.hearing()).isEqualTo(Hearing.UNKNOWN);
		assertThat(this.subscription.wantsEcho()).isTrue();

		this.subscription.echoPublished(this.nanoTime.get());
		assertThat(this.subscription.wantsEcho()).isFalse();
		publish("=");

		Awaitility.await().until(() -> this.subscription.hearing() == Hearing.HEARS);
		assertThat(this.events).hasValue(0);
		publish("!");
		Awaitility.await().until(() -> this.events.get() == 1);
		wait(Duration.ofHours(1));
		assertThat(this.subscription.hearing()).isEqualTo(Hearing.HEARS);
	}

	/** Another message shows as much, so in a busy group none is published. */
	@Test
	void noneIsWantedSoonAfterAnotherMessage() {
		publish("!");
		Awaitility.await().until(() -> this.events.get() == 1);

		wait(Duration.ofSeconds(4));
		assertThat(this.subscription.wantsEcho()).isFalse();
		wait(Duration.ofSeconds(2));
		assertThat(this.subscription.wantsEcho()).isTrue();
	}

	@Test
	void oneThatDoesNotArriveShowsThatItIsDeaf() {
		this.subscription.echoPublished(this.nanoTime.get());
		wait(Duration.ofMillis(900));
		assertThat(this.subscription.hearing()).isEqualTo(Hearing.UNKNOWN);

		wait(Duration.ofMillis(200));
		assertThat(this.subscription.hearing()).isEqualTo(Hearing.DEAF);

		publish("=");
		Awaitility.await().until(() -> this.subscription.hearing() == Hearing.HEARS);
	}

	@Test
	void oneThatArrivesBeforeTheAnswerIsNotExpected() {
		long sentAt = this.nanoTime.get();
		publish("=");
		Awaitility.await().until(() -> this.subscription.hearing() == Hearing.HEARS);

		this.subscription.echoPublished(sentAt);

		wait(Duration.ofHours(1));
		assertThat(this.subscription.hearing()).isEqualTo(Hearing.HEARS);
	}

	@Test
	void heartbeatPublishesIt() {
		String group = UUID.randomUUID().toString();
		try (RedisCoordinationStore store = new RedisCoordinationStore(this.connector, "echo", group, TIMEOUT)) {
			MemberId member = new MemberId("a~1");
			Subscription opened = store.subscribe(member, this.events::incrementAndGet);
			store.joinGroup(member,
					new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN, 1, null, "sticky", false),
					Duration.ofSeconds(3), Duration.ofSeconds(15));
			assertThat(opened.hearing()).isEqualTo(Hearing.UNKNOWN);

			store.heartbeat(member, Seen.NOTHING, true, LoadReport.NONE);

			Awaitility.await().until(() -> opened.hearing() == Hearing.HEARS);
			opened.close();
		}
	}

	private void publish(String message) {
		EmbeddedRedis.shared().call((commands) -> commands.publish(this.channel, message));
	}

	private void wait(Duration time) {
		this.nanoTime.addAndGet(time.toNanos());
	}

}
