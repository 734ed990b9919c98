package io.github.shardkeeper.redis;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.tracing.TraceContextProvider;
import io.lettuce.core.tracing.TracerProvider;
import io.lettuce.core.tracing.Tracing;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.EmbeddedRedisCluster;
import io.github.shardkeeper.test.EmbeddedRedisSentinel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An application that times and traces its commands sees none of Shardkeeper's, whatever
 * kind of Redis it uses, and still sees its own, also after Shardkeeper has stopped.
 */
@Tag("proof")
class OwnClientTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	/** Names of the timed commands. */
	private final Set<String> timed = ConcurrentHashMap.newKeySet();

	private final TracedConnections traced = new TracedConnections();

	private final CommandLatencyRecorder recorder = (local, remote, command, first, last) -> this.timed
		.add(command.toString());

	private final ClientResources observing = ClientResources.builder()
		.commandLatencyRecorder(this.recorder)
		.tracing(this.traced)
		.build();

	@AfterEach
	void shutDown() {
		this.observing.shutdown(0, 0, TimeUnit.SECONDS);
	}

	@Test
	void singleRedisWithUserAndDatabase() throws Exception {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			redis.call((commands) -> commands.configSet("requirepass", "secret"));
			RedisStandaloneConfiguration address = new RedisStandaloneConfiguration("localhost", redis.port());
			address.setUsername("default");
			address.setPassword("secret");
			address.setDatabase(3);
			assertOnlyTheApplicationIsObserved(address);
		}
	}

	@Test
	void sentinels() throws Exception {
		try (EmbeddedRedisSentinel redis = EmbeddedRedisSentinel.start(1)) {
			assertOnlyTheApplicationIsObserved(new RedisSentinelConfiguration(EmbeddedRedisSentinel.MASTER_NAME,
					Set.of(redis.addresses().split(","))));
		}
	}

	@Test
	void cluster() throws Exception {
		try (EmbeddedRedisCluster redis = EmbeddedRedisCluster.start(3)) {
			assertOnlyTheApplicationIsObserved(new RedisClusterConfiguration(List.of(redis.addresses().split(","))));
		}
	}

	/**
	 * A client that shuts down waits for its event loops, which look for it meanwhile.
	 */
	@Test
	void lookingForTheClientWaitsForNoLock() throws Exception {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			LettuceConnectionFactory factory = new LettuceConnectionFactory(
					new RedisStandaloneConfiguration("localhost", redis.port()),
					LettuceClientConfiguration.builder().clientResources(this.observing).build());
			factory.afterPropertiesSet();
			factory.start();
			OwnClient client = new OwnClient(factory, List.of());
			try {
				AbstractRedisClient own = client.get();
				synchronized (client) {
					assertThat(CompletableFuture.supplyAsync(client::find).get(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
						.isSameAs(own);
				}
			}
			finally {
				client.stop();
				factory.destroy();
			}
		}
	}

	private void assertOnlyTheApplicationIsObserved(RedisConfiguration redis) throws Exception {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(redis,
				LettuceClientConfiguration.builder().clientResources(this.observing).build());
		factory.afterPropertiesSet();
		factory.start();
		RedisConnector connector = new RedisConnector(factory);
		try {
			write(connector);
			assertThat(this.timed).isEmpty();
			assertThat(this.traced.count).hasValue(0);

			assertThat(read(factory)).isEqualTo("value".getBytes());
			await().atMost(TIMEOUT).until(() -> this.timed.contains("GET"));
			assertThat(this.timed).doesNotContain("SET");
			assertThat(this.traced.count).hasPositiveValue();

			connector.stop();
			this.timed.clear();
			factory.resetConnection();
			assertThat(read(factory)).isEqualTo("value".getBytes());
			await().atMost(TIMEOUT).until(() -> this.timed.contains("GET"));

			write(connector);
			assertThat(this.timed).doesNotContain("SET");
		}
		finally {
			connector.stop();
			factory.destroy();
		}
	}

	private static void write(RedisConnector connector) throws Exception {
		RedisConnector.Connection<String> connection = connector.open(StringCodec.UTF8, TIMEOUT);
		connection.commands().set("key", "value").get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
		connector.close(connection.stateful());
	}

	private static byte[] read(LettuceConnectionFactory factory) {
		try (RedisConnection connection = factory.getConnection()) {
			return connection.stringCommands().get("key".getBytes());
		}
	}

	/** Counts connections; each has an endpoint. */
	private static final class TracedConnections implements Tracing {

		private final AtomicInteger count = new AtomicInteger();

		@Override
		public TracerProvider getTracerProvider() {
			return Tracing.disabled().getTracerProvider();
		}

		@Override
		public TraceContextProvider initialTraceContextProvider() {
			return Tracing.disabled().initialTraceContextProvider();
		}

		@Override
		public boolean isEnabled() {
			return true;
		}

		@Override
		public boolean includeCommandArgsInSpanTags() {
			return false;
		}

		@Override
		public Endpoint createEndpoint(SocketAddress address) {
			this.count.incrementAndGet();
			return Tracing.disabled().createEndpoint(address);
		}

	}

}
