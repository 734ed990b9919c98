package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.context.ApplicationEventPublisher;

import io.github.shardkeeper.ShardAssignedEvent;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardMovedEvent;
import io.github.shardkeeper.ShardOperationEvent;
import io.github.shardkeeper.ShardRevokedEvent;
import io.github.shardkeeper.ShardSessionLostEvent;
import io.github.shardkeeper.ShardSessionResumedEvent;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.shard.ConsumerEvents;

/**
 * Publishes events to the application, on a thread that exists only while there are
 * events: its listeners block only each other. Passes the phases of moves on.
 * Thread-safe.
 */
public final class PublishedEvents implements ConsumerEvents {

	private static final Logger logger = PrintableLogger.of(PublishedEvents.class);

	private static final int IDLE_SECONDS = 1;

	private final String group;

	private final ApplicationEventPublisher publisher;

	private final Executor executor;

	private final PhaseListener phases;

	/** Creates a publisher of events that ignores phases. */
	public PublishedEvents(String group, ApplicationEventPublisher publisher) {
		this(group, publisher, (shard, token, phase, at) -> {
		});
	}

	/** Creates a publisher of events. */
	public PublishedEvents(String group, ApplicationEventPublisher publisher, PhaseListener phases) {
		this(group, publisher, phases, pool((task) -> {
			Thread thread = new Thread(task, "shardkeeper-events");
			thread.setDaemon(true);
			return thread;
		}));
	}

	PublishedEvents(String group, ApplicationEventPublisher publisher, PhaseListener phases, ThreadFactory threads) {
		this(group, publisher, phases, pool(threads));
	}

	/** Creates a publisher of events on the threads of an executor. */
	public PublishedEvents(String group, ApplicationEventPublisher publisher, PhaseListener phases, Executor executor) {
		this.group = group;
		this.publisher = publisher;
		this.phases = phases;
		this.executor = executor;
	}

	private static Executor pool(ThreadFactory threads) {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), threads);
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	@Override
	public void sessionLost(MemberId member) {
		publish(new ShardSessionLostEvent(this.group, member));
	}

	@Override
	public void sessionResumed(MemberId member, boolean newSession) {
		publish(new ShardSessionResumedEvent(this.group, member, newSession));
	}

	@Override
	public void assigned(ShardContext shard, @Nullable Offset after) {
		logger.debug("Consuming {} after {} under token {}", shard.shard(), after, shard.token());
		publish(new ShardAssignedEvent(this.group, shard.member(), shard.shard(), shard.token()));
	}

	@Override
	public void revoked(ShardContext shard, boolean lost) {
		logger.debug("{} {} under token {}", lost ? "Lost" : "Revoked", shard.shard(), shard.token());
		publish(new ShardRevokedEvent(this.group, shard.member(), shard.shard(), shard.token(), lost));
	}

	@Override
	public void reached(ShardContext shard, MovePhase phase, MonotonicTime at) {
		this.phases.reached(shard.shard(), shard.token(), phase, at);
	}

	/** Publishes a move that this instance has found as the leader. */
	public void moved(ShardMove move) {
		publish(new ShardMovedEvent(this.group, move.shard(), move.from(), move.to(), move.token(), move.cause(),
				Duration.ofMillis(Math.max(0, move.assignedMillis() - move.plannedMillis())), move.why(), move.by()));
	}

	/** Publishes an operation that somebody has requested at this instance. */
	public void operated(ShardOperationEvent operation) {
		publish(operation);
	}

	private void publish(Object event) {
		try {
			this.executor.execute(() -> send(event));
		}
		catch (Throwable ex) {
			// An event must not stop what it reports.
			logger.warn("No thread to publish {}; listeners may not get it", event, ex);
		}
	}

	private void send(Object event) {
		try {
			this.publisher.publishEvent(event);
		}
		catch (Throwable ex) {
			// Also if the application is closed by now.
			logger.warn("A listener failed for {}", event, ex);
		}
	}

	/** Listener to the phases of moves. Must not block. Thread-safe. */
	@FunctionalInterface
	public interface PhaseListener {

		/** Called when this instance has reached a phase as the owner of a shard. */
		void reached(ShardId shard, Token token, MovePhase phase, MonotonicTime at);

	}

}
