package io.github.shardkeeper.worker;

import java.time.Duration;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.loop.MeterGuard;

/**
 * Meters that cannot hold a shard up. Thread-safe.
 */
final class GuardedMeters implements ConsumerMeters {

	private static final Logger logger = LoggerFactory.getLogger(GuardedMeters.class);

	private final ConsumerMeters meters;

	private final MeterGuard guard = new MeterGuard((failure) -> logger
		.warn("What consumers do cannot be counted; they go on. Said once", FailureLog.printable(failure)));

	private GuardedMeters(ConsumerMeters meters) {
		this.meters = meters;
	}

	/** Returns the same meters, guarded. */
	static ConsumerMeters of(ConsumerMeters meters) {
		return (meters == NONE || meters instanceof GuardedMeters) ? meters : new GuardedMeters(meters);
	}

	@Override
	public void handled(String topic, int records, Duration duration) {
		this.guard.run(() -> this.meters.handled(topic, records, duration));
	}

	@Override
	public void deadLettered(String topic) {
		this.guard.run(() -> this.meters.deadLettered(topic));
	}

	@Override
	public void failed(String topic) {
		this.guard.run(() -> this.meters.failed(topic));
	}

	@Override
	public void committed(String topic, boolean accepted) {
		this.guard.run(() -> this.meters.committed(topic, accepted));
	}

}
