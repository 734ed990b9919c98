package io.github.shardkeeper.handler;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.ShardRecord;

/**
 * Several interceptors as one, each around the next. What one throws is what the call
 * throws. An interceptor that makes no call, makes it twice, or keeps what it has thrown
 * fails the call: otherwise records would count as handled that no handler has handled.
 * Thread-safe.
 */
final class ShardInterceptors implements ShardInterceptor {

	private final List<ShardInterceptor> interceptors;

	private ShardInterceptors(List<ShardInterceptor> interceptors) {
		this.interceptors = List.copyOf(interceptors);
	}

	/**
	 * Returns all of some interceptors as one, {@code null} if there are none.
	 * @param interceptors the interceptors, the outermost first
	 */
	static @Nullable ShardInterceptor of(List<ShardInterceptor> interceptors) {
		return interceptors.isEmpty() ? null : new ShardInterceptors(interceptors);
	}

	@Override
	public void intercept(ShardContext shard, List<ShardRecord<?>> records, Call call) throws Throwable {
		intercept(0, shard, records, call);
	}

	private void intercept(int index, ShardContext shard, List<ShardRecord<?>> records, Call call) throws Throwable {
		if (index == this.interceptors.size()) {
			call.proceed();
			return;
		}
		ShardInterceptor interceptor = this.interceptors.get(index);
		OneCall within = new OneCall(interceptor, () -> intercept(index + 1, shard, records, call));
		interceptor.intercept(shard, records, within);
		within.requireMade();
	}

	/** Call that is made exactly once. Confined to the thread of the call. */
	private static final class OneCall implements Call {

		private final ShardInterceptor interceptor;

		private final Call call;

		private boolean made;

		private @Nullable Throwable failure;

		OneCall(ShardInterceptor interceptor, Call call) {
			this.interceptor = interceptor;
			this.call = call;
		}

		@Override
		public void proceed() throws Throwable {
			if (this.made) {
				throw new IllegalStateException(
						"The ShardInterceptor %s makes the call of the handler twice".formatted(name()));
			}
			this.made = true;
			try {
				this.call.proceed();
			}
			catch (Throwable ex) {
				this.failure = ex;
				throw ex;
			}
		}

		void requireMade() throws Throwable {
			if (!this.made) {
				throw new IllegalStateException(
						"The ShardInterceptor %s has not made the call of the handler".formatted(name()));
			}
			if (this.failure != null) {
				throw this.failure;
			}
		}

		private String name() {
			return this.interceptor.getClass().getName();
		}

	}

}
