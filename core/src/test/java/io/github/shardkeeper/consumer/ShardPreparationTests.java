package io.github.shardkeeper.consumer;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.handler.HandlerSignature;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.worker.ManualThreads;

import static org.assertj.core.api.Assertions.assertThat;

class ShardPreparationTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final MemberId ME = MemberId.of("me", "1");

	private final ManualThreads threads = new ManualThreads(new SettableClock());

	private final CompletableFuture<Void> othersEnded = new CompletableFuture<>();

	private final Application application = new Application();

	@Test
	void preparingCallbackGetsAShardThatIsNotHeld() {
		this.othersEnded.complete(null);
		ShardPreparation preparation = begin();
		assertThat(this.application.seen).as("not on the caller's thread").isEmpty();
		this.threads.runAll();

		assertThat(this.application.seen).singleElement().satisfies((context) -> {
			assertThat(context.group()).isEqualTo("group");
			assertThat(context.shard()).isEqualTo(SHARD);
			assertThat(context.member()).isEqualTo(ME);
			assertThat(context.token()).isEqualTo(Token.NONE);
			assertThat(context.isHeld()).isFalse();
		});
		assertThat(preparation.ended()).isDone();
	}

	@Test
	void preparationWaitsForEarlierCallsForTheShard() {
		begin();
		this.threads.runAll();
		assertThat(this.application.seen).isEmpty();

		this.othersEnded.complete(null);
		this.threads.runAll();
		assertThat(this.application.seen).hasSize(1);
	}

	@Test
	void assignedShardDropsItsPreparation() {
		ShardPreparation waiting = begin();
		waiting.drop();
		assertThat(waiting.ended()).isDone();
		this.othersEnded.complete(null);
		ShardPreparation queued = begin();
		queued.drop();
		assertThat(queued.ended()).isDone();
		this.threads.runAll();

		assertThat(this.application.seen).isEmpty();
	}

	@Test
	void assignedShardWaitsForARunningPreparation() {
		this.othersEnded.complete(null);
		ShardPreparation[] preparation = new ShardPreparation[1];
		this.application.onPreparing = () -> {
			preparation[0].drop();
			this.application.noted.add(preparation[0].ended().isDone());
			this.application.noted.add(Thread.currentThread().isInterrupted());
		};
		preparation[0] = begin();
		this.threads.runAll();

		assertThat(this.application.noted).as("ended, interrupted").containsExactly(false, false);
		assertThat(preparation[0].ended()).isCompletedWithValue(null);
	}

	@Test
	void failedPreparationIsNotRepeated() {
		this.othersEnded.complete(null);
		this.application.onPreparing = () -> {
			throw new IllegalStateException("caused by the test");
		};
		ShardPreparation preparation = begin();
		this.threads.runAll();

		assertThat(this.application.seen).hasSize(1);
		assertThat(preparation.ended()).isCompletedWithValue(null);
	}

	@Test
	void stopInterruptsThePreparation() {
		this.othersEnded.complete(null);
		ShardPreparation[] preparation = new ShardPreparation[1];
		this.application.onPreparing = () -> {
			preparation[0].stop();
			this.application.noted.add(Thread.currentThread().isInterrupted());
		};
		preparation[0] = begin();
		this.threads.runAll();

		assertThat(this.application.noted).containsExactly(true);
		assertThat(preparation[0].ended()).isDone();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void preparationIsDroppedWithoutAThread() {
		this.othersEnded.complete(null);
		ShardPreparation preparation = ShardPreparation.begin(handler(), "group", SHARD, ME, (task) -> {
			throw new RejectedExecutionException("caused by the test");
		}, this.othersEnded);

		assertThat(preparation.ended()).isDone();
	}

	private ShardPreparation begin() {
		return ShardPreparation.begin(handler(), "group", SHARD, ME, this.threads, this.othersEnded);
	}

	private ShardHandler handler() {
		Method method = Application.class.getDeclaredMethods()[0];
		HandlerSignature preparing = HandlerSignature.ofPreparation(method, Application.class, "@OnShardPreparing");
		return new ShardHandler("orders", () -> this.application, preparing, List.of(preparing), List.of(), List.of(),
				new JsonPayloadConverter(new JsonMapper()), Duration.ZERO);
	}

	/** Bean of the application. */
	static final class Application {

		private final List<ShardContext> seen = new ArrayList<>();

		/** Observations of a call; exceptions of a call are only logged. */
		private final List<Boolean> noted = new ArrayList<>();

		private Preparing onPreparing = () -> {
		};

		void prepare(ShardContext context) throws Exception {
			this.seen.add(context);
			this.onPreparing.run();
		}

	}

	@FunctionalInterface
	interface Preparing {

		void run() throws Exception;

	}

}
