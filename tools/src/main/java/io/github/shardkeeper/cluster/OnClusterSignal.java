package io.github.shardkeeper.cluster;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks a method of a bean that every instance of the group runs when a signal was sent
 * with {@link ClusterSignals}. The method is {@code void}, not private, and takes
 * nothing, the payload, a {@link ClusterSignal}, or both. The payload is a {@code String}
 * or any type to which the application's {@code PayloadConverter} converts it, by default
 * from JSON.
 * <p>
 * An instance calls the method on a thread for callbacks, never in parallel with itself;
 * methods of the same name run one after the other. When it is called the next time, it
 * gets the latest signal; those in between are left out. It is called at least once for a
 * signal that no later one replaces, see {@link ClusterSignals}. A signal that was sent
 * before the application was started is not for it, unless {@link #atStart} says so.
 * <p>
 * A method that throws, or whose payload cannot be converted, is logged at ERROR. The
 * signal counts as failed on this instance, the sender hears the reason if it waits, and
 * the method is not called again for that signal. A method still running when the
 * application stops is interrupted shortly before the end of the shutdown phase
 * ({@code spring.lifecycle.timeout-per-shutdown-phase}).
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface OnClusterSignal {

	/**
	 * Name of the signal; {@code ${…}} is resolved. Several methods may have the same.
	 * @return the name
	 */
	String value();

	/**
	 * Whether an instance that starts also runs the method for the latest signal that was
	 * sent before, within the retention of that signal. Not for what a new process lacks
	 * anyway, such as an outdated cache; for what it must catch up on, such as loading
	 * the data that the signal names. The same for all methods of a name.
	 * @return whether it does
	 */
	boolean atStart() default false;

}
