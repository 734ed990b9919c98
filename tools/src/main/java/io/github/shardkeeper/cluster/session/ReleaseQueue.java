package io.github.shardkeeper.cluster.session;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Releases that the store has not confirmed; they are repeated until it does, or until
 * their session is over: the store releases everything with the session. Thread-safe.
 *
 * @param <T> what is released; with a {@code toString} for the log
 */
public final class ReleaseQueue<T> {

	private static final Logger logger = PrintableLogger.of(ReleaseQueue.class);

	private final ClusterSession session;

	private final Function<T, MemberId> sessionOf;

	private final Consumer<T> release;

	private final Queue<T> unconfirmed = new ConcurrentLinkedQueue<>();

	/**
	 * Creates an empty queue.
	 * @param sessionOf returns the session in which something was acquired
	 * @param release tells the store; repeatable
	 */
	public ReleaseQueue(ClusterSession session, Function<T, MemberId> sessionOf, Consumer<T> release) {
		this.session = session;
		this.sessionOf = sessionOf;
		this.release = release;
	}

	/** Releases now, or later if the store does not reply. */
	public void release(T released) {
		if (!isOfCurrentSession(released)) {
			return;
		}
		try {
			this.release.accept(released);
		}
		catch (StoreUnavailableException ex) {
			logger.debug("Cannot release yet: {}", released, ex);
			releaseLater(released);
		}
	}

	/** Releases soon, on the loop of the session. */
	public void releaseLater(T released) {
		this.unconfirmed.add(released);
		this.session.requestCatchUp();
	}

	/**
	 * Repeats what is not confirmed, in order.
	 * @throws StoreUnavailableException if the store does not reply, or refuses one; the
	 * others are released then. What is not confirmed is kept
	 */
	public void repeat() {
		repeat((released) -> true);
	}

	/** Repeats only some, like {@link #repeat()}. */
	public void repeat(Predicate<T> some) {
		StoreUnavailableException refusal = null;
		for (T released : this.unconfirmed) {
			if (!some.test(released)) {
				continue;
			}
			try {
				if (isOfCurrentSession(released)) {
					this.release.accept(released);
				}
				this.unconfirmed.remove(released);
			}
			catch (StoreUnavailableException ex) {
				if (!ex.isRefusal()) {
					throw ex;
				}
				refusal = (refusal != null) ? refusal : ex;
			}
		}
		if (refusal != null) {
			throw refusal;
		}
	}

	private boolean isOfCurrentSession(T released) {
		return this.session.continues(this.sessionOf.apply(released));
	}

}
