package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.LongStream;

import io.lettuce.core.Range;
import io.lettuce.core.StreamMessage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.stream.RedisStreamSource;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.template.KeyedShardTemplate;
import io.github.shardkeeper.template.SendObserver;
import io.github.shardkeeper.template.SendSettings;
import io.github.shardkeeper.template.SendTopics;
import io.github.shardkeeper.test.Disturbance;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.FaultyProxy;

/**
 * Sends 1, 2, 3 … to the two shards of a topic that nobody consumes, through a network
 * that resets all connections every few rounds: to the first with a template that
 * repeats, to the second with ids, repeated from here. Whatever else happens to Redis,
 * each number is in its stream once, in order, unless Redis loses what it has
 * acknowledged. Confined to one thread, and one of its own.
 */
final class SentOnce implements AutoCloseable {

	private static final String TOPIC = "sent-once";

	private static final int NUMBERS_PER_ROUND = 20;

	private static final int ROUNDS_PER_RESET = 5;

	private final EmbeddedRedis redis;

	private final FaultyProxy network;

	private final LettuceConnectionFactory connections;

	private final RedisStreamSource source;

	private final KeyedShardTemplate repeating;

	private final KeyedShardTemplate plain;

	private final Thread sender = new Thread(this::send, "sent-once");

	private final AtomicLong rounds = new AtomicLong();

	private final AtomicLong failures = new AtomicLong();

	private volatile boolean stopped;

	private volatile @Nullable Throwable problem;

	/** Begins to send. */
	SentOnce(EmbeddedRedis redis) {
		this.redis = redis;
		this.network = new FaultyProxy(redis.port(), "{sent-once}");
		this.connections = new LettuceConnectionFactory("127.0.0.1", this.network.port());
		this.connections.afterPropertiesSet();
		this.source = new RedisStreamSource(new RedisConnector(this.connections), "shardkeeper", Map.of(TOPIC, 2),
				Duration.ofSeconds(5));
		this.repeating = template(100);
		this.plain = template(0);
		this.sender.setDaemon(true);
		this.sender.start();
	}

	private KeyedShardTemplate template(int retries) {
		return new KeyedShardTemplate(SendTopics.of(this.source::topics, this.source),
				new JsonPayloadConverter(new JsonMapper()), new SendSettings(1000, 1000, 1_000_000, retries), Map.of(),
				null, SendObserver.NONE);
	}

	private void send() {
		try {
			while (!this.stopped) {
				long first = this.rounds.get() * NUMBERS_PER_ROUND + 1;
				List<CompletableFuture<Appended>> sent = new ArrayList<>();
				for (long number = first; number < first + NUMBERS_PER_ROUND; number++) {
					Outgoing record = Outgoing.of(Long.toString(number)).toShard(0);
					sent.add(untilKnown(() -> this.repeating.sendAsync(TOPIC, record)));
				}
				if (this.rounds.get() % ROUNDS_PER_RESET == 0) {
					this.network.disturb(Disturbance.refuse(Disturbance.ALL));
					this.network.heal();
				}
				for (long number = first; number < first + NUMBERS_PER_ROUND; number++) {
					Outgoing record = Outgoing.of(Long.toString(number)).toShard(1).withId("number " + number);
					untilKnown(() -> this.plain.send(TOPIC, record));
				}
				sent.forEach(CompletableFuture::join);
				this.rounds.incrementAndGet();
			}
		}
		catch (CompletionException ex) {
			this.problem = ex.getCause();
		}
		catch (RuntimeException ex) {
			this.problem = ex;
		}
	}

	/** Repeats what was not sent, or has an id. */
	private <T> T untilKnown(Supplier<T> call) {
		while (true) {
			try {
				return call.get();
			}
			catch (SendFailedException ex) {
				if (Thread.currentThread().isInterrupted()) {
					throw ex;
				}
				this.failures.incrementAndGet();
			}
		}
	}

	/** Returns the number of rounds so far. */
	long rounds() {
		return this.rounds.get();
	}

	/**
	 * Stops after the round that is under way, and checks what is in the streams.
	 * @return a summary for people
	 */
	String stopAndCheck(Duration patience) {
		this.stopped = true;
		try {
			this.sender.join(patience.toMillis());
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		if (this.sender.isAlive() || this.problem != null) {
			throw new AssertionError("sent once: the round does not end, or a template has given up", this.problem);
		}
		long last = this.rounds.get() * NUMBERS_PER_ROUND;
		List<String> expected = LongStream.rangeClosed(1, last).mapToObj(Long::toString).toList();
		for (int shard = 0; shard < 2; shard++) {
			String stream = "shardkeeper:{%s#%d}:stream:%d".formatted(TOPIC, shard, shard);
			List<StreamMessage<String, String>> entries = this.redis
				.call((commands) -> commands.xrange(stream, Range.unbounded()));
			List<String> numbers = entries.stream().map((entry) -> entry.getBody().get("v")).toList();
			if (!numbers.equals(expected)) {
				throw new AssertionError("sent once: of 1 to %d, %s has %s".formatted(last, stream, numbers));
			}
		}
		return "sent once: 1 to %d in both streams; %d sends failed and were repeated by their caller".formatted(last,
				this.failures.get());
	}

	@Override
	public void close() {
		this.stopped = true;
		this.sender.interrupt();
		this.network.close();
		this.source.close();
		this.connections.destroy();
	}

}
