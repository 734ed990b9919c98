package io.github.shardkeeper.redis.checkpoint;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A state that is read page by page is what one atomic step would have read, whatever
 * happens between two pages.
 */
@Promise("Nothing lost")
@OnEveryRedis
class LargeStateTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token OLD = new Token(1_767_225_600_123_456L);

	private static final Token NEW = new Token(OLD.value() + 5);

	private static final int ENTRIES = 5_000;

	private final String group = UUID.randomUUID().toString();

	private final String start = "test:{" + this.group + "/orders/1}:";

	private final StringRedisTemplate template = new StringRedisTemplate(RedisClients.sharedFactory());

	private final CheckpointStore store = new RedisCheckpointStore(RedisClients.sharedConnector(), "test", this.group,
			Duration.ofSeconds(30), ReplicaWait.NONE, DataScripts.load("between-pages.lua"));

	private final Map<String, String> state = new HashMap<>();

	@BeforeEach
	void commitState() {
		this.store.acquireNow(SHARD, OLD);
		IntStream.range(0, ENTRIES).forEach((i) -> this.state.put("key-" + i, "value-" + i));
		assertThat(commit(OLD, 1, this.state)).isEqualTo(CommitReply.COMMITTED);
	}

	@AfterEach
	void close() {
		this.store.close();
	}

	@Test
	void stateIsReadCompletely() {
		assertThat(acquire(NEW)).isEqualTo(new Checkpoint(new Offset("1"), this.state));
		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("1"), this.state));
	}

	@Test
	void entryOnTwoPagesCountsOnce() {
		happensBetweenPages("again");
		assertThat(acquire(NEW).state()).isEqualTo(this.state);
		happensBetweenPages("again");
		assertThat(this.store.read(SHARD).state()).isEqualTo(this.state);
	}

	@Test
	void readerIsRefusedAfterANewerAcquisition() {
		happensBetweenPages("acquired by a newer owner");

		assertThat(this.store.acquireNow(SHARD, NEW)).isEqualTo(new Acquisition.Refused(new Token(NEW.value() + 1)));
	}

	@Test
	void stateCommittedMeanwhileIsReadCompletely() {
		happensBetweenPages("committed");
		this.state.put("key-7", "changed");
		assertThat(acquire(NEW).state()).isEqualTo(this.state);
		happensBetweenPages("committed");
		assertThat(this.store.read(SHARD).state()).isEqualTo(this.state);
	}

	@ParameterizedTest
	@ValueSource(strings = { "led astray", "fence lost" })
	void stateIsReadAgainAfterAFailover(String event) {
		happensBetweenPages(event);
		assertThat(acquire(NEW).state()).isEqualTo(this.state);
		assertThat(fence()).isEqualTo(NEW.toString());
		happensBetweenPages(event);
		assertThat(this.store.read(SHARD).state()).isEqualTo(this.state);
	}

	@ParameterizedTest
	@ValueSource(strings = { "led astray, always", "committed, always" })
	void stateThatNeverStaysTheSameFailsTheAcquisition(String event) {
		happensBetweenPages(event);

		assertThatThrownBy(() -> this.store.acquireNow(SHARD, NEW)).isInstanceOf(StoreUnavailableException.class)
			.hasMessageContaining("the state of orders/1 did not stay the same while it was read");
		assertThat(this.store.read(SHARD).state()).as("read at once in the end").hasSize(ENTRIES);

		happensBetweenPages(null);
		assertThat(acquire(NEW).state()).hasSize(ENTRIES);
	}

	@Test
	void failedReadIsRepeatedFromTheFirstPage() {
		happensBetweenPages("error");
		assertThatThrownBy(() -> this.store.acquireNow(SHARD, NEW)).isInstanceOf(StoreUnavailableException.class)
			.hasMessageContaining("caused by the test");
		assertThat(commit(OLD, 2, Map.of("key-7", "late"))).as("the fence was raised first")
			.isEqualTo(CommitReply.STALE);

		assertThat(acquire(NEW).state()).isEqualTo(this.state);
		assertThat(commit(NEW, 1, Map.of("key-7", "new"))).isEqualTo(CommitReply.COMMITTED);
	}

	@Test
	void keysThatAreNotUtf8DoNotBlockReading() {
		try (RedisConnection connection = RedisClients.sharedFactory().getConnection()) {
			byte[] key = (this.start + "state").getBytes(StandardCharsets.UTF_8);
			connection.hashCommands().hSet(key, new byte[] { (byte) 0xff }, new byte[] { 1 });
			connection.hashCommands().hSet(key, new byte[] { (byte) 0xfe }, new byte[] { 1 });
		}

		assertThat(acquire(NEW).state()).containsAllEntriesOf(this.state);
	}

	private void happensBetweenPages(@Nullable String event) {
		if (event != null) {
			this.template.opsForValue().set("event:" + this.start + "checkpoint", event);
		}
		else {
			this.template.delete("event:" + this.start + "checkpoint");
		}
	}

	private Object fence() {
		return this.template.opsForHash().get(this.start + "checkpoint", "fence");
	}

	private CommitReply commit(Token token, int number, Map<String, String> changes) {
		return this.store
			.commit(SHARD, token,
					Commit.of(CommitNumber.ofWhole(number), new Offset(Integer.toString(number)),
							new HashMap<>(changes)))
			.orTimeout(1, TimeUnit.MINUTES)
			.join();
	}

	private Checkpoint acquire(Token token) {
		return ((Acquisition.Acquired) this.store.acquireNow(SHARD, token)).checkpoint();
	}

}
