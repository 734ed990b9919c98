package io.github.shardkeeper.template;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardSendInterceptor;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * The interceptors around sends. They begin in their order and learn the result in the
 * reverse one. If one does not begin, those before it learn its failure. One that fails
 * with a result has no effect on the others and on the record. Thread-safe.
 */
@Internal
public final class SendInterceptors {

	/** No interceptors. */
	public static final SendInterceptors NONE = new SendInterceptors(List.of());

	private static final Logger logger = PrintableLogger.of(SendInterceptors.class);

	private final List<ShardSendInterceptor> interceptors;

	private final AtomicBoolean failed = new AtomicBoolean();

	private SendInterceptors(List<ShardSendInterceptor> interceptors) {
		this.interceptors = interceptors;
	}

	/**
	 * Returns all of some interceptors as one.
	 * @param interceptors the interceptors, the outermost first
	 */
	public static SendInterceptors of(List<ShardSendInterceptor> interceptors) {
		return interceptors.isEmpty() ? NONE : new SendInterceptors(List.copyOf(interceptors));
	}

	/** Returns the send of a record, which all interceptors have seen. */
	Send begin(String topic, Outgoing outgoing) {
		Outgoing current = outgoing;
		for (int begun = 0; begun < this.interceptors.size(); begun++) {
			ShardSendInterceptor interceptor = this.interceptors.get(begun);
			try {
				current = Objects.requireNonNull(interceptor.sending(topic, current),
						() -> interceptor.getClass().getName() + ".sending has returned null");
			}
			catch (Throwable ex) {
				new Send(topic, current, begun).failed(ex);
				throw ex;
			}
		}
		return new Send(topic, current, this.interceptors.size());
	}

	/** A record, and who learns its result. Thread-safe. */
	final class Send {

		private final String topic;

		private final Outgoing outgoing;

		private final int begun;

		private final AtomicBoolean ended;

		private Send(String topic, Outgoing outgoing, int begun) {
			this.topic = topic;
			this.outgoing = outgoing;
			this.begun = begun;
			this.ended = new AtomicBoolean(begun == 0);
		}

		/** Returns the record as it is to be sent. */
		Outgoing outgoing() {
			return this.outgoing;
		}

		/** Returns whether somebody wants to learn the result. */
		boolean isObserved() {
			return this.begun > 0;
		}

		void failed(Throwable failure) {
			ended(null, failure);
		}

		/** Tells the first result only. */
		void ended(@Nullable Appended appended, @Nullable Throwable failure) {
			if (!this.ended.compareAndSet(false, true)) {
				return;
			}
			for (int i = this.begun - 1; i >= 0; i--) {
				ShardSendInterceptor interceptor = SendInterceptors.this.interceptors.get(i);
				try {
					if (appended != null) {
						interceptor.sent(this.topic, this.outgoing, appended);
					}
					else if (failure != null) {
						interceptor.failed(this.topic, this.outgoing, failure);
					}
				}
				catch (Throwable ex) {
					if (SendInterceptors.this.failed.compareAndSet(false, true)) {
						logger.warn("The ShardSendInterceptor {} has failed with a result; records are sent all the "
								+ "same. Logged once", interceptor.getClass().getName(), ex);
					}
				}
			}
		}

	}

}
