package io.github.shardkeeper;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks the method of a bean that handles the records of a topic's shards.
 * <p>
 * Records of one shard are handled one after the other, in their order, on at most one
 * instance of the group at any moment; records of different shards are handled at the
 * same time, so the bean itself must be thread-safe. What the method writes to its
 * {@link ShardState} is committed together with the record's offset: after any crash each
 * record has changed the state exactly once. Every other side effect happens at least
 * once.
 * <p>
 * The method takes, in any order and each at most once:
 * <ul>
 * <li>the record, either as {@link ShardRecord ShardRecord&lt;T&gt;} or as its payload
 * {@code T}. A {@code String} or {@code byte[]} receives the payload as it is, every
 * other type is read from JSON;</li>
 * <li>{@link ShardContext};</li>
 * <li>{@link ShardState}.</li>
 * </ul>
 * <pre class="code">
 * &#64;ShardConsumer("visits")
 * void count(Visit visit, ShardState state) {
 *     state.increment(visit.client(), 1);
 * }
 * </pre>
 * <p>
 * A method that throws is called again with the same record after a growing pause, its
 * changes of the state undone; a payload that cannot be converted halts its shard at that
 * record. Neither is ever skipped. A topic may have only one handler in an application.
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

}
