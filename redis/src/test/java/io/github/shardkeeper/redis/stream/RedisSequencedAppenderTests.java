package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.domain.Range;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SequencedAppender.Batch;
import io.github.shardkeeper.source.SequencedAppender.Reply;
import io.github.shardkeeper.source.SequencedAppender.Sequence;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.SequencedAppenderContract;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@OnEveryRedis
class RedisSequencedAppenderTests extends SequencedAppenderContract {

	private static final ShardId SHARD = ShardId.of("invoices", 1);

	private static final Sequence SEQUENCE = new Sequence("group/orders/1", 5, 7);

	private final String prefix = "sequenced-" + UUID.randomUUID();

	private final String stream = this.prefix + ":{invoices#1}:stream:1";

	private final String received = this.prefix + ":{invoices#1}:received:1";

	private final RedisStreamSource source = new RedisStreamSource(RedisClients.sharedConnector(), this.prefix,
			Map.of("invoices", 2), Duration.ofSeconds(60));

	private final StringRedisTemplate commands = new StringRedisTemplate(RedisClients.sharedFactory());

	@AfterEach
	void close() {
		this.source.close();
		this.commands.delete(List.of(this.stream, this.received));
	}

	@Override
	protected SequencedAppender appender() {
		return this.source;
	}

	@Override
	protected List<String> records(ShardId shard) {
		return this.commands.<String, String>opsForStream()
			.range(this.stream, Range.unbounded())
			.stream()
			.map((entry) -> entry.getValue().get("v"))
			.toList();
	}

	@Test
	void fieldsAreThoseOfOtherRecords() {
		append(new NewRecord(SHARD, "ann", new byte[] { '1' }, Map.of("tenant", "acme")));

		assertThat(this.commands.<String, String>opsForStream().range(this.stream, Range.unbounded()).get(0).getValue())
			.isEqualTo(Map.of("k", "ann", "v", "1", "tenant", "acme"));
		assertThat(this.commands.opsForHash().entries(this.received)).isEqualTo(Map.of("group/orders/1", "5 1 7"));
	}

	@Test
	void keyOfAnotherTypeIsNamedAndNothingIsWritten() {
		this.commands.opsForValue().set(this.stream, "mine");
		assertRefused(this.stream + " holds a string, not the stream");
		assertThat(this.commands.hasKey(this.received)).isFalse();
		this.commands.delete(this.stream);

		this.commands.opsForValue().set(this.received, "mine");
		assertRefused(this.received + " holds a string, not the hash");
		assertThat(this.commands.hasKey(this.stream)).isFalse();
	}

	/** Lua cannot pass them on to Redis, and what was appended before would be there. */
	@Test
	void batchWithTooManyHeadersIsRefusedAsAWhole() {
		Map<String, String> headers = IntStream.range(0, 4_100)
			.boxed()
			.collect(Collectors.toMap((i) -> "h" + i, (i) -> "v"));
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(
					() -> this.source
						.append(SEQUENCE,
								new Batch(SHARD, 1, 0, 0,
										List.of(new NewRecord(SHARD, null, new byte[0]),
												new NewRecord(SHARD, null, new byte[0], headers))))
						.join())
			.withMessageContaining("too many for a script, so nothing was appended");
		assertThat(this.commands.hasKey(this.stream)).isFalse();
		assertThat(this.commands.hasKey(this.received)).isFalse();
	}

	/** Nobody may be able to make the sender wait for ever. */
	@Test
	void markThatOthersHaveChangedCountsAsMissing() {
		this.commands.opsForHash().put(this.received, SEQUENCE.sender(), "nonsense");

		assertThat(append(new NewRecord(SHARD, null, new byte[] { '1' }))).isEqualTo(new Reply.Appended(0));
	}

	private void assertRefused(String why) {
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> append(new NewRecord(SHARD, null, new byte[0])))
			.withCauseInstanceOf(SendFailedException.class)
			.withMessageContaining(why);
	}

	private Reply append(NewRecord newRecord) {
		return this.source.append(SEQUENCE, new Batch(SHARD, 1, 0, 0, List.of(newRecord))).join();
	}

}
