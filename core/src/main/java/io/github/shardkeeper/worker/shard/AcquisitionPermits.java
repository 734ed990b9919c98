package io.github.shardkeeper.worker.shard;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Permits for acquisitions, granted in the order of requests: all have one timeout, and
 * each may bring a large state. Never blocks. Thread-safe.
 */
public final class AcquisitionPermits {

	private final int limit;

	/** Guarded by this, as is {@link #waiting}. */
	private int granted;

	private final Set<Permit> waiting = new LinkedHashSet<>();

	AcquisitionPermits(int limit) {
		this.limit = limit;
	}

	/** Returns a permit that is not granted yet; {@code onGranted} must not block. */
	public Permit permit(Runnable onGranted) {
		return new Permit(onGranted);
	}

	private @Nullable Permit grantNext() {
		Iterator<Permit> permits = this.waiting.iterator();
		if (!permits.hasNext()) {
			this.granted--;
			return null;
		}
		Permit next = permits.next();
		permits.remove();
		next.held = true;
		return next;
	}

	public final class Permit {

		private final Runnable onGranted;

		/** Guarded by the permits. */
		private boolean held;

		private Permit(Runnable onGranted) {
			this.onGranted = onGranted;
		}

		/** Acquires the permit, or begins to wait; returns whether it is held. */
		public boolean acquire() {
			synchronized (AcquisitionPermits.this) {
				if (!this.held) {
					if (AcquisitionPermits.this.granted < AcquisitionPermits.this.limit) {
						AcquisitionPermits.this.granted++;
						this.held = true;
					}
					else {
						AcquisitionPermits.this.waiting.add(this);
					}
				}
				return this.held;
			}
		}

		public void release() {
			@Nullable Permit next;
			synchronized (AcquisitionPermits.this) {
				AcquisitionPermits.this.waiting.remove(this);
				if (!this.held) {
					return;
				}
				this.held = false;
				next = grantNext();
			}
			if (next != null) {
				next.onGranted.run();
			}
		}

	}

}
