package io.github.shardkeeper;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Sends records to the shards of a topic. Thread-safe.
 *
 * <h2>Which shard</h2> The first of these that says something:
 * <ol>
 * <li>the record itself, by {@link Outgoing#toShard};</li>
 * <li>a {@link ShardSelector}: the one given to {@link #with}, else the topic's, else the
 * only bean of that type;</li>
 * <li>the key: {@code (murmur2(UTF-8 bytes of the key) & 0x7fffffff) % number of shards},
 * as Kafka's default partitioner does, stable over releases and the same on every
 * instance;</li>
 * <li>without a key the shards take turns.</li>
 * </ol>
 *
 * <h2>Order</h2> Whatever one thread sends to one shard, by whichever method, is appended
 * in the order of the calls. A record that failed and is sent again comes after those
 * that were sent meanwhile.
 *
 * <h2>When it fails</h2> What is wrong with the record itself, or with the call, is
 * thrown by the call, and then nothing was sent: an unknown topic, a payload that cannot
 * be written or is too long, a shard that there is not. Everything else is a
 * {@link SendFailedException}, which says whether the record may have been appended all
 * the same. Sending it again can double it then. Where that matters, send a number of
 * your own along and let the handler skip what it has seen. On Redis Cluster the client
 * may send what was not answered again by itself, so there a record may be doubled even
 * without a failure.
 *
 * <h2>How much at once</h2> What is sent and not yet answered is bounded
 * ({@code shardkeeper.template.max-in-flight} records, {@code max-in-flight-size} bytes).
 * At the bound every method waits for room, so a producer cannot be faster than the
 * source for long. It waits until earlier records are answered or given up, which each is
 * within the time limit for answers.
 */
public interface ShardTemplate {

	/**
	 * Sends one record and waits until it is appended.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param key the key that chooses the shard, {@code null} for any shard
	 * @param payload a {@code String} or {@code byte[]} is sent as it is, anything else
	 * as JSON
	 * @return where it was appended
	 * @throws SendFailedException when that is not known; a retry makes sense
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException when the
	 * topic is not configured; a retry does not help
	 * @throws IllegalArgumentException when the record cannot be sent as it is
	 */
	default Appended send(String topic, @Nullable String key, Object payload) {
		return send(topic, new Outgoing(key, payload));
	}

	/**
	 * Sends one record and waits until it is appended.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param record the record
	 * @return where it was appended
	 * @throws SendFailedException when that is not known; a retry makes sense
	 */
	default Appended send(String topic, Outgoing record) {
		Objects.requireNonNull(record, "record must not be null");
		return sendAll(topic, List.of(record)).get(0);
	}

	/**
	 * Sends several records, pipelined, and waits until all are appended. Each is on its
	 * own: some may be appended while others fail.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param records the records; those of one shard are appended in their order
	 * @return where each was appended, in the same order
	 * @throws SendFailedException the first failure of any of them, when all are answered
	 * or given up. To learn what became of each, use {@link #sendAsync}
	 */
	List<Appended> sendAll(String topic, Collection<Outgoing> records);

	/**
	 * Sends one record and does not wait for the answer, only for room (see above).
	 * <p>
	 * What depends on the future without an executor of its own runs on a thread that
	 * answers come on, so it must be quick. There, nothing is waited for: without room
	 * the record is refused, and {@link #send}, {@link #sendAll} and {@link #flush} throw
	 * {@link IllegalStateException}. Use the {@code …Async} methods of the future for
	 * more than that.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param key the key that chooses the shard, {@code null} for any shard
	 * @param payload a {@code String} or {@code byte[]} is sent as it is, anything else
	 * as JSON. A {@code byte[]} must not be changed until the future is complete
	 * @return where it was appended; or a {@link SendFailedException}. To cancel it
	 * changes nothing: the record was sent
	 */
	default CompletableFuture<Appended> sendAsync(String topic, @Nullable String key, Object payload) {
		return sendAsync(topic, new Outgoing(key, payload));
	}

	/**
	 * Sends one record and does not wait for the answer; see
	 * {@link #sendAsync(String, String, Object)}.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param record the record
	 * @return where it was appended; or a {@link SendFailedException}
	 */
	CompletableFuture<Appended> sendAsync(String topic, Outgoing record);

	/**
	 * Waits until everything that was sent before, by any thread, is answered or given
	 * up. What became of it, the futures say. Nothing is held back until a flush: it is
	 * for those who want to know that all is done.
	 */
	void flush();

	/**
	 * This template, with another rule for what is sent through it. Shares everything
	 * else with it: bounds, order and flush.
	 * @param selector the rule
	 * @return the template
	 */
	ShardTemplate with(ShardSelector selector);

	/**
	 * Tells the shard to which the hash of a key leads. No selector is asked.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param key the key
	 * @return the shard
	 */
	ShardId shardFor(String topic, String key);

	/**
	 * A record to send. Immutable, as far as its payload is.
	 *
	 * @param key its key, {@code null} for none
	 * @param payload a {@code String} or {@code byte[]} is sent as it is, anything else
	 * as JSON
	 * @param headers its headers by name; on Redis Streams none may be called {@code k}
	 * or {@code v}
	 * @param shard the number of its shard, {@code null} where that is not said
	 */
	record Outgoing(@Nullable String key, Object payload, Map<String, String> headers, @Nullable Integer shard) {

		public Outgoing {
			Objects.requireNonNull(payload, "payload must not be null; it may be an empty text");
			Objects.requireNonNull(headers, "headers must not be null");
			headers = headers.isEmpty() ? Map.of() : Map.copyOf(headers);
		}

		/**
		 * Creates a record without headers.
		 * @param key its key, {@code null} for none
		 * @param payload its payload
		 */
		public Outgoing(@Nullable String key, Object payload) {
			this(key, payload, Map.of(), null);
		}

		/**
		 * A record without a key and headers.
		 * @param payload its payload
		 * @return the record
		 */
		public static Outgoing of(Object payload) {
			return new Outgoing(null, payload);
		}

		/**
		 * This record with a header more.
		 * @param name its name
		 * @param value its value; replaces that of an earlier header of the same name
		 * @return the record
		 */
		public Outgoing withHeader(String name, String value) {
			Objects.requireNonNull(name, "name must not be null");
			Objects.requireNonNull(value, "value must not be null");
			Map<String, String> more = new LinkedHashMap<>(this.headers);
			more.put(name, value);
			return new Outgoing(this.key, this.payload, more, this.shard);
		}

		/**
		 * This record for a certain shard, whatever its key.
		 * @param number the shard's number
		 * @return the record
		 */
		public Outgoing toShard(int number) {
			return new Outgoing(this.key, this.payload, this.headers, number);
		}

	}

	/**
	 * Where a record was appended.
	 *
	 * @param shard the shard
	 * @param offset the position there
	 */
	record Appended(ShardId shard, Offset offset) {

		public Appended {
			Objects.requireNonNull(shard, "shard must not be null");
			Objects.requireNonNull(offset, "offset must not be null");
		}

	}

}
