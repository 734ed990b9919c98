package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardPositions.Progress;
import io.github.shardkeeper.ShardPositions.Seek;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A group that is sent elsewhere, on a real Redis.
 */
@Tag("proof")
class SeekingTests {

	private static final int SHARDS = 4;

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=" + SHARDS,
			"shardkeeper.consumer.commit.interval=100ms");

	private ShardTemplate template;

	private ShardPositions positions;

	private ShardStateReader states;

	@BeforeEach
	void startInstanceWithoutHandler() {
		KnownGroup.begin(this.instances.name());
		ConfigurableApplicationContext context = this.instances.start(Sender.class, "sender");
		this.template = context.getBean(ShardTemplate.class);
		this.positions = context.getBean(ShardPositions.class);
		this.states = context.getBean(ShardStateReader.class);
	}

	@Test
	void seekToEarliestRepeatsAllRecordsOnKeptState() {
		Handler first = consume();
		Handler second = consume();
		awaitShardsShared(first, second);
		send(20);
		patiently().until(() -> counted() == 20);

		Seek seek = this.positions.seek("orders", StartPosition.EARLIEST);
		assertThat(seek.requests()).hasSize(SHARDS);
		assertThat(seek.completedShards()).isEmpty();
		awaitApplied(seek);
		patiently().until(() -> counted() == 40);

		assertThat(handled(first, second)).hasSize(40);
		awaitShardsShared(first, second);
		assertThat(first.assigned.size() + second.assigned.size()).as("twice for those that it stayed with")
			.isGreaterThanOrEqualTo(2 * SHARDS);
		assertThat(first.overlaps).as("calls for a shard that is not here").isEmpty();
		assertThat(second.overlaps).isEmpty();
	}

	@Test
	void resetRecomputesState() {
		Handler first = consume();
		Handler second = consume();
		awaitShardsShared(first, second);
		send(20);
		patiently().until(() -> counted() == 20);

		awaitApplied(this.positions.reset("orders", StartPosition.EARLIEST));
		patiently().untilAsserted(() -> assertThat(handled(first, second)).hasSize(40));
		patiently().until(() -> counted() == 20);
		send(1);
		patiently().until(() -> counted() == 21);
	}

	@Test
	void seekOfStoppedGroupTakesEffectAtStart() {
		Handler before = consume();
		send(10);
		patiently().until(() -> counted() == 10);
		close(before);
		send(5);
		awaitNextMillisecond();
		Seek seek = this.positions.seek("orders", StartPosition.LATEST);
		assertThat(this.positions.progress(seek).values()).containsOnly(Progress.PENDING);
		List<Appended> last = send(3);
		Seek inFrontOfLast = this.positions.seek(last.get(2).shard(), StartPosition.from(last.get(2).offset()));
		assertThat(this.positions.progress(seek).get(last.get(2).shard())).isEqualTo(Progress.REPLACED);

		Handler after = consume();
		awaitApplied(inFrontOfLast);
		int others = (int) last.subList(0, 2)
			.stream()
			.filter((appended) -> !appended.shard().equals(last.get(2).shard()))
			.count();
		patiently().until(() -> counted() == 10 + others + 1);
		assertThat(after.handled).hasSize(others + 1);
	}

	@Test
	void seekToTimeRepeatsLaterRecords() {
		Handler handler = consume();
		send(5);
		Instant between = awaitNextMillisecond();
		send(7);
		patiently().until(() -> counted() == 12);
		awaitApplied(this.positions.seek("orders", StartPosition.at(between)));

		patiently().until(() -> counted() == 19);
		assertThat(handler.handled).hasSize(19);
	}

	@Test
	void shardBeyondEndWaitsUntilNextSeek() {
		Handler handler = consume();
		send(5);
		patiently().until(() -> counted() == 5);
		awaitApplied(this.positions.seek("orders", StartPosition.from(new Offset("99999999999999-0"))));
		send(5);
		awaitApplied(this.positions.reset("orders", StartPosition.EARLIEST));

		patiently().until(() -> counted() == 10);
		assertThat(handler.handled).as("none in between").hasSize(15);
	}

	@Test
	void resetDuringMovesCountsEveryRecordOnce() {
		List<Handler> handlers = new ArrayList<>(List.of(consume()));
		send(40);
		for (int round = 0; round < 4; round++) {
			this.positions.reset("orders", StartPosition.EARLIEST);
			handlers.add(consume());
			this.positions.reset(ShardId.of("orders", round), StartPosition.EARLIEST);
			if (round % 2 == 1) {
				close(handlers.remove(0));
				this.positions.reset("orders", StartPosition.EARLIEST);
			}
			send(10);
		}
		awaitApplied(this.positions.reset("orders", StartPosition.EARLIEST));

		patiently().until(() -> counted() == 80);
		handlers.forEach((handler) -> assertThat(handler.overlaps).isEmpty());
	}

	@Test
	void invalidSeekIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.positions.seek("orders", StartPosition.parse("yesterday")))
			.withMessageContaining("'yesterday' is no entry id of a Redis stream");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.positions.seek(ShardId.of("orders", SHARDS), StartPosition.EARLIEST))
			.withMessageContaining("There is no shard orders/4; the topic has orders/0 to orders/3");
	}

	private void awaitApplied(Seek seek) {
		patiently().untilAsserted(
				() -> assertThat(this.positions.progress(seek).values()).isNotEmpty().containsOnly(Progress.APPLIED));
	}

	private void awaitShardsShared(Handler first, Handler second) {
		patiently().until(() -> first.shards.size() + second.shards.size() == SHARDS && !first.shards.isEmpty()
				&& !second.shards.isEmpty());
	}

	private long counted() {
		return IntStream.range(0, SHARDS)
			.mapToLong((i) -> this.states.read(ShardId.of("orders", i), Long.class).getOrDefault("n", 0L))
			.sum();
	}

	private static List<String> handled(Handler... handlers) {
		List<String> all = new ArrayList<>();
		for (Handler handler : handlers) {
			all.addAll(handler.handled);
		}
		return all;
	}

	/** Waits for the next millisecond of this machine's clock. */
	private static Instant awaitNextMillisecond() {
		long before = Instant.now().toEpochMilli();
		Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> Instant.now().toEpochMilli() > before);
		return Instant.now();
	}

	private List<Appended> send(int records) {
		List<ShardTemplate.Outgoing> outgoing = new ArrayList<>();
		for (int i = 0; i < records; i++) {
			outgoing.add(new ShardTemplate.Outgoing("key" + i, "payload" + i));
		}
		return this.template.sendAll("orders", outgoing);
	}

	/** Each a new instance, of the same group. */
	private Handler consume() {
		return this.instances.start(Consumer.class, "consumer-" + this.instances.started().size())
			.getBean(Handler.class);
	}

	private void close(Handler handler) {
		this.instances.started()
			.stream()
			.filter((context) -> context.isActive()
					&& context.getBeanProvider(Handler.class).getIfAvailable() == handler)
			.findFirst()
			.orElseThrow()
			.close();
	}

	private static ConditionFactory patiently() {
		return Awaitility.await().atMost(Duration.ofSeconds(30));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Sender {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Consumer {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	static class Handler {

		final List<String> handled = new CopyOnWriteArrayList<>();

		final List<ShardId> assigned = new CopyOnWriteArrayList<>();

		final List<String> overlaps = new CopyOnWriteArrayList<>();

		final ConcurrentHashMap.KeySetView<ShardId, Boolean> shards = ConcurrentHashMap.newKeySet();

		@OnShardAssigned
		void assigned(ShardContext context) {
			if (!this.shards.add(context.shard())) {
				this.overlaps.add("assigned twice " + context.shard());
			}
			this.assigned.add(context.shard());
		}

		@OnShardRevoked
		void revoked(ShardContext context) {
			this.shards.remove(context.shard());
		}

		@ShardConsumer("orders")
		void handle(ShardRecord<String> order, ShardContext context, ShardState state) {
			if (!this.shards.contains(context.shard())) {
				this.overlaps.add(order + " of " + context.shard());
			}
			state.increment("n", 1);
			this.handled.add(order.payload());
		}

	}

}
