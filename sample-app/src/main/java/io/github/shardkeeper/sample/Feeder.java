package io.github.shardkeeper.sample;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;

/**
 * Sends the lines of the log to the topic, at a steady rate, as long as it is this
 * instance's duty.
 * <p>
 * Progress is noted after each chunk, so whoever takes over goes on there and repeats at
 * most the last chunk. Every feeder sends the lines in order, from a line before which
 * all were sent: that is what {@link VisitCounter} relies on to skip the repeated ones.
 */
@Component
class Feeder implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(Feeder.class);

	private static final Duration PAUSE = Duration.ofMillis(100);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

	private final LogLines lines;

	private final FeedProgress progress;

	private final FeederDuty duty;

	private final ShardTemplate shards;

	private final int linesPerSecond;

	private @Nullable Run run;

	Feeder(LogLines lines, FeedProgress progress, FeederDuty duty, ShardTemplate shards, SampleProperties properties) {
		this.lines = lines;
		this.progress = progress;
		this.duty = duty;
		this.shards = shards;
		this.linesPerSecond = properties.rate();
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

	/** What happens between a start and a stop. Confined to its thread, but for stop. */
	private final class Run implements Runnable {

		private final Thread thread = new Thread(this, "feeder");

		private final CountDownLatch stopped = new CountDownLatch(1);

		/** The line to feed next; unknown while others may feed. */
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
					logger.warn("Feeding failed and is tried again: {}", ex.toString());
					this.next = null;
					pause = PAUSE_AFTER_FAILURE;
				}
			}
		}

		private Duration work() throws IOException {
			if (!Feeder.this.duty.isMine()) {
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
			logger.info("Feeding '{}' from line {} on, {} lines per second", Feeder.this.lines.name(), next,
					Feeder.this.linesPerSecond);
			this.atEnd = false;
			this.nextChunkAtNanos = System.nanoTime();
			return next;
		}

		private long feed(long first, int most) throws IOException {
			List<AccessLine> chunk = Feeder.this.lines.read(first, most);
			if (chunk.isEmpty()) {
				if (!this.atEnd) {
					logger.info("All {} lines of '{}' have been fed; nothing is left to do but to count them", first,
							Feeder.this.lines.name());
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
				// Too slow for the rate: do not catch up in one rush later.
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
