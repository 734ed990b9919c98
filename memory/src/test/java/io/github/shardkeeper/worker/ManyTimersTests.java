package io.github.shardkeeper.worker;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.WorkerContext;

import static org.assertj.core.api.Assertions.assertThat;

/** A million timers of one shard that are all due: what their owner has in memory. */
class ManyTimersTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final int COUNT = 1_000_000;

	private static final int MOST_MEGABYTES = 16;

	/** A store that has them without keeping any. */
	private final BitSet removed = new BitSet(COUNT);

	private final MemoryCheckpointStore store = new MemoryCheckpointStore(InstantSource.fixed(Instant.EPOCH));

	private final SettableClock clock = new SettableClock();

	private final ManualThreads threads = new ManualThreads(this.clock);

	private final Reminders bean = new Reminders();

	private int largestCommit;

	@Test
	@Tag("proof")
	void ownerHasAPageOfThemInMemory() {
		ConsumerSettings settings = new TestSettings().get();
		Lease lease = new Lease(Duration.ofDays(1), this.clock.now());
		lease.renew(this.clock.now(), this.clock.now());
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerSingleton("handler", this.bean);
		WorkerContext context = new WorkerContext("group",
				new WorkerContext.Stores(network(), new TestReader(), OutputSettings.NONE),
				new WorkerContext.Runtime(this.clock, InstantSource.fixed(Instant.EPOCH.plusMillis(COUNT)),
						this.threads, this.threads.timer()),
				new WorkerContext.Topics((topic) -> settings, new BufferBudget(Long.MAX_VALUE),
						new StateCache(1_000_000), new StateValues(new JsonMapper(), List.of())),
				new WorkerContext.Observers(ConsumerMeters.NONE, ConsumerEvents.NONE,
						(shard, token, fence, completed) -> {
						}, false),
				lease);
		ShardWorker worker = new ShardWorker(SHARD, new Token(1), MemberId.of("me", "1"),
				new ShardHandlerDetector(beans, new JsonPayloadConverter(new JsonMapper())).detect(Map.of("orders", 2))
					.get("orders"),
				context, CompletableFuture.completedFuture(null));
		long before = usedMegabytes();
		long most = 0;
		for (int turns = 0; this.threads.hasTasks(); turns++) {
			this.threads.runOne();
			if (turns % 500 == 0) {
				most = Math.max(most, usedMegabytes() - before);
			}
		}
		worker.drain();
		this.threads.runAll();

		assertThat(this.bean.fired).isEqualTo(COUNT);
		assertThat(this.bean.inOrder).isTrue();
		assertThat(this.removed.cardinality()).isEqualTo(COUNT);
		assertThat(most).isLessThan(MOST_MEGABYTES);
		assertThat(this.largestCommit).isLessThanOrEqualTo(10_000);
		System.out.printf("At most %d MB, at most %d changes in a commit%n", most, this.largestCommit);
	}

	private static long usedMegabytes() {
		System.gc();
		return (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20;
	}

	private List<StoredTimer> timers(StoredTimer after, int limit) {
		int next = (after != null) ? (int) after.due().toEpochMilli() + 1 : 0;
		List<StoredTimer> page = new ArrayList<>();
		for (int i = this.removed.nextClearBit(next); i < COUNT
				&& page.size() < limit; i = this.removed.nextClearBit(i + 1)) {
			page.add(new StoredTimer(new TimerId("key" + i, "remind"), Instant.ofEpochMilli(i)));
		}
		return page;
	}

	private void remove(Commit commit) {
		this.largestCommit = Math.max(this.largestCommit, commit.timers().size());
		commit.timers().keySet().forEach((id) -> this.removed.set(Integer.parseInt(id.key().substring(3))));
	}

	private CheckpointStore network() {
		return (CheckpointStore) Proxy.newProxyInstance(CheckpointStore.class.getClassLoader(),
				new Class<?>[] { CheckpointStore.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("timers")) {
						return timers((StoredTimer) arguments[1], (Integer) arguments[2]);
					}
					if (method.getName().equals("commit")) {
						remove((Commit) arguments[2]);
					}
					try {
						return method.invoke(this.store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	static final class Reminders {

		private int fired;

		private boolean inOrder = true;

		@ShardConsumer("orders")
		void handle(String payload) {
		}

		@OnShardTimer
		void due(ShardTimer timer) {
			this.inOrder &= timer.dueAt().toEpochMilli() == this.fired;
			this.fired++;
		}

	}

}
