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
 * <h2>Shard of a record</h2> The first of these rules that applies:
 * <ol>
 * <li>the shard set by {@link Outgoing#toShard};</li>
 * <li>a {@link ShardSelector}: the one passed to {@link #with}, else the one of the
 * topic, else the only bean of that type;</li>
 * <li>the hash of the key, the same on every instance and in every release:
 * {@code (murmur2(UTF-8 bytes of the key) & 0x7fffffff) % number of shards}, as Kafka's
 * default partitioner computes it;</li>
 * <li>the hash of the {@linkplain Outgoing#withId id}, computed in the same way;</li>
 * <li>without a key and an id, the shards in turn.</li>
 * </ol>
 *
 * <h2>Order</h2> Records that one thread sends to one shard, by any method, are appended
 * in the order of the calls, also if the template repeats one of them
 * ({@code shardkeeper.template.retries}): later records of the shard wait meanwhile. A
 * record that failed and is sent again by the application comes after those that were
 * sent in the meantime.
 *
 * <h2>Failures</h2> An invalid record or call fails at once, with an exception of the
 * method itself, and nothing is sent: an unknown topic, a payload that cannot be written
 * or is too large, a shard that does not exist. All other failures are a
 * {@link SendFailedException}.
 * <p>
 * What is <em>not</em> guaranteed: that a record without an id is appended only once, if
 * {@code shardkeeper.template.retries} is 0. A retry after a {@link SendFailedException}
 * may duplicate it, and on Redis Cluster the client itself may send an unanswered command
 * again. With retries, the template repeats records without duplicating them; with
 * {@link Outgoing#withId}, the application can, also after a restart, as long as the id
 * is remembered. An attempt that reaches Redis more than an hour after the last record
 * that the template has sent to the shard is not recognized.
 *
 * <h2>Limits</h2> The number and size of records sent and not yet answered are limited
 * ({@code shardkeeper.template.max-in-flight} records, {@code max-in-flight-size} bytes).
 * At the limit every sending method waits until earlier records are answered or have
 * failed, at most for the time limit for replies, or for that of all attempts.
 */
public interface ShardTemplate {

	/**
	 * Sends one record and waits until it is appended.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param key the key that selects the shard, {@code null} for any shard
	 * @param payload the payload: a {@code String} or {@code byte[]} is sent as it is,
	 * anything else as JSON
	 * @return the shard and offset of the record
	 * @throws SendFailedException if the source did not confirm it; a retry makes sense
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if the topic
	 * is not configured; a retry does not help
	 * @throws IllegalArgumentException if the record is not valid; a retry does not help
	 */
	default Appended send(String topic, @Nullable String key, Object payload) {
		return send(topic, new Outgoing(key, payload));
	}

	/**
	 * Sends one record like {@link #send(String, String, Object)}, with its exceptions.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param record the record
	 * @return the shard and offset of the record
	 */
	default Appended send(String topic, Outgoing record) {
		Objects.requireNonNull(record, "record must not be null");
		return sendAll(topic, List.of(record)).get(0);
	}

	/**
	 * Sends several records, pipelined, and waits until all are appended. Not atomic:
	 * some may be appended while others fail.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param records the records; those of one shard are appended in this order
	 * @return the shard and offset of each record, in the same order
	 * @throws SendFailedException for the first failure, once all records are answered or
	 * have failed; use {@link #sendAsync} for the result of each
	 * @throws IllegalArgumentException if a record is not valid; none is sent then
	 */
	List<Appended> sendAll(String topic, Collection<Outgoing> records);

	/**
	 * Sends one record without waiting for the reply. Waits only at the limits above.
	 * <p>
	 * Callbacks of the future without an executor run on a thread that receives replies,
	 * so they must not block; use the {@code …Async} methods of the future for anything
	 * longer. On that thread no method waits: at the limits the record fails, and
	 * {@link #send}, {@link #sendAll} and {@link #flush} throw
	 * {@link IllegalStateException}.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param key the key that selects the shard, {@code null} for any shard
	 * @param payload the payload: a {@code String} or {@code byte[]} is sent as it is,
	 * anything else as JSON. Do not change a {@code byte[]} until the future completes
	 * @return the shard and offset of the record, or a failure with a
	 * {@link SendFailedException}. Cancelling it has no effect on the record
	 */
	default CompletableFuture<Appended> sendAsync(String topic, @Nullable String key, Object payload) {
		return sendAsync(topic, new Outgoing(key, payload));
	}

	/**
	 * Sends one record like {@link #sendAsync(String, String, Object)}.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param record the record
	 * @return the shard and offset of the record, or a {@link SendFailedException}
	 */
	CompletableFuture<Appended> sendAsync(String topic, Outgoing record);

	/**
	 * Waits until all records that any thread has sent before are answered or have
	 * failed. Records are sent without it, and their results are in their futures.
	 * @throws SendFailedException if the thread is interrupted while it waits
	 */
	void flush();

	/**
	 * Returns this template with another selector. Limits, order and flush are shared.
	 * @param selector the selector for records sent through the returned template
	 * @return the template
	 */
	ShardTemplate with(ShardSelector selector);

	/**
	 * Returns the shard that the hash of a key selects, without calling selectors.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param key the key
	 * @return the shard, with the current number of shards
	 */
	ShardId shardFor(String topic, String key);

	/**
	 * Record to send. Immutable if its payload is.
	 *
	 * @param key the key, {@code null} for none
	 * @param payload the payload, sent as {@link #send(String, String, Object)} says
	 * @param headers the headers by name; not {@code k} or {@code v} with Redis Streams
	 * @param shard the number of the shard, {@code null} to select it by the rules above
	 * @param id the id by which a repeated record is recognized, {@code null} for none
	 */
	record Outgoing(@Nullable String key, Object payload, Map<String, String> headers, @Nullable Integer shard,
			@Nullable String id) {

		/** Maximum length of an id, in characters. */
		public static final int MAX_ID_LENGTH = 200;

		public Outgoing {
			Objects.requireNonNull(payload, "payload must not be null; it may be an empty text");
			Objects.requireNonNull(headers, "headers must not be null");
			headers = headers.isEmpty() ? Map.of() : Map.copyOf(headers);
			if (id != null && (id.isEmpty() || id.length() > MAX_ID_LENGTH)) {
				throw new IllegalArgumentException(
						"An id has 1 to %d characters; this one has %,d".formatted(MAX_ID_LENGTH, id.length()));
			}
		}

		/**
		 * Creates a record without an id.
		 * @param key the key, {@code null} for none
		 * @param payload the payload
		 * @param headers the headers by name
		 * @param shard the number of the shard, {@code null} to select it by the rules
		 */
		public Outgoing(@Nullable String key, Object payload, Map<String, String> headers, @Nullable Integer shard) {
			this(key, payload, headers, shard, null);
		}

		/**
		 * Creates a record without headers.
		 * @param key the key, {@code null} for none
		 * @param payload the payload
		 */
		public Outgoing(@Nullable String key, Object payload) {
			this(key, payload, Map.of(), null, null);
		}

		/**
		 * Creates a record without key and headers.
		 * @param payload the payload
		 * @return the record
		 */
		public static Outgoing of(Object payload) {
			return new Outgoing(null, payload);
		}

		/**
		 * Returns this record with one more header.
		 * @param name the name of the header
		 * @param value the value; replaces the value of a header with the same name
		 * @return the record
		 */
		public Outgoing withHeader(String name, String value) {
			Objects.requireNonNull(name, "name must not be null");
			Objects.requireNonNull(value, "value must not be null");
			Map<String, String> more = new LinkedHashMap<>(this.headers);
			more.put(name, value);
			return new Outgoing(this.key, this.payload, more, this.shard, this.id);
		}

		/**
		 * Returns this record with a fixed shard, whatever its key.
		 * @param number the number of the shard
		 * @return the record
		 */
		public Outgoing toShard(int number) {
			return new Outgoing(this.key, this.payload, this.headers, number, this.id);
		}

		/**
		 * Returns this record with an id: a record that is sent again with the same id,
		 * to the same shard, is not appended a second time, and its {@link Appended} is
		 * that of the first one. What is compared is the id, not the content. Redis
		 * remembers an id for {@code shardkeeper.redis.record-ids.retention}, and no more
		 * than {@code max-count} of them for a shard. Topics in Kafka and SLS refuse ids.
		 * <p>
		 * A record without a key is sent to a shard that its id selects. If the number of
		 * shards is raised between two attempts, the second one may go to another shard;
		 * {@link #toShard} prevents it.
		 * @param unique the id, 1 to {@value #MAX_ID_LENGTH} characters
		 * @return the record
		 */
		public Outgoing withId(String unique) {
			Objects.requireNonNull(unique, "unique must not be null");
			return new Outgoing(this.key, this.payload, this.headers, this.shard, unique);
		}

	}

	/**
	 * Position of an appended record. Immutable.
	 *
	 * @param shard the shard
	 * @param offset the offset in the shard
	 */
	record Appended(ShardId shard, Offset offset) {

		public Appended {
			Objects.requireNonNull(shard, "shard must not be null");
			Objects.requireNonNull(offset, "offset must not be null");
		}

	}

}
