package io.github.shardkeeper.handler;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardRecordFilter;

/**
 * What an application has around the calls of its handlers. Thread-safe.
 *
 * @param filters decide which records are handled
 * @param interceptor all interceptors as one, {@code null} for none
 */
@Internal
public record CallHooks(List<ShardRecordFilter> filters, @Nullable ShardInterceptor interceptor) {

	/** Nothing; handlers pass records on without a look at them. */
	public static final CallHooks NONE = new CallHooks(List.of(), null);

	/**
	 * Returns the hooks of an application.
	 * @param interceptors the interceptors, the outermost first
	 */
	public static CallHooks of(List<ShardRecordFilter> filters, List<ShardInterceptor> interceptors) {
		return (filters.isEmpty() && interceptors.isEmpty()) ? NONE
				: new CallHooks(List.copyOf(filters), ShardInterceptors.of(interceptors));
	}

	boolean accept(ShardContext shard, ShardRecord<byte[]> record) {
		for (ShardRecordFilter filter : this.filters) {
			if (!filter.accepts(shard, record)) {
				return false;
			}
		}
		return true;
	}

	void around(ShardContext shard, List<ShardRecord<?>> records, ShardInterceptor.Call call) throws Throwable {
		if (this.interceptor != null) {
			this.interceptor.intercept(shard, records, call);
		}
		else {
			call.proceed();
		}
	}

}
