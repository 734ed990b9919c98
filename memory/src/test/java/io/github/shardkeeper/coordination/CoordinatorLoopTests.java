package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.member.TestConsumption;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.Lease;

import static org.assertj.core.api.Assertions.assertThat;

/** Delivery of events to the coordinator's loop. */
class CoordinatorLoopTests {

	private final SettableClock clock = new SettableClock();

	private final IdleLoops loops = new IdleLoops();

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final CoordinatorLoop loop = loop();

	/** The reply to the first heartbeat may come at that moment. */
	@Test
	void eventDuringTheStartWakesTheLoop() {
		this.loops.onFirstPass = () -> this.loop.leave(Duration.ofMinutes(1));

		this.loop.start(Map.of("orders", TopicShards.count(4)), new TestConsumption(new TestConsumption.Ledger()));

		assertThat(this.loops.wakesAfterFirstPass).hasPositiveValue();
	}

	/** Otherwise the group keeps it until its session expires, and gives it shards. */
	@Test
	void memberThatLeavesBeforeItsFirstHeartbeatIsAnsweredLeavesTheGroup() {
		this.loop.start(Map.of("orders", TopicShards.count(4)), new TestConsumption(new TestConsumption.Ledger()));
		assertThat(this.store.readChanges(0, -1).members()).hasSize(1);

		CompletableFuture<Void> left = this.loop.leave(Duration.ofMinutes(1));
		this.loops.pass();

		assertThat(left).isDone();
		assertThat(this.store.readChanges(0, -1).members()).isEmpty();
	}

	private CoordinatorLoop loop() {
		CoordinationSettings settings = TestInstance.settings("a", HandoverRules.DEFAULT);
		MemberRuntime runtime = new MemberRuntime(this.clock, this.loops, new Random(1));
		Lease lease = new Lease(settings.lease(), this.clock.now());
		return new CoordinatorLoop(settings, this.store,
				new HeartbeatScheduler(this.store, lease, settings.heartbeatInterval(), runtime), lease,
				AssignmentSettings.builtIn("sticky", new StickyAssignment()), runtime);
	}

	/** Run no step by themselves, except the coordinator's first one. */
	private static final class IdleLoops implements Loops {

		private final AtomicInteger wakesAfterFirstPass = new AtomicInteger();

		private Step coordinator = () -> null;

		private Runnable onFirstPass = () -> {
		};

		@Override
		public Loop start(String name, Step step) {
			return new IdleLoop(new AtomicInteger());
		}

		@Override
		public Loop startForeground(String name, Step step) {
			this.coordinator = step;
			pass();
			this.onFirstPass.run();
			return new IdleLoop(this.wakesAfterFirstPass);
		}

		private void pass() {
			try {
				this.coordinator.run();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	private record IdleLoop(AtomicInteger wakes) implements Loops.Loop {

		@Override
		public void wake() {
			this.wakes.incrementAndGet();
		}

		@Override
		public void close() {
			// Nothing runs.
		}

	}

}
