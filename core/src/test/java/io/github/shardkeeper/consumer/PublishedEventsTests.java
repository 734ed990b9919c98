package io.github.shardkeeper.consumer;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardSessionLostEvent;
import io.github.shardkeeper.ShardSessionResumedEvent;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

class PublishedEventsTests {

	private static final MemberId ME = MemberId.of("me", "1");

	@Test
	void callerContinuesWithoutAThreadAndLaterEventsArePublished() throws InterruptedException {
		BlockingQueue<Object> published = new LinkedBlockingQueue<>();
		AtomicBoolean noThread = new AtomicBoolean(true);
		PublishedEvents events = new PublishedEvents("group", published::add, (shard, token, phase, at) -> {
		}, (task) -> {
			if (noThread.getAndSet(false)) {
				throw new InternalError("unable to create native thread, caused by the test");
			}
			Thread thread = new Thread(task);
			thread.setDaemon(true);
			return thread;
		});
		events.sessionLost(ME);
		assertThat(noThread).isFalse();

		events.sessionResumed(ME, false);
		assertThat(published.poll(10, TimeUnit.SECONDS)).isInstanceOf(ShardSessionResumedEvent.class);
	}

	@Test
	void errorOfAListenerDoesNotKeepLaterEvents() throws InterruptedException {
		BlockingQueue<Object> published = new LinkedBlockingQueue<>();
		PublishedEvents events = new PublishedEvents("group", (event) -> {
			if (event instanceof ShardSessionLostEvent) {
				throw new NoClassDefFoundError("caused by the test");
			}
			published.add(event);
		});
		events.sessionLost(ME);
		events.sessionResumed(ME, false);

		assertThat(published.poll(60, TimeUnit.SECONDS)).isInstanceOf(ShardSessionResumedEvent.class);
	}

}
