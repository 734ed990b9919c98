package io.github.shardkeeper.benchmarks.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Many shards that get a record every 250 ms each and commit once per second each, beside
 * the same number of commits one after the other.
 *
 * @param redis its Redis
 * @param shards the number of shards
 * @param seconds the duration
 */
record ManyCommits(RedisProcess redis, int shards, int seconds) {

	private static final int ROUNDS_PER_SECOND = 4;

	private static final int WARM_UP_SECONDS = 10;

	private static final long PATIENCE_SECONDS = 60;

	List<String> measure(Consumer<String> raw) throws Exception {
		return measure(raw, WARM_UP_SECONDS);
	}

	List<String> measure(Consumer<String> raw, int warmUpSeconds) throws Exception {
		TimedStore timed = new TimedStore();
		Counting handler = new Counting(new AtomicLong());
		double counted;
		try (ConfigurableApplicationContext application = Applications.start(this.redis, handler,
				Map.of("shardkeeper.group", "busy", "shardkeeper.topics.busy.shards", this.shards,
						"shardkeeper.consumer.commit.interval", "1s"),
				timed::around)) {
			send(application, handler, warmUpSeconds);
			timed.count(true);
			long from = System.nanoTime();
			send(application, handler, this.seconds);
			timed.count(false);
			counted = (System.nanoTime() - from) / 1e9;
		}
		timed.verify();
		Samples pipelined = timed.millis();
		Samples oneByOne = new Samples();
		long begun = System.nanoTime();
		try (ConfigurableApplicationContext application = Applications.start(this.redis, new Object(),
				Map.of("shardkeeper.group", "one-by-one", "shardkeeper.topics.busy.shards", this.shards))) {
			CheckpointStore store = application.getBean(CheckpointStore.class);
			for (int shard = 0; shard < this.shards; shard++) {
				store.acquireNow(ShardId.of("busy", shard), new Token(1));
			}
			// The first round is for warming up.
			commitEach(store, 1);
			begun = System.nanoTime();
			oneByOne = commitEach(store, 2);
		}
		double inARow = this.shards * 1e9 / (System.nanoTime() - begun);
		RawFigures.add("commit in the background (ms)", pipelined, raw);
		RawFigures.add("commit one after the other (ms)", oneByOne, raw);
		return List.of(
				"| %,d busy shards | commits per second | ms from sending to answer: median | 99 %% | longest |"
					.formatted(this.shards),
				"|---|---:|---:|---:|---:|",
				line("each shard once per second, in the background", pipelined.values().size() / counted, pipelined),
				line("one after the other, as fast as it goes", inARow, oneByOne));
	}

	private static String line(String what, double rate, Samples millis) {
		return String.format(Locale.ROOT, "| %s | %,.0f | %.2f | %.2f | %.2f |", what, rate, millis.median(),
				millis.quantile(0.99), millis.highest());
	}

	/** Sends at a steady pace, and waits until all is handled. */
	private void send(ConfigurableApplicationContext application, Counting handler, int forSeconds)
			throws InterruptedException {
		long pause = 1_000_000_000L / ROUNDS_PER_SECOND;
		long next = System.nanoTime();
		long expected = handler.handled.get();
		for (int round = 0; round < forSeconds * ROUNDS_PER_SECOND; round++) {
			List<NewRecord> records = new ArrayList<>();
			for (int shard = 0; shard < this.shards; shard++) {
				records.add(new NewRecord(ShardId.of("busy", shard), "key", new byte[100]));
			}
			Applications.append(application, records);
			expected += this.shards;
			next += pause;
			TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
		}
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
		while (handler.handled.get() < expected) {
			if (System.nanoTime() - deadline > 0) {
				throw new IllegalStateException(handler.handled.get() + " of " + expected + " records were handled");
			}
			TimeUnit.MILLISECONDS.sleep(10);
		}
	}

	private Samples commitEach(CheckpointStore store, int number) {
		Samples millis = new Samples();
		for (int shard = 0; shard < this.shards; shard++) {
			long begun = System.nanoTime();
			CommitReply reply = store
				.commit(ShardId.of("busy", shard), new Token(1), Commit.of(new CommitNumber(number, number - 1, 0),
						new Offset(number + "-0"), Map.of("records", String.valueOf(number))))
				.join();
			millis.add((System.nanoTime() - begun) / 1e6);
			if (reply != CommitReply.COMMITTED) {
				throw new IllegalStateException("Commit " + number + " of busy/" + shard + " is " + reply);
			}
		}
		return millis;
	}

	/** Counts its records in the shard's state. */
	record Counting(AtomicLong handled) {

		@ShardConsumer("busy")
		public void handle(byte[] payload, ShardState state) {
			state.increment("records", 1);
			this.handled.incrementAndGet();
		}

	}

}
