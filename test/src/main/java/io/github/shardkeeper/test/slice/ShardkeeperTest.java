package io.github.shardkeeper.test.slice;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.filter.annotation.TypeExcludeFilters;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.ContextCustomizerFactories;
import org.springframework.test.context.TestExecutionListeners;
import org.springframework.test.context.TestExecutionListeners.MergeMode;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * Test of {@code @ShardConsumer} handlers alone: they run on stores in memory, on the
 * thread of the test and in a time that the test sets. Inject {@link TestShards} to send
 * records, to have them handled and to look at the result.
 *
 * <pre class="code">
 * &#64;ShardkeeperTest(VisitCounter.class)
 * class VisitCounterTests {
 *
 * 	&#64;Autowired
 * 	TestShards shards;
 *
 * 	&#64;MockitoBean
 * 	Pages pages;
 *
 * }
 * </pre>
 *
 * As in other slices of Spring Boot, the test finds the application's configuration
 * class, and component scanning finds only what the slice is about: the named handlers,
 * failure handlers, interceptors, record filters, converters, selectors, migrations of
 * states and names of shards. Add what handlers need with {@code @Import} or
 * {@code @MockitoBean}. Every topic with records is one in memory, whatever its
 * configured source. Commits are made after each batch, unless the application's
 * configuration sets {@code shardkeeper.consumer.commit.mode}.
 * <p>
 * Needs the Shardkeeper starter and {@code spring-boot-starter-test}. Tests with the same
 * annotation share a context, and each begins with an empty group.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@BootstrapWith(ShardkeeperTestContextBootstrapper.class)
@ExtendWith(SpringExtension.class)
@OverrideAutoConfiguration(enabled = false)
@TypeExcludeFilters(ShardkeeperTypeExcludeFilter.class)
@ImportAutoConfiguration
@ContextCustomizerFactories(ShardkeeperTestContextCustomizerFactory.class)
@TestExecutionListeners(listeners = TestShardsReset.class, mergeMode = MergeMode.MERGE_WITH_DEFAULTS)
public @interface ShardkeeperTest {

	/**
	 * Classes of the handlers that are consumed; an alias of {@link #handlers}.
	 * @return the classes, empty for all that are found
	 */
	@AliasFor("handlers")
	Class<?>[] value() default {};

	/**
	 * Classes of the handlers that are consumed. One that is no bean of the application
	 * is registered.
	 * @return the classes, empty for all that are found
	 */
	@AliasFor("value")
	Class<?>[] handlers() default {};

	/**
	 * Properties of the environment, as {@code name=value}.
	 * @return the properties
	 */
	String[] properties() default {};

}
