package io.github.shardkeeper.testsupport;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * Marks tests that read sources, class files or docs, and run nothing of them. A run on
 * another JDK would read the same, so {@code .ci/run} leaves them out there.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("one-jdk")
public @interface OnOneJdk {

}
