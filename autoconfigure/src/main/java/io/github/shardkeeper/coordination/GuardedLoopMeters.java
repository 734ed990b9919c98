package io.github.shardkeeper.coordination;

import java.util.concurrent.atomic.AtomicBoolean;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what can be counted. The application's own code runs in meters, its filters
 * above all: what that throws must not end the loop that has failed, nor the watchdog.
 * Thread-safe.
 */
final class GuardedLoopMeters implements LoopMeters {

	private static final Logger logger = LoggerFactory.getLogger(GuardedLoopMeters.class);

	private final LoopMeters meters;

	private final AtomicBoolean told = new AtomicBoolean();

	GuardedLoopMeters(LoopMeters meters) {
		this.meters = meters;
	}

	@Override
	public void failed(String loop) {
		guard(() -> this.meters.failed(loop));
	}

	@Override
	public void stalled(String loop) {
		guard(() -> this.meters.stalled(loop));
	}

	private void guard(Runnable counting) {
		try {
			counting.run();
		}
		catch (Throwable ex) {
			tell(ex);
		}
	}

	private void tell(Throwable failure) {
		if (this.told.compareAndSet(false, true)) {
			logger.warn("What befalls loops cannot be counted; they go on. Said once", failure);
		}
	}

}
