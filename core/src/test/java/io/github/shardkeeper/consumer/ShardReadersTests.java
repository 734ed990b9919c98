package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.GroupPositions.Position;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.TestReader;
import io.github.shardkeeper.worker.failure.ShardProblem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ShardReadersTests {

	private static final ShardId ORDER = ShardId.of("orders", 0);

	private static final ShardId OTHER_ORDER = ShardId.of("orders", 1);

	private static final ShardId VISIT = ShardId.of("visits", 0);

	private final PolledReader orders = new PolledReader();

	private final PolledReader visits = new PolledReader();

	private final SettableClock clock = new SettableClock();

	private final Positions positions = new Positions();

	private final ManualLoops loops = new ManualLoops();

	private final SourceRegistry sources = new SourceRegistry(
			new LinkedHashMap<>(Map.of("a", source("orders", this.orders), "b", source("visits", this.visits))),
			Map.of());

	private final ShardReaders readers = new ShardReaders(this.sources.having(List.of("orders", "visits")),
			this.sources::name, this.positions, this.clock);

	@Test
	void shardIsReadFromTheSourceOfItsTopic() {
		this.readers.start(ORDER, new Offset("1"), (records) -> true);
		this.readers.start(VISIT, new Offset("2"), (records) -> true);
		this.readers.resume(VISIT);
		this.readers.committed(VISIT, new Offset("3"));
		this.readers.stop(ORDER);

		assertThat(this.orders.calls()).containsExactly("start after 1", "stop");
		assertThat(this.visits.calls()).containsExactly("start after 2", "resume");
		assertThat(this.visits.committed()).containsExactly("visits/0 at 3");
		assertThatIllegalArgumentException().isThrownBy(() -> this.readers.stop(ShardId.of("others", 0)));
	}

	@Test
	void shardWithoutAnOffsetStartsAtItsStartPosition() throws InterruptedException {
		this.readers.startLoops(this.loops, false);
		this.readers.start(ORDER, null, (records) -> true);
		this.readers.start(OTHER_ORDER, null, (records) -> true);
		this.readers.start(VISIT, null, (records) -> true);
		assertThat(this.visits.calls()).as("with its first record").containsExactly("start after null");
		assertThat(this.orders.calls()).as("the thread of the worker does not wait").isEmpty();

		assertThat(this.loops.steps).doesNotContainKey("shardkeeper-start-b");
		assertThat(this.loops.steps.get("shardkeeper-start-a").run()).isNull();
		assertThat(this.orders.calls()).containsExactly("start after start of orders/0",
				"start after start of orders/1");
		assertThat(this.positions.asked).isEqualTo(1);
	}

	@Test
	void startPositionThatCannotBeFoundIsAProblemAndIsAskedForWithGrowingPauses() throws InterruptedException {
		this.readers.startLoops(this.loops, false);
		this.positions.failure = new StoreUnavailableException("away", null);
		this.readers.start(ORDER, null, (records) -> true);
		Loops.Step step = this.loops.steps.get("shardkeeper-start-a");
		MonotonicTime first = step.run();
		assertThat(this.readers.problems())
			.containsExactly(Map.entry(ORDER, "The start position cannot be found; retrying. away"));
		assertThat(step.run()).as("not due yet").isEqualTo(first);
		assertThat(this.positions.asked).isEqualTo(1);
		Duration pause = this.clock.now().until(first);
		this.clock.advance(pause);
		assertThat(step.run()).isEqualTo(this.clock.now().plus(pause.multipliedBy(2)));

		this.positions.failure = null;
		this.clock.advance(pause.multipliedBy(2));
		assertThat(step.run()).isNull();
		assertThat(this.orders.calls()).containsExactly("start after start of orders/0");
		assertThat(this.readers.problems()).isEmpty();
	}

	@Test
	void shardThatDelaysOthersIsResolvedAlone() throws InterruptedException {
		this.readers.startLoops(this.loops, false);
		this.positions.failing = Set.of(ORDER);
		this.readers.start(ORDER, null, (records) -> true);
		this.readers.start(OTHER_ORDER, null, (records) -> true);
		Loops.Step step = this.loops.steps.get("shardkeeper-start-a");
		this.clock.advance(this.clock.now().until(step.run()));
		step.run();
		step.run();

		assertThat(this.orders.calls()).containsExactly("start after start of orders/1");
		assertThat(this.readers.problems()).containsOnlyKeys(ORDER);
	}

	/** Such as members of a consumer group, as long as there are any. */
	@Test
	void shardsWithAnObstacleWaitAndAreResolvedTogether() throws InterruptedException {
		this.readers.startLoops(this.loops, false);
		ShardId free = ShardId.of("orders", 2);
		this.positions.obstructed.addAll(Set.of(ORDER, OTHER_ORDER));
		for (ShardId shard : List.of(ORDER, OTHER_ORDER, free)) {
			this.readers.start(shard, null, (records) -> true);
		}
		Loops.Step step = this.loops.steps.get("shardkeeper-start-a");
		this.clock.advance(this.clock.now().until(step.run()));
		assertThat(this.orders.calls()).containsExactly("start after start of orders/2");
		assertThat(this.readers.problems()).hasSize(2)
			.containsEntry(ORDER, "The start position cannot be found; retrying. obstacle of the test");
		step.run();
		assertThat(this.positions.asked).isEqualTo(2);

		this.positions.obstructed.clear();
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(step.run()).isNull();
		assertThat(this.positions.asked).isEqualTo(3);
		assertThat(this.orders.calls()).hasSize(3);
		assertThat(this.readers.problems()).isEmpty();
	}

	@Test
	void shardsWhosePositionsTakeLongToFailDelayNoOtherForever() throws InterruptedException {
		this.readers.startLoops(this.loops, false);
		ShardId thirdOrder = ShardId.of("orders", 2);
		ShardId lastOrder = ShardId.of("orders", 3);
		this.positions.failing = Set.of(ORDER, OTHER_ORDER, thirdOrder);
		this.positions.onAsk = () -> this.clock.advance(Duration.ofSeconds(6));
		for (ShardId shard : List.of(ORDER, OTHER_ORDER, thirdOrder, lastOrder)) {
			this.readers.start(shard, null, (records) -> true);
		}
		Loops.Step step = this.loops.steps.get("shardkeeper-start-a");
		for (int i = 0; i < 5; i++) {
			MonotonicTime next = step.run();
			this.clock.advance(this.clock.now().isBefore(next) ? this.clock.now().until(next) : Duration.ZERO);
		}
		assertThat(this.orders.calls()).containsExactly("start after start of orders/3");
		this.readers.start(lastOrder, null, (records) -> true);
		step.run();

		assertThat(this.orders.calls()).as("a new one does not wait for those that failed").hasSize(2);
	}

	@Test
	void shardThatIsStoppedBeforeItsPositionIsFoundIsNotStarted() throws InterruptedException {
		this.readers.startLoops(this.loops, false);
		this.readers.start(ORDER, null, (records) -> true);
		this.positions.onAsk = () -> this.readers.stop(ORDER);
		this.loops.steps.get("shardkeeper-start-a").run();

		assertThat(this.orders.calls()).containsExactly("stop");
	}

	@Test
	void sourceThatFailsDoesNotDelayOthers() throws InterruptedException {
		this.readers.startLoops(this.loops, false);
		assertThat(this.loops.steps).containsOnlyKeys("shardkeeper-reader-a", "shardkeeper-reader-b");
		this.orders.failure = new StoreUnavailableException("away", null);

		assertThat(this.loops.steps.get("shardkeeper-reader-a").run()).isGreaterThan(this.clock.now());
		assertThat(this.loops.steps.get("shardkeeper-reader-b").run()).isEqualTo(this.clock.now());
		assertThat(this.readers.problem("orders"))
			.isEqualTo(ShardProblem.outage("Records cannot be read: away", Duration.ZERO));
		assertThat(this.readers.problem("visits")).isNull();
		this.clock.advance(Duration.ofSeconds(2));
		this.loops.steps.get("shardkeeper-reader-a").run();
		assertThat(this.readers.problem("orders"))
			.isEqualTo(ShardProblem.outage("Records cannot be read: away", Duration.ofSeconds(2)));

		this.orders.failure = null;
		this.loops.steps.get("shardkeeper-reader-a").run();
		assertThat(this.readers.problem("orders")).isNull();
	}

	@Test
	void sourceThatRefusesNeedsAPerson() throws InterruptedException {
		this.readers.startLoops(this.loops, false);
		this.orders.failure = new StoreUnavailableException("no right", null, true);

		this.loops.steps.get("shardkeeper-reader-a").run();

		assertThat(this.readers.problem("orders")).isEqualTo(ShardProblem.alarm("Records cannot be read: no right"));
	}

	@Test
	void problemsOfAllReadersAreReported() {
		this.orders.problems.put(ORDER, "one");
		this.visits.problems.put(VISIT, "two");

		assertThat(this.readers.problems()).containsOnly(Map.entry(ORDER, "one"), Map.entry(VISIT, "two"));
	}

	@Test
	void whatAReaderThrowsInsteadOfAnsweringHasNoEffectOnOthers() {
		this.orders.broken = true;
		this.visits.problems.put(VISIT, "two");

		this.readers.committed(ORDER, new Offset("1"));

		assertThat(this.readers.problems()).containsOnly(Map.entry(VISIT, "two"));
	}

	@Test
	void closeEndsLoopsAndReaders() {
		this.readers.startLoops(this.loops, false);

		this.readers.close();

		assertThat(this.loops.closed).containsExactlyInAnyOrder("shardkeeper-reader-a", "shardkeeper-reader-b");
		assertThat(this.orders.closed).isTrue();
		assertThat(this.visits.closed).isTrue();
	}

	private static ShardSource source(String topic, ShardReader reader) {
		return new ShardSource() {

			@Override
			public Map<String, TopicShards> topics() {
				return Map.of(topic, TopicShards.count(1));
			}

			@Override
			public Watch watch(Runnable onChange) {
				return () -> {
				};
			}

			@Override
			public ShardReader openReader() {
				return reader;
			}

			@Override
			public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
				return Map.of();
			}

			@Override
			public void close() {
			}

		};
	}

	private static final class PolledReader extends TestReader {

		private final Map<ShardId, String> problems = new HashMap<>();

		private StoreUnavailableException failure;

		private boolean closed;

		private boolean broken;

		@Override
		public void committed(ShardId shard, Offset offset) {
			requireUnbroken();
			super.committed(shard, offset);
		}

		private void requireUnbroken() {
			if (this.broken) {
				throw new IllegalStateException("caused by the test");
			}
		}

		@Override
		public boolean poll() {
			if (this.failure != null) {
				throw this.failure;
			}
			return true;
		}

		@Override
		public Map<ShardId, String> problems() {
			requireUnbroken();
			return this.problems;
		}

		@Override
		public void close() {
			this.closed = true;
		}

	}

	/** Of the topic "orders" only. */
	private static final class Positions implements ShardStarts.Positions {

		private StoreUnavailableException failure;

		private Set<ShardId> failing = Set.of();

		private final Set<ShardId> obstructed = new HashSet<>();

		private int asked;

		private Runnable onAsk = () -> {
		};

		@Override
		public boolean isFirst(String topic) {
			return !topic.equals("orders");
		}

		@Override
		public Map<ShardId, Position> resolve(String topic, Collection<ShardId> shards) {
			this.asked++;
			this.onAsk.run();
			if (this.failure != null) {
				throw this.failure;
			}
			if (shards.stream().anyMatch(this.failing::contains)) {
				throw new IllegalStateException("caused by the test");
			}
			Map<ShardId, Position> positions = new HashMap<>();
			shards.forEach((shard) -> positions.put(shard, this.obstructed.contains(shard)
					? new Position(null, "obstacle of the test") : Position.after(new Offset("start of " + shard))));
			return positions;
		}

	}

	/** Run no step by themselves. */
	private static final class ManualLoops implements Loops {

		private final Map<String, Step> steps = new HashMap<>();

		private final List<String> closed = new ArrayList<>();

		@Override
		public Loop start(String name, Step step) {
			this.steps.put(name, step);
			return new Loop() {

				@Override
				public void wake() {
				}

				@Override
				public void close() {
					ManualLoops.this.closed.add(name);
				}

			};
		}

		@Override
		public Loop startForeground(String name, Step step) {
			return start(name, step);
		}

	}

}
