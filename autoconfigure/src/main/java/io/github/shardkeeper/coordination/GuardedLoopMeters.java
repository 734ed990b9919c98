package io.github.shardkeeper.coordination;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Meters that cannot end the loop that has failed, nor the watchdog. Thread-safe.
 */
final class GuardedLoopMeters implements LoopMeters {

	private static final Logger logger = LoggerFactory.getLogger(GuardedLoopMeters.class);

	private final LoopMeters meters;

	private final MeterGuard guard = new MeterGuard(
			(failure) -> logger.warn("What befalls loops cannot be counted; they go on. Said once", failure));

	GuardedLoopMeters(LoopMeters meters) {
		this.meters = meters;
	}

	@Override
	public void failed(String loop) {
		this.guard.run(() -> this.meters.failed(loop));
	}

	@Override
	public void stalled(String loop) {
		this.guard.run(() -> this.meters.stalled(loop));
	}

}
