package io.github.shardkeeper.sample.feed;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

import io.github.shardkeeper.ShardAssignedEvent;
import io.github.shardkeeper.ShardRevokedEvent;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.sample.AccessLine;
import io.github.shardkeeper.sample.VisitCounter;
import io.github.shardkeeper.shard.ShardId;

/**
 * Sends the lines of the log to the topic, at a steady rate, while this instance owns the
 * topic's first shard. Thread-safe.
 * <p>
 * The progress is stored after each chunk. A new feeder resumes there and repeats at most
 * one chunk. Two instances may feed for a moment while the shard moves. Each of them
 * sends the lines in order, from a line before which all were sent; {@link VisitCounter}
 * relies on this to skip repeated ones.
 */
@Component
class Feeder implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(Feeder.class);

	private static final ShardId FIRST_SHARD = ShardId.of(VisitCounter.TOPIC, 0);

	private static final Duration PAUSE = Duration.ofMillis(100);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

	private final LogLines lines;

	private final FeedProgress progress;

	private final ShardTemplate shards;

	private final int linesPerSecond;

	private volatile boolean ownsFirstShard;

	private @Nullable Run run;

	Feeder(LogLines lines, FeedProgress progress, ShardTemplate shards, FeedProperties properties) {
		this.lines = lines;
		this.progress = progress;
		this.shards = shards;
		this.linesPerSecond = properties.rate();
	}

	@EventListener
	void assigned(ShardAssignedEvent event) {
		if (event.shard().equals(FIRST_SHARD)) {
			this.ownsFirstShard = true;
		}
	}

	@EventListener
	void revoked(ShardRevokedEvent event) {
		if (event.shard().equals(FIRST_SHARD)) {
			this.ownsFirstShard = false;
		}
	}

	boolean ownsFirstShard() {
		return this.ownsFirstShard;
	}

	@Override
	public synchronized void start() {
		this.progress.claim(this.lines.name());
		this.run = new Run();
		this.run.thread.start();
	}

	@Override
	public synchronized void stop() {
		if (this.run != null) {
			this.run.stop();
			this.run = null;
		}
	}

	@Override
	public synchronized boolean isRunning() {
		return this.run != null;
	}

	/** Work between a start and a stop. Confined to its thread, except for stop. */
	private final class Run implements Runnable {

		private final Thread thread = new Thread(this, "feeder");

		private final CountDownLatch stopped = new CountDownLatch(1);

		/** Line to feed next; null while another instance may feed. */
		private @Nullable Long next;

		private boolean atEnd;

		private long nextChunkAtNanos;

		@Override
		public void run() {
			Duration pause = Duration.ZERO;
			while (!isStoppedAfter(pause)) {
				try {
					pause = work();
				}
				catch (Exception ex) {
					logger.warn("Feeding failed, retrying: {}", ex.toString());
					this.next = null;
					pause = PAUSE_AFTER_FAILURE;
				}
			}
		}

		private Duration work() throws IOException {
			if (!Feeder.this.ownsFirstShard) {
				this.next = null;
				return PAUSE;
			}
			if (this.next == null) {
				this.next = takeOver();
			}
			int chunk = Math.max(1, (int) (Feeder.this.linesPerSecond * PAUSE.toMillis() / 1000));
			long sent = feed(this.next, chunk);
			this.next += sent;
			return (sent > 0) ? untilNextChunk(sent) : PAUSE;
		}

		private long takeOver() {
			long next = Feeder.this.progress.next(Feeder.this.lines.name());
			logger.info("Feeding '{}' from line {}, {} lines per second", Feeder.this.lines.name(), next,
					Feeder.this.linesPerSecond);
			this.atEnd = false;
			this.nextChunkAtNanos = System.nanoTime();
			return next;
		}

		private long feed(long first, int most) throws IOException {
			List<AccessLine> chunk = Feeder.this.lines.read(first, most);
			if (chunk.isEmpty()) {
				if (!this.atEnd) {
					logger.info("All {} lines of '{}' are fed", first, Feeder.this.lines.name());
				}
				this.atEnd = true;
				return 0;
			}
			Feeder.this.shards.sendAll(VisitCounter.TOPIC,
					chunk.stream().map((line) -> new Outgoing(line.client(), line)).toList());
			Feeder.this.progress.next(Feeder.this.lines.name(), first + chunk.size());
			return chunk.size();
		}

		private Duration untilNextChunk(long sent) {
			long now = System.nanoTime();
			this.nextChunkAtNanos += TimeUnit.SECONDS.toNanos(sent) / Feeder.this.linesPerSecond;
			if (this.nextChunkAtNanos - now < -PAUSE_AFTER_FAILURE.toNanos()) {
				// Too slow for the rate; do not catch up in one burst.
				this.nextChunkAtNanos = now;
			}
			return Duration.ofNanos(Math.max(0, this.nextChunkAtNanos - now));
		}

		private boolean isStoppedAfter(Duration pause) {
			try {
				return this.stopped.await(pause.toNanos(), TimeUnit.NANOSECONDS);
			}
			catch (InterruptedException ex) {
				return true;
			}
		}

		private void stop() {
			this.stopped.countDown();
			try {
				this.thread.join(STOP_TIMEOUT.toMillis());
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			this.thread.interrupt();
		}

	}

}
