package io.github.shardkeeper.cluster.lock;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

import io.github.shardkeeper.StoreUnavailableException.NoSessionException;
import io.github.shardkeeper.cluster.ClusterExclusive;
import io.github.shardkeeper.cluster.ClusterExclusive.WhenHeld;
import io.github.shardkeeper.cluster.ClusterLock;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.cluster.LockLostException;
import io.github.shardkeeper.handler.AnnotatedBeans;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.text.DurationText;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/** Calls of {@link ClusterExclusive} methods, under their locks. Thread-safe. */
final class ExclusiveCalls implements MethodInterceptor {

	private static final Logger logger = PrintableLogger.of(ExclusiveCalls.class);

	private final Supplier<ClusterLocks> locks;

	private final BeanFactory beans;

	private final Map<Method, Rule> rules = new ConcurrentHashMap<>();

	/** The methods that were skipped since this instance has no session. */
	private final Set<Method> withoutSession = ConcurrentHashMap.newKeySet();

	/** The methods whose calls run now. Guarded by this. */
	private final List<Method> running = new ArrayList<>();

	/** Guarded by this. */
	private boolean stopped;

	/** Creates it; the locks are created with the first call. */
	ExclusiveCalls(Supplier<ClusterLocks> locks, BeanFactory beans) {
		this.locks = locks;
		this.beans = beans;
	}

	/**
	 * Checks a method and its annotation.
	 * @throws ShardkeeperConfigurationException if it cannot work
	 */
	void check(Method method, Object bean) {
		requireExclusive(method, bean);
		rule(method);
	}

	/** Otherwise it would run, or go on, without the lock. */
	private static void requireExclusive(Method method, Object bean) {
		Class<?> type = AopUtils.getTargetClass(bean);
		int modifiers = method.getModifiers();
		if (Modifier.isStatic(modifiers) || Modifier.isPrivate(modifiers)) {
			throw refused(method, "is private or static, so its calls cannot be intercepted.",
					"Make it an instance method that is not private.");
		}
		boolean extended = !AopUtils.isJdkDynamicProxy(bean);
		if (extended && (Modifier.isFinal(modifiers) || Modifier.isFinal(type.getModifiers()))) {
			throw refused(method, "or its class is final, so its calls cannot be intercepted.",
					"Remove 'final' (a record is final, too), or use ClusterLocks in the method.");
		}
		if (extended && !AnnotatedBeans.isOverridable(method, type)) {
			throw refused(method,
					"is package-private, in another package than the class of its bean, so its calls cannot be intercepted.",
					"Make it public or protected.");
		}
		if (AnnotatedBeans.isAsynchronous(method, type, bean) || AnnotatedBeans.isSuspending(method)
				|| AnnotatedBeans.isAsynchronousResult(method.getReturnType())) {
			throw refused(method, "is asynchronous: the lock would be released before its work is done.",
					"Do the work before it returns: remove @Async, and wait for a result with 'join()' or 'block()'.");
		}
	}

	private static ShardkeeperConfigurationException refused(Method method, String what, String action) {
		return new ShardkeeperConfigurationException("%s %s".formatted(Rule.text(method), what), action);
	}

	/** Begins calls again. */
	synchronized void start() {
		this.stopped = false;
	}

	/** Begins no further call, and waits for those that run. */
	synchronized void stop(Duration timeout) throws InterruptedException {
		this.stopped = true;
		MonotonicTime deadline = MonotonicClock.SYSTEM.now().plus(timeout);
		while (!this.running.isEmpty()) {
			Duration left = MonotonicClock.SYSTEM.now().until(deadline);
			if (left.isZero() || left.isNegative()) {
				logger.warn("Calls have not ended within {} ms and lose their locks, so others may run them at the "
						+ "same time: {}", timeout.toMillis(), this.running.stream().map(Rule::text).toList());
				return;
			}
			TimeUnit.NANOSECONDS.timedWait(this, left.toNanos());
		}
	}

	/** Returns whether a call may begin. */
	private synchronized boolean mayBegin(Rule rule) {
		if (this.stopped && rule.whenHeld == WhenHeld.WAIT) {
			throw new IllegalStateException(
					rule.text() + " cannot run any more: this instance stops, and leaves the group");
		}
		return !this.stopped;
	}

