package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Stores since when the topics of this instance are consumed: records that are sent from
 * then on are after "latest". Stopped topics are not. Thread-safe.
 */
final class ConsumedSince {

	private static final Logger logger = PrintableLogger.of(ConsumedSince.class);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	private final StartPositions positions;

	private final ConsumerStates states;

	private final WorkerContext context;

	ConsumedSince(StartPositions positions, ConsumerStates states, WorkerContext context) {
		this.positions = positions;
		this.states = states;
		this.context = context;
	}

	/**
	 * Stores it for topics that begin now, unless the store cannot be used yet. Opens the
	 * connection of the data plane by that, before the first shard is assigned, which
	 * would wait for it.
	 */
	void begin(Set<String> topics) {
		try {
			try {
				store(topics);
			}
			catch (StoreUnavailableException ex) {
				if (!ex.isRefusal()) {
					throw ex;
				}
				logger.warn("Since when a topic with 'start: latest' is consumed cannot be stored, so shards without "
						+ "an offset are not consumed: {}", ex.getMessage());
			}
			this.context.checkpoints().offsets(topics.stream().map((topic) -> ShardId.of(topic, 0)).toList());
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The store cannot be used yet", ex);
		}
	}

	/**
	 * Stores it in the background, until that succeeds: the store may have lost it, and
	 * shards without an offset would start too late.
	 */
	void keep(Set<String> topics) {
		try {
			this.context.executor().execute(() -> {
				try {
					store(topics);
				}
				catch (StoreUnavailableException ex) {
					keepLater(topics, ex);
				}
			});
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			keepLater(topics, ex);
		}
	}

	private void keepLater(Set<String> topics, Throwable failure) {
		logger.debug("Cannot store yet since when topics are consumed", failure);
		if (!this.context.timer().isShutdown()) {
			this.context.timer().schedule(() -> keep(topics), PAUSE_AFTER_FAILURE.toMillis(), TimeUnit.MILLISECONDS);
		}
	}

	private void store(Set<String> topics) {
		this.positions.consume(this.states.takingPart(topics));
	}

}
