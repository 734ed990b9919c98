package io.github.shardkeeper.handler;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Several observers as one, each around the next. What one throws is what the call
 * throws. An observer that makes no call, makes it twice, or keeps what it has thrown
 * fails the call: otherwise records would count as handled that no handler has handled.
 * Thread-safe.
 */
@Internal
public final class CallObservers implements CallObserver {

	private final List<CallObserver> observers;

	private CallObservers(List<CallObserver> observers) {
		this.observers = List.copyOf(observers);
	}

	/**
	 * Returns all of some observers as one, {@code null} if there are none.
	 * @param observers the observers, the outermost first
	 */
	public static @Nullable CallObserver of(List<CallObserver> observers) {
		return observers.isEmpty() ? null : new CallObservers(observers);
	}

	@Override
	public void observe(ShardContext context, List<SourceRecord> records, Call call) throws Throwable {
		observe(0, context, records, call);
	}

	private void observe(int index, ShardContext context, List<SourceRecord> records, Call call) throws Throwable {
		if (index == this.observers.size()) {
			call.make();
			return;
		}
		CallObserver observer = this.observers.get(index);
		OneCall within = new OneCall(observer, () -> observe(index + 1, context, records, call));
		observer.observe(context, records, within);
		within.requireMade();
	}

	/** Call that is made exactly once. Confined to the thread of the call. */
	private static final class OneCall implements Call {

		private final CallObserver observer;

		private final Call call;

		private boolean made;

		private @Nullable Throwable failure;

		OneCall(CallObserver observer, Call call) {
			this.observer = observer;
			this.call = call;
		}

		@Override
		public void make() throws Throwable {
			if (this.made) {
				throw new IllegalStateException(
						"The CallObserver %s makes the call of the handler twice".formatted(name()));
			}
			this.made = true;
			try {
				this.call.make();
			}
			catch (Throwable ex) {
				this.failure = ex;
				throw ex;
			}
		}

		void requireMade() throws Throwable {
			if (!this.made) {
				throw new IllegalStateException(
						"The CallObserver %s has not made the call of the handler".formatted(name()));
			}
			if (this.failure != null) {
				throw this.failure;
			}
		}

		private String name() {
			return this.observer.getClass().getName();
		}

	}

}
