package io.github.shardkeeper.cluster;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * A method of a Spring bean that one thread of all instances of the group runs at a time,
 * under the {@link ClusterLock} of a name. Also for a method that is {@code @Scheduled}:
 * <pre class="code">
 * &#064;Scheduled(cron = "0 0 3 * * *")
 * &#064;ClusterExclusive(value = "nightly-report", atLeast = "5m", atMost = "2h")
 * void report() {
 * }
 * </pre> A call on the bean itself ({@code this.report()}) is not intercepted. The lock
 * is lost with the session: a method that writes what must not be written twice takes the
 * {@linkplain ClusterLock#token() token} of {@link ClusterLocks#get(String)
 * ClusterLocks.get(name)} along. It is not interrupted.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@Reflective
public @interface ClusterExclusive {

	/**
	 * Name of the lock: 1 to 100 letters, digits, dots, dashes or underscores. It may
	 * have placeholders ({@code ${tenant}}) and expressions in SpEL, for example
	 * <code>report-#{#tenant}</code> for an argument {@code tenant}, or
	 * <code>report-#{#a0}</code> for the first one.
	 */
	String value();

	/**
	 * Time from the beginning of a call in which no other call begins, for example
	 * {@code 5m}. With this, two instances whose clocks differ do not both run a short
	 * scheduled method. None by default.
	 */
	String atLeast() default "";

	/**
	 * Time from the beginning of a call after which another one may begin although it
	 * still runs, for example {@code 2h}. No limit by default: an instance that dies does
	 * not hold the lock longer than its session.
	 */
	String atMost() default "";

	/** Reaction to a lock that is held. */
	WhenHeld whenHeld() default WhenHeld.SKIP;

	/**
	 * Maximum time to wait with {@link WhenHeld#WAIT}, for example {@code 30s}. Then the
	 * call fails with a {@link java.util.concurrent.TimeoutException}, in an
	 * {@link IllegalStateException} unless the method declares it. No limit by default.
	 */
	String waitAtMost() default "";

	/** Reaction to a lock that is held. */
	enum WhenHeld {

		/**
		 * Skips the call, which returns {@code null}. A call is also skipped, with a
		 * warning, while this instance has no session or not its lease. Not for methods
		 * that return a primitive value.
		 */
		SKIP,

		/**
		 * Waits for the lock. A call that is interrupted meanwhile fails with an
		 * {@link InterruptedException}, in an {@link IllegalStateException} unless the
		 * method declares it.
		 */
		WAIT

	}

}
