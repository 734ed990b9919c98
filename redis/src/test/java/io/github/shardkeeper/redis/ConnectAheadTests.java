package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.KillArgs;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A connection that is opened before somebody needs it.
 */
@Tag("proof")
class ConnectAheadTests {

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private final AtomicInteger messages = new AtomicInteger();

	private LettuceConnectionFactory factory;

	private RedisConnector connector;

	@BeforeEach
	void create() {
		this.factory = RedisClients.factory(this.redis);
		this.connector = new RedisConnector(this.factory);
	}

	@AfterEach
	void close() {
		this.connector.destroy();
		this.factory.destroy();
		this.redis.close();
	}

	@Test
	void firstUseFindsTheConnection() {
		this.connector.connectAhead();
		awaitConnections(1);

		String reply = this.connector.dataLink(RedisConnector.DATA_TIMEOUT).call((commands) -> commands.ping());
		assertThat(reply).isEqualTo("PONG");
		assertThat(connections()).isOne();
	}

	@Test
	void firstSubscriptionTakesTheConnection() {
		this.connector.connectPubSubAhead();
		awaitConnections(1);

		try (RedisSubscription first = subscribe(); RedisSubscription second = subscribe()) {
			assertThat(connections()).as("the first and a second one").isEqualTo(2);
			this.redis.call((commands) -> commands.publish("channel", "message"));
			Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> this.messages.get() == 2);
			assertThat(first.isOpen() && second.isOpen()).isTrue();
		}
		awaitConnections(0);
	}

	@Test
	void subscriptionReplacesAConnectionThatWasLost() {
		this.connector.connectPubSubAhead();
		awaitConnections(1);
		this.redis.call((commands) -> commands.clientKill(KillArgs.Builder.typeNormal().skipme()));
		awaitConnections(0);

		try (RedisSubscription subscription = subscribe()) {
			assertThat(subscription.isOpen()).isTrue();
			assertThat(connections()).isOne();
		}
	}

	@Test
	void subscriptionConnectsItselfAfterAFailureAhead() {
		this.redis.stop();
		this.connector.connectPubSubAhead();
		awaitNoAttempt();

		this.redis.restart();
		try (RedisSubscription subscription = subscribe()) {
			assertThat(subscription.isOpen()).isTrue();
		}
	}

	@Test
	void connectionWithoutASubscriptionIsClosedAfterTheStart() {
		this.connector.connectPubSubAhead();
		awaitConnections(1);

		try (GenericApplicationContext context = new GenericApplicationContext()) {
			// Not as a bean, whose start opens a connection of another kind.
			this.connector.setApplicationContext(context);
			context.addApplicationListener(this.connector);
			context.refresh();
			awaitConnections(0);
		}
	}

	@Test
	void connectionForSubscriptionsIsClosedWithTheConnector() {
		this.connector.connectPubSubAhead();
		awaitConnections(1);

		this.connector.destroy();
		awaitConnections(0);
	}

	@Test
	void failureAheadIsTheFailureOfTheFirstUse() {
		this.redis.close();
		String expected = failure(new RedisConnector(this.factory));

		this.connector.connectAhead();
		assertThat(failure(this.connector)).isEqualTo(expected).contains("Connection refused");
		// A later use tries again.
		assertThat(failure(this.connector)).isEqualTo(expected);
	}

	@Test
	void connectionOfAStartThatHasFailedIsClosed() {
		this.connector.connectAhead();
		awaitConnections(1);

		this.connector.destroy();
		awaitConnections(0);
	}

	@Test
	void connectionThatIsStillBeingOpenedIsClosedOnceItIsOpen() {
		this.redis.freeze();
		this.connector.connectAhead();
		this.connector.destroy();

		this.redis.thaw();
		// Other attempts of this client succeed: it was not the client that ended it.
		this.factory.getConnection().close();
		awaitNoAttempt();
		this.factory.resetConnection();
		awaitConnections(0);
	}

	private RedisSubscription subscribe() {
		return RedisSubscription.open(this.connector, "channel", Duration.ofSeconds(30),
				this.messages::incrementAndGet);
	}

	private static void awaitNoAttempt() {
		Awaitility.await()
			.atMost(Duration.ofSeconds(30))
			.until(() -> Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().equals("shardkeeper-connect")));
	}

	private static String failure(RedisConnector connector) {
		StoreUnavailableException[] thrown = new StoreUnavailableException[1];
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> connector.dataLink(RedisConnector.DATA_TIMEOUT).call((commands) -> commands.ping()))
			.satisfies((ex) -> thrown[0] = ex);
		return String.valueOf(thrown[0].getMessage());
	}

	private void awaitConnections(int expected) {
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> connections() == expected);
	}

	/** All but the one that asks. */
	private int connections() {
		String clients = this.redis.call((commands) -> commands.info("clients"));
		return clients.lines()
			.filter((line) -> line.startsWith("connected_clients:"))
			.mapToInt((line) -> Integer.parseInt(line.substring("connected_clients:".length()).strip()))
			.sum() - 1;
	}

}
