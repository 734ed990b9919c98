package io.github.shardkeeper.testsupport;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * For tests that look at what is logged: a parameter of type {@code CapturedOutput} has
 * it. They run while no other class of their JVM does, whose lines they would see.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(OutputCaptureExtension.class)
@Isolated
public @interface CapturesOutput {

}
