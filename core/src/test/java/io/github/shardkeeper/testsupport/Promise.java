package io.github.shardkeeper.testsupport;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the promises of the README that a test, or all tests of a class, hold: without
 * what keeps them, the test fails. {@code docs/internals/promises.md} is generated from
 * it.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.SOURCE)
public @interface Promise {

	/**
	 * Returns the promises, by their names in the README.
	 */
	String[] value();

}
