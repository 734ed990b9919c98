package io.github.shardkeeper.benchmarks.latency;

import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.benchmarks.Applications;

/**
 * Sends records without waiting for the answers. Confined to its thread.
 */
interface Sender {

	CompletableFuture<?> send(int shard, byte[] payload);

	/** One {@code XADD} per record. */
	static Sender ofLettuce(String address) {
		RedisAsyncCommands<String, byte[]> commands = RedisClient.create(RedisURI.create(address))
			.connect(Contender.CODEC)
			.async();
		return (shard, payload) -> commands.xadd(Contender.stream(shard), Map.of(Contender.PAYLOAD_FIELD, payload))
			.toCompletableFuture();
	}

	/** A template at its defaults. */
	static Sender ofShardkeeper(String address, int shards) {
		ShardTemplate template = Applications
			.start(RedisURI.create(address).getPort(), new Object(),
					Map.of("shardkeeper.group", "senders", "shardkeeper.topics." + Contender.TOPIC + ".shards", shards))
			.getBean(ShardTemplate.class);
		return (shard, payload) -> template.sendAsync(Contender.TOPIC, Outgoing.of(payload).toShard(shard));
	}

	/** A producer that waits for no other records. */
	static Sender ofKafka(String address) {
		ByteArraySerializer bytes = new ByteArraySerializer();
		KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
				Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, address, ProducerConfig.LINGER_MS_CONFIG, 0), bytes,
				bytes);
		return (shard, payload) -> {
			CompletableFuture<Void> sent = new CompletableFuture<>();
			producer.send(new ProducerRecord<>(Contender.TOPIC, shard, null, payload), (metadata, failure) -> {
				if (failure != null) {
					sent.completeExceptionally(failure);
				}
				else {
					sent.complete(null);
				}
			});
			return sent;
		};
	}

}
