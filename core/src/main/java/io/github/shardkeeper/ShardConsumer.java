package io.github.shardkeeper;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks the method of a bean that handles a topic's shards: their records one by one,
 * their records in batches, or the shards alone. Its parameters say which.
 * <p>
 * Records of one shard are handled on at most one instance of the group at any moment,
 * one after the other in their order; with {@code shardkeeper.consumer.ordering: key}
 * only those of one key are, with {@code none} not even these. Records of different
 * shards are handled at the same time, so the bean itself must be thread-safe. What the
 * method writes to its {@link ShardState} is committed together with the offset of what
 * it has handled: after any crash each record has changed the state exactly once. Every
 * other side effect happens at least once.
 * <p>
 * The method takes, in any order and each at most once:
 * <ul>
 * <li>a record, either as {@link ShardRecord ShardRecord&lt;T&gt;} or as its payload
 * {@code T}: it is called once for each record. A {@code String} or {@code byte[]}
 * receives the payload as it is, every other type is read from JSON;</li>
 * <li>or a batch, either as {@code List<ShardRecord<T>>} or as {@code List<T>}: it is
 * called with up to {@code shardkeeper.consumer.batch-size} records, which are handled or
 * not handled together. The list cannot be changed. A payload that is itself a JSON array
 * is taken as {@code ShardRecord<List<T>>};</li>
 * <li>or neither, with an {@link #interval()}: it is called again and again while this
 * instance owns the shard, with that pause; the records of the topic, if there are any,
 * are not read;</li>
 * <li>{@link ShardContext};</li>
 * <li>{@link ShardState};</li>
 * <li>{@link Acknowledgment}, with {@code shardkeeper.consumer.commit.mode: manual}; not
 * without records.</li>
 * </ul>
 * Where Spring Messaging is on the class path, a method that takes single records may
 * also have parameters with {@code @Payload}, {@code @Header} and {@code @Headers}, and
 * of the types {@code Message<T>} and {@code MessageHeaders}; {@link ShardHeaders} has
 * the names. A payload with {@code @Valid} or {@code @Validated}, also in
 * {@code @Valid List<T>}, is validated before the call; a record that is not valid, or
 * lacks a header that is wanted, is treated as one whose payload cannot be converted.
 *
 * <pre class="code">
 * &#64;ShardConsumer("visits")
 * void count(Visit visit, ShardState state) {
 *     state.increment(visit.client(), 1);
 * }
 *
 * &#64;ShardConsumer(value = "mailboxes", interval = "10s")
 * void poll(ShardContext shard, ShardState state) {
 *     fetchNewMails(shard.shard().id(), state);
 * }
 * </pre>
 * <p>
 * When a method throws, its changes of the state are undone, and it is called again after
 * a growing pause. No record is skipped silently. A topic may have only one handler in an
 * application.
 * <p>
 * What is <em>not</em> guaranteed: a process that is frozen in the middle of a call
 * cannot be stopped, only fenced: use {@link ShardContext#token()} in writes to other
 * stores.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface ShardConsumer {

	/**
	 * The topic, one of {@code shardkeeper.topics.*}; placeholders like {@code ${…}} are
	 * resolved.
	 * @return the name of the topic
	 */
	String value();

	/**
	 * For a method that takes no records: the pause from the end of one call to the
	 * beginning of the next one for the same shard, such as {@code 10s}, {@code 5m} or
	 * {@code PT1H}; a number without a unit counts milliseconds. Placeholders like
	 * {@code ${…}} are resolved. With {@code 0s} there is no pause, for methods that wait
	 * themselves. Such a method has to say it; a method that takes records must not.
	 * @return the pause
	 */
	String interval() default "";

}
