package io.github.shardkeeper.consumer;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationEventPublisher;

import io.github.shardkeeper.ShardAssignedEvent;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRevokedEvent;
import io.github.shardkeeper.ShardSessionLostEvent;
import io.github.shardkeeper.ShardSessionResumedEvent;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.worker.ConsumerEvents;

/**
 * Publishes events to the application. Its listeners run on a thread that exists only
 * while there is something to tell, so that they hold nothing up but each other.
 * Thread-safe.
 */
public final class PublishedEvents implements ConsumerEvents {

	private static final Logger logger = LoggerFactory.getLogger(PublishedEvents.class);

	private static final int IDLE_SECONDS = 1;

	private final String group;

	private final ApplicationEventPublisher publisher;

	private final ThreadPoolExecutor teller;

	/**
	 * Creates it.
	 * @param group the instance's group
	 * @param publisher takes the events
	 */
	public PublishedEvents(String group, ApplicationEventPublisher publisher) {
		this(group, publisher, (task) -> {
			Thread thread = new Thread(task, "shardkeeper-events");
			thread.setDaemon(true);
			return thread;
		});
	}

	PublishedEvents(String group, ApplicationEventPublisher publisher, ThreadFactory threads) {
		this.group = group;
		this.publisher = publisher;
		this.teller = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
				threads);
		this.teller.allowCoreThreadTimeOut(true);
	}

	@Override
	public void sessionLost(MemberId member) {
		publish(new ShardSessionLostEvent(this.group, member));
	}

	@Override
	public void sessionResumed(MemberId member, boolean anew) {
		publish(new ShardSessionResumedEvent(this.group, member, anew));
	}

	@Override
	public void assigned(ShardContext shard) {
		publish(new ShardAssignedEvent(this.group, shard.member(), shard.shard(), shard.token()));
	}

	@Override
	public void revoked(ShardContext shard, boolean lost) {
		publish(new ShardRevokedEvent(this.group, shard.member(), shard.shard(), shard.token(), lost));
	}

	private void publish(Object event) {
		try {
			this.teller.execute(() -> tell(event));
		}
		catch (Throwable ex) {
			// News must not hold up what they are about.
			logger.warn("No thread to publish {}; no listener may hear of it", event, ex);
		}
	}

	private void tell(Object event) {
		try {
			this.publisher.publishEvent(event);
		}
		catch (Throwable ex) {
			// Also when the application has been closed meanwhile.
			logger.warn("A listener failed for {}", event, ex);
		}
	}

}