	/** Begins a call, whose lock is held, unless it may not begin any more. */
	private synchronized boolean begin(Rule rule) {
		boolean begins = mayBegin(rule);
		if (begins) {
			this.running.add(rule.method);
		}
		return begins;
	}

	private synchronized void end(Rule rule) {
		this.running.remove(rule.method);
		notifyAll();
	}

	private Rule rule(Method method) {
		return this.rules.computeIfAbsent(method, (absent) -> Rule.of(method, this.beans));
	}

	@Override
	public @Nullable Object invoke(MethodInvocation call) throws Throwable {
		Object target = Objects.requireNonNull(call.getThis(), "A @ClusterExclusive method has a target");
		Rule rule = rule(AopUtils.getMostSpecificMethod(call.getMethod(), target.getClass()));
		if (!mayBegin(rule)) {
			return skipped(rule);
		}
		ClusterLock lock = this.locks.get()
			.get(rule.name(target, call.getArguments(), this.beans), rule.atLeast, rule.atMost);
		if (!acquire(lock, rule)) {
			return null;
		}
		this.withoutSession.remove(rule.method);
		boolean begun = false;
		try {
			// Only now: a stop does not wait for calls that wait for the lock.
			begun = begin(rule);
			return begun ? call.proceed() : skipped(rule);
		}
		finally {
			try {
				release(lock, rule);
			}
			finally {
				if (begun) {
					end(rule);
				}
			}
		}
	}

	private static @Nullable Object skipped(Rule rule) {
		logger.debug("Skipped {}: this instance stops", rule.text());
		return null;
	}

