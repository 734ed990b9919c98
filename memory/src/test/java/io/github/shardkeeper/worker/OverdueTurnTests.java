package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import com.fasterxml.jackson.annotation.JsonCreator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Work for a shard that is not a call of its handler, and does not return: a conversion,
 * a source, the decision when the next run is due.
 */
@CapturesOutput
class OverdueTurnTests {

	private static final String HERE = "it is at " + OverdueTurnTests.class.getName() + ".stick(OverdueTurnTests.java:";

	private static CountDownLatch stuck = new CountDownLatch(1);

	private static CountDownLatch released = new CountDownLatch(1);

	private Thread busy;

	@AfterEach
	void release() throws InterruptedException {
		released.countDown();
		if (this.busy != null) {
			this.busy.join();
		}
		stuck = new CountDownLatch(1);
		released = new CountDownLatch(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "SHARD", "KEY" })
	void conversionThatDoesNotReturnIsAProblem(Ordering ordering, CapturedOutput output) throws Exception {
		ConsumingShard shard = new ConsumingShard(new Slow(), new TestSettings().ordering(ordering, 8));
		shard.offer(1, "a", "\"quick\"");
		shard.run();
		shard.clock().advance(Duration.ofMinutes(1));
		assertThat(shard.worker().problem()).as("nothing runs").isNull();
		shard.offer(2, "b", "\"slow\"");

		problemComesAndGoes(shard, "Slow.handle");
		assertThat(output).contains("The worker of orders/1 has been outside of the calls of", "It is here",
				Payload.class.getName() + ".of");
	}

	@Test
	void sourceThatDoesNotReturnIsAProblem() throws Exception {
		ConsumingShard shard = new ConsumingShard(new Slow(), new TestSettings(),
				(created) -> created.reader().onStart(() -> {
					if (Thread.currentThread() == this.busy) {
						stick();
					}
				}));
		shard.restartLater();

		problemComesAndGoes(shard, "Slow.handle");
	}

	@Test
	void scheduleThatDoesNotReturnIsAProblem() throws Exception {
		ConsumingShard shard = ConsumingShard.withoutRecords(new Scheduled(),
				new TopicSchedule("0 0 * * * *", null, null, null, null, null), () -> {
					if (Thread.currentThread() == this.busy) {
						stick();
					}
					return Instant.EPOCH;
				});
		shard.restartLater();

		problemComesAndGoes(shard, "Scheduled.run");
	}

	/** Time in a call is not counted, neither while it runs nor when it has returned. */
	@Test
	void callIsNoPartOfATurn() throws Exception {
		Slow bean = new Slow();
		ConsumingShard shard = new ConsumingShard(bean, new TestSettings());
		bean.onCall = () -> {
			shard.clock().advance(Duration.ofMinutes(4));
			assertThat(shard.worker().problem()).isNull();
		};
		shard.offer(1, "a", "\"quick\"");
		shard.offer(2, "a", "\"slow\"");
		begin(shard);

		assertThat(shard.worker().problem()).isNull();
		shard.clock().advance(Duration.ofSeconds(11));
		awaitProblem(shard, "for 11 s", HERE);
	}

	@Test
	void overdueTurnIsTheReasonWhyAMoveDoesNotEnd() throws Exception {
		ConsumingShard shard = new ConsumingShard(new Slow(), new TestSettings());
		shard.offer(1, "a", "\"slow\"");
		begin(shard);
		shard.worker().drain();
		shard.clock().advance(Duration.ofSeconds(12));

		awaitProblem(shard,
				"Has been waiting to be handed over for 12 s, but The worker of this shard has been outside", HERE);
	}

	private void problemComesAndGoes(ConsumingShard shard, String handler) throws Exception {
		begin(shard);
		shard.clock().advance(Duration.ofSeconds(10));
		assertThat(shard.worker().problem()).isNull();
		shard.clock().advance(Duration.ofSeconds(1));
		awaitProblem(shard, "The worker of this shard has been outside of the calls of", handler, "for 11 s", HERE,
				"report this");
		assertThat(shard.worker().problem().alarm()).isTrue();
		released.countDown();
		this.busy.join();

		assertThat(shard.worker().problem()).isNull();
	}

	/** Runs the worker on another thread until it is stuck. */
	private void begin(ConsumingShard shard) throws InterruptedException {
		this.busy = new Thread(shard::run);
		this.busy.start();
		assertThat(stuck.await(10, TimeUnit.SECONDS)).isTrue();
	}

	/** The thread may not have come to rest yet where the latch is. */
	private static void awaitProblem(ConsumingShard shard, String... texts) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(10))
			.untilAsserted(() -> assertThat(shard.worker().problem()).asString().contains(texts));
	}

	private static void stick() {
		stuck.countDown();
		try {
			released.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	record Payload(String text) {

		@JsonCreator(mode = JsonCreator.Mode.DELEGATING)
		static Payload of(String text) {
			if (text.equals("slow")) {
				stick();
			}
			return new Payload(text);
		}

	}

	static final class Slow {

		private Runnable onCall = () -> {
		};

		@ShardConsumer("orders")
		void handle(Payload payload) {
			this.onCall.run();
		}

	}

	static final class Scheduled {

		@ShardConsumer("orders")
		void run() {
		}

	}

}
