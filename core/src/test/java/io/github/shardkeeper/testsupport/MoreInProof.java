package io.github.shardkeeper.testsupport;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * Marks tests that run in the ordinary run and once more in the proof, with what is too
 * much there: more schedules of a simulation, or other databases. {@link Schedules} tells
 * which of the two runs this is.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("more-in-proof")
public @interface MoreInProof {

}