	private boolean acquire(ClusterLock lock, Rule rule) throws Exception {
		if (rule.whenHeld == WhenHeld.SKIP) {
			return tryAcquire(lock, rule);
		}
		try {
			if (rule.waitAtMost == null) {
				lock.lockInterruptibly();
				return true;
			}
			if (lock.tryLock(TimeUnit.NANOSECONDS.convert(rule.waitAtMost), TimeUnit.NANOSECONDS)) {
				return true;
			}
		}
		catch (InterruptedException ex) {
			if (!rule.declares(ex)) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(
						"%s was interrupted while it waited for the lock '%s'".formatted(rule.text(), lock.name()), ex);
			}
			throw ex;
		}
		TimeoutException tooLate = new TimeoutException("%s has waited %s for the lock '%s', which is held"
			.formatted(rule.text(), rule.waitAtMost, lock.name()));
		if (rule.declares(tooLate)) {
			throw tooLate;
		}
		throw new IllegalStateException(tooLate.getMessage(), tooLate);
	}

	private boolean tryAcquire(ClusterLock lock, Rule rule) {
		try {
			boolean acquired = lock.tryLock();
			if (!acquired) {
				logger.debug("Skipped {}: the lock '{}' is held", rule.text(), lock.name());
			}
			return acquired;
		}
		catch (NoSessionException ex) {
			// Another instance may run it. Once per outage, because it may be called
			// often.
			Level level = this.withoutSession.add(rule.method) ? Level.WARN : Level.DEBUG;
			logger.atLevel(level).log("Skipped {}: {}", rule.text(), ex.getMessage());
			return false;
		}
	}

	/** The result of the method counts, also if the lock was lost. */
	private static void release(ClusterLock lock, Rule rule) {
		try {
			lock.unlock();
		}
		catch (LockLostException ex) {
			logger.warn("{} has run on after it had lost its lock, so it may have run twice at the same time: {}",
					rule.text(), ex.getMessage());
		}
	}

	/** What the annotation of a method says. Immutable. */
	private static final class Rule {

		private static final SpelExpressionParser PARSER = new SpelExpressionParser();

		private static final DefaultParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

		private final Method method;

		private final Expression name;

		private final Duration atLeast;

		private final Duration atMost;

		private final WhenHeld whenHeld;

		private final @Nullable Duration waitAtMost;

		private Rule(Method method, Expression name, Duration atLeast, Duration atMost, WhenHeld whenHeld,
				@Nullable Duration waitAtMost) {
			this.method = method;
			this.name = name;
			this.atLeast = atLeast;
			this.atMost = atMost;
			this.whenHeld = whenHeld;
			this.waitAtMost = waitAtMost;
		}

		static Rule of(Method method, BeanFactory beans) {
			ClusterExclusive annotation = Objects
				.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(method, ClusterExclusive.class));
			if (annotation.whenHeld() == WhenHeld.SKIP && method.getReturnType().isPrimitive()
					&& method.getReturnType() != void.class) {
				throw new ShardkeeperConfigurationException(
						"%s returns '%s', which a skipped call cannot return.".formatted(text(method),
								method.getReturnType()),
						"Return an object, or nothing, or set 'whenHeld = WhenHeld.WAIT'.");
			}
			Duration atLeast = duration(method, "atLeast", annotation.atLeast(), beans);
			Duration atMost = duration(method, "atMost", annotation.atMost(), beans);
			if (!atMost.isZero() && atLeast.compareTo(atMost) > 0) {
				throw new ShardkeeperConfigurationException("%s has the times atLeast %s and atMost %s.".formatted(
						text(method), DurationText.of(atLeast), DurationText.of(atMost)), "Use a shorter 'atLeast'.");
			}
			Duration waitAtMost = duration(method, "waitAtMost", annotation.waitAtMost(), beans);
			return new Rule(method, name(method, resolved(method, annotation.value(), beans)), atLeast, atMost,
					annotation.whenHeld(), waitAtMost.isZero() ? null : waitAtMost);
		}

		private static Expression name(Method method, String text) {
			try {
				Expression name = PARSER.parseExpression(text, new TemplateParserContext());
				if (!text.contains("#{") && !Names.isValid(text)) {
					throw new ShardkeeperConfigurationException(
							"%s has the name '%s', which is not valid.".formatted(text(method), text), Names.RULE);
				}
				return name;
			}
			catch (ParseException ex) {
				throw new ShardkeeperConfigurationException("%s has the name '%s', which cannot be read: %s."
					.formatted(text(method), text, ex.getMessage()),
						"Write an expression in SpEL as in 'report-#{#tenant}'.", ex);
			}
		}

		private static Duration duration(Method method, String attribute, String value, BeanFactory beans) {
			String text = resolved(method, value, beans);
			if (text.isBlank()) {
				return Duration.ZERO;
			}
			try {
				Duration duration = DurationFormatterUtils.detectAndParse(text);
				if (!duration.isNegative()) {
					return duration;
				}
			}
			catch (IllegalArgumentException ex) {
				throw notATime(method, attribute, text, ex);
			}
			throw notATime(method, attribute, text, null);
		}

		private static ShardkeeperConfigurationException notATime(Method method, String attribute, String text,
				@Nullable Exception cause) {
			return new ShardkeeperConfigurationException(
					"%s has '%s = \"%s\"', which is no time.".formatted(text(method), attribute, text),
					"Write a number with a unit, for example \"30s\" or \"2h\".", cause);
		}

		private static String resolved(Method method, String text, BeanFactory beans) {
			try {
				String resolved = (beans instanceof ConfigurableBeanFactory configurable)
						? configurable.resolveEmbeddedValue(text) : text;
				return (resolved != null) ? resolved : "";
			}
			catch (IllegalArgumentException ex) {
				throw new ShardkeeperConfigurationException(
						"%s has '%s', which cannot be resolved.".formatted(text(method), text),
						"Set the property that it names, or give it a default as in '${name:default}'.", ex);
			}
		}

		/** Evaluates the name for a call. */
		String name(Object target, Object[] arguments, BeanFactory beans) {
			MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(target, this.method, arguments,
					PARAMETER_NAMES);
			context.setBeanResolver(new BeanFactoryResolver(beans));
			try {
				String value = this.name.getValue(context, String.class);
				if (value != null) {
					return value;
				}
			}
			catch (EvaluationException ex) {
				throw new IllegalArgumentException("The name of the lock of %s, '%s', has no value: %s"
					.formatted(text(), this.name.getExpressionString(), ex.getMessage()), ex);
			}
			throw new IllegalArgumentException("The name of the lock of %s, '%s', has no value".formatted(text(),
					this.name.getExpressionString()));
		}

		/** Returns whether the method may throw a checked exception. */
		boolean declares(Exception problem) {
			return Arrays.stream(this.method.getExceptionTypes()).anyMatch((type) -> type.isInstance(problem));
		}

		String text() {
			return text(this.method);
		}

		private static String text(Method method) {
			return "@ClusterExclusive method " + method.getDeclaringClass().getSimpleName() + "." + method.getName()
					+ "()";
		}

	}

}
