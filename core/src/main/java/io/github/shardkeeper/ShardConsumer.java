package io.github.shardkeeper;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks a method of a bean as the handler of a topic: of its records one by one, of
 * batches of records, or of its shards without records. The parameters of the method
 * decide which. An application can have one handler per topic and group; a method can be
 * the handler of several, each with its own offsets and state.
 * <p>
 * At any moment at most one instance of the group handles records of a shard. It handles
 * them one after the other, in order; with {@code shardkeeper.consumer.ordering: key}
 * only the records of one key are in order, with {@code none} no records are. Records of
 * different shards are handled concurrently, so the bean must be thread-safe. Changes of
 * {@link ShardState} are committed atomically with the offset: after any crash each
 * record has changed the state exactly once. All other side effects happen at least once.
 * <p>
 * The method takes, in any order and each at most once:
 * <ul>
 * <li>a record, either as {@link ShardRecord ShardRecord&lt;T&gt;} or as its payload
 * {@code T}: a {@code String} or {@code byte[]} receives the payload as it is, every
 * other type is read from JSON;</li>
 * <li>or a batch of up to {@code shardkeeper.consumer.batch-size} records, which succeed
 * or fail together, either as {@code List<ShardRecord<T>>} or as {@code List<T>}. The
 * list is unmodifiable. For a payload that is itself a JSON array, write
 * {@code ShardRecord<List<T>>};</li>
 * <li>or neither, with an {@link #interval()} or, on a topic without records, a
 * {@link #cron()}: it is called repeatedly while this instance owns the shard, with that
 * pause or at these times. Records of the topic are not read;</li>
 * <li>{@link ShardContext} and {@link ShardState};</li>
 * <li>{@link ShardOutput}, for records that are sent to other topics as a part of the
 * call;</li>
 * <li>{@link Acknowledgment}, with {@code shardkeeper.consumer.commit.mode: manual}, if
 * the method takes records.</li>
 * </ul>
 * It returns {@code void}, and its work is done when it returns; or a
 * {@link java.util.concurrent.Future}, a {@link java.util.concurrent.CompletionStage} or,
 * if Reactor is on the class path, a reactive type of at most one value: the call then
 * lasts, on its thread, until that is complete, and fails as that does. With
 * {@code kotlin-reflect} and {@code kotlinx-coroutines-reactor} it may be a suspending
 * function of Kotlin, whose call lasts in the same way.
 * <p>
 * If Spring Messaging is on the class path, a method that takes single records may also
 * have parameters annotated with {@code @Payload}, {@code @Header} or {@code @Headers},
 * and of type {@code Message<T>} or {@code MessageHeaders}; {@link ShardHeaders} lists
 * the names of the headers. A payload with {@code @Valid} or {@code @Validated}, also as
 * {@code @Valid List<T>}, is validated before the call. A record that is not valid, or
 * lacks a required header, is treated like one whose payload cannot be converted.
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
 * If the method throws, its changes of the state are undone, and it is called again after
 * a pause that grows. No record is skipped silently.
 * <p>
 * What is <em>not</em> guaranteed: a process that freezes during a call cannot be
 * stopped, only fenced: write {@link ShardContext#token()} with data in other stores.
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
@Repeatable(ShardConsumer.Repeated.class)
public @interface ShardConsumer {

	/**
	 * Topics of {@code shardkeeper.topics.*} to consume; {@code ${…}} is resolved.
	 * @return the names of the topics
	 */
	String[] value();

	/**
	 * Group that consumes the topics: a name below {@code shardkeeper.groups}, or empty
	 * for the group of {@code shardkeeper.group}. {@code ${…}} is resolved.
	 * @return the name of the group
	 */
	String group() default "";

	/**
	 * Pause from the end of one call to the beginning of the next one for the same shard,
	 * for example {@code 10s}, {@code 5m} or {@code PT1H}; a number without a unit is in
	 * milliseconds. {@code 0s} is for methods that wait themselves; the longest is
	 * {@code 36500d}. {@code ${…}} is resolved. A method that takes no records needs this
	 * or {@link #cron()}, or {@code shardkeeper.topics.<name>.schedule}, which has
	 * precedence; not allowed for others.
	 * @return the pause
	 */
	String interval() default "";

	/**
	 * Times of the calls for each shard, as a cron expression of Spring with six fields,
	 * for example {@code 0 0 3 * * *} for every day at three o'clock. For methods that
	 * take no records, on a topic without records
	 * ({@code shardkeeper.topics.<name>.source: fixed}). A call that has returned and is
	 * committed is never made again for its time, also if clocks are set back.
	 * {@code ${…}} is resolved.
	 * @return the cron expression
	 */
	String cron() default "";

	/**
	 * Time zone of {@link #cron()}, for example {@code Europe/Berlin}; UTC if it is
	 * empty. {@code ${…}} is resolved.
	 * @return the time zone
	 */
	String zone() default "";

	/**
	 * Several on one method, for topics that differ in other attributes.
	 */
	@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
	@Retention(RetentionPolicy.RUNTIME)
	@Documented
	@Reflective
	@interface Repeated {

		/**
		 * The annotations.
		 * @return the annotations
		 */
		ShardConsumer[] value();

	}

}
