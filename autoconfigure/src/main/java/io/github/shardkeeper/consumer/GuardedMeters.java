package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what can be counted. The application's own code runs in meters, its filters
 * above all: what that throws must neither hold a shard up nor come between two steps
 * that belong together. Thread-safe.
 */
final class GuardedMeters implements ConsumerMeters {

	private static final Logger logger = LoggerFactory.getLogger(GuardedMeters.class);

	private final ConsumerMeters meters;

	private final AtomicBoolean told = new AtomicBoolean();

	private GuardedMeters(ConsumerMeters meters) {
		this.meters = meters;
	}

	/** The same meters, guarded. */
	static ConsumerMeters of(ConsumerMeters meters) {
		return (meters == NONE || meters instanceof GuardedMeters) ? meters : new GuardedMeters(meters);
	}

	@Override
	public void handled(String topic, int records, Duration duration) {
		guard(() -> this.meters.handled(topic, records, duration));
	}

	@Override
	public void deadLettered(String topic) {
		guard(() -> this.meters.deadLettered(topic));
	}

	@Override
	public void failed(String topic) {
		guard(() -> this.meters.failed(topic));
	}

	@Override
	public void committed(String topic, boolean accepted) {
		guard(() -> this.meters.committed(topic, accepted));
	}

	private void guard(Runnable counting) {
		try {
			counting.run();
		}
		catch (Throwable ex) {
			tell(ex);
		}
	}

	/** Once: it may be thrown for every record. */
	private void tell(Throwable failure) {
		if (this.told.compareAndSet(false, true)) {
			logger.warn("What consumers do cannot be counted; they go on. Said once", PrintableFailure.of(failure));
		}
	}

}
