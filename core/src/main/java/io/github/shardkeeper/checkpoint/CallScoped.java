package io.github.shardkeeper.checkpoint;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;

/**
 * What a call of a handler adds to its commit: usable until the call ends, and by default
 * only on the thread that the call was begun on.
 */
@Internal
public abstract class CallScoped implements AutoCloseable {

	private @Nullable Thread only = Thread.currentThread();

	private volatile boolean closed;

	/** Begins the use, on the thread of the call. */
	protected CallScoped() {
	}

	/**
	 * Permits the use by other threads, which have to see that it is one at a time. Only
	 * before the first of them knows this object.
	 */
	public final void permitOtherThreads() {
		this.only = null;
	}

	/** Returns whether the current thread may use it now. */
	protected final boolean isUsable() {
		Thread one = this.only;
		return !this.closed && (one == null || one == Thread.currentThread());
	}

	/** Ends the use. */
	@Override
	public void close() {
		this.closed = true;
	}

}
