package io.github.shardkeeper.benchmarks.moves.group;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Sends one record to each shard every {@value #INTERVAL_MILLIS} ms, numbered from 1 on.
 * Thread-safe.
 */
final class Feeder implements AutoCloseable {

	static final int INTERVAL_MILLIS = 20;

	private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

	private final Cluster cluster;

	private final AtomicLong sent = new AtomicLong();

	private final AtomicReference<Throwable> failure = new AtomicReference<>();

	Feeder(Cluster cluster) {
		this.cluster = cluster;
		this.timer.scheduleAtFixedRate(this::feed, 0, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
	}

	private void feed() {
		try {
			this.cluster.send(new Payload(this.sent.get() + 1, System.nanoTime()).toBytes());
			this.sent.incrementAndGet();
		}
		catch (RuntimeException ex) {
			this.failure.compareAndSet(null, ex);
		}
	}

	/** Stops, and returns the number of records of each shard. */
	long stop() throws InterruptedException {
		this.timer.shutdown();
		this.timer.awaitTermination(10, TimeUnit.SECONDS);
		if (this.failure.get() != null) {
			throw new IllegalStateException("A record was not sent", this.failure.get());
		}
		return this.sent.get();
	}

	@Override
	public void close() {
		this.timer.shutdownNow();
	}

}
