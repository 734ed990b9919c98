package io.github.shardkeeper.benchmarks.state;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Contender;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * How long a shard with a large state has no record handled while it moves to an instance
 * that runs already, and while its only instance restarts; beside Kafka Streams with
 * RocksDB. All instances of a contender are in this JVM.
 */
public final class StateMovesBenchmark implements Benchmark {

	/** Figure: median of the gaps. */
	static final String GAP = "gap, ms (median)";

	/** Figure: heap that is free once the owner of the shard has ended. */
	static final String HEAP = "heap of the owner, MB";

	private static final Map<String, Object> ON_USE = Map.of("shardkeeper.consumer.state.read", "on-use");

	static final List<Takeover> CONTENDERS = List.of(
			new Takeover("Shardkeeper, moved", true, (entries) -> new ShardkeeperInstances(entries, Map.of())),
			new Takeover("Shardkeeper, restarted", false, (entries) -> new ShardkeeperInstances(entries, Map.of())),
			new Takeover("Shardkeeper, state on use, moved", true,
					(entries) -> new ShardkeeperInstances(entries, ON_USE)),
			new Takeover("Shardkeeper, state on use, restarted", false,
					(entries) -> new ShardkeeperInstances(entries, ON_USE)),
			new Takeover("Kafka Streams, moved", true, (entries) -> new KafkaStreamsInstances(entries, false)),
			new Takeover("Kafka Streams, restarted", false, (entries) -> new KafkaStreamsInstances(entries, true)),
			new Takeover("Kafka Streams, restarted without its directory", false,
					(entries) -> new KafkaStreamsInstances(entries, false)));

	private static final long INTERVAL_MILLIS = 20;

	/** So many records are handled before something changes: one second. */
	private static final int STEADY = 50;

	@Override
	public String description() {
		return """
				Time without a record while a shard with a large state moves, or its instance restarts,
				beside Kafka Streams with RocksDB.
				--entries=10,100000 (of 100 bytes) --changes=5 --rounds=1 --contenders=… (parts of their names)
				The raw figures are left in state-moves.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("entries", "changes", "rounds", "contenders"));
		List<Integer> states = options.numbers("entries", List.of(10, 100_000), 1);
		int changes = options.number("changes", 5, 1);
		int rounds = options.number("rounds", 1, 1);
		List<Takeover> contenders = options.matching("contenders", CONTENDERS);
		try (RawFigures raw = new RawFigures(Path.of("state-moves.csv"))) {
			Machine.print();
			for (int entries : states) {
				Rounds
					.run("%,d entries of 100 bytes".formatted(entries), contenders, 0, rounds, raw,
							(takeover, round) -> measure(takeover, entries, changes))
					.table()
					.forEach(System.out::println);
			}
		}
	}

	static Map<String, Double> measure(Takeover takeover, int entries, int changes) throws Exception {
		Gaps gaps = new Gaps();
		double heap;
		try (Instances instances = takeover.open().apply(entries)) {
			instances.send(Instances.writing(entries));
			Runnable owner = instances.start(gaps);
			ScheduledExecutorService feeder = Executors.newSingleThreadScheduledExecutor();
			AtomicInteger number = new AtomicInteger();
			feeder.scheduleAtFixedRate(() -> instances.send(List.of(number.getAndIncrement())), 0, INTERVAL_MILLIS,
					TimeUnit.MILLISECONDS);
			for (int change = 1; change <= changes; change++) {
				gaps.awaitRecords(STEADY);
				owner = takeover.change(instances, owner, gaps);
				gaps.awaitChanges(change);
			}
			gaps.awaitRecords(STEADY);
			feeder.shutdown();
			feeder.awaitTermination(1, TimeUnit.MINUTES);
			heap = Machine.heapUsed();
			owner.run();
			heap -= Machine.heapUsed();
		}
		Samples millis = gaps.verified(changes);
		Map<String, Double> figures = new LinkedHashMap<>();
		figures.put(GAP, millis.median());
		figures.put("gap, ms (longest)", millis.highest());
		figures.put(HEAP, heap / 1e6);
		return figures;
	}

	/**
	 * A way for a shard to get its next owner.
	 *
	 * @param moved whether the next one runs before the one before ends
	 * @param open returns instances for a number of entries
	 */
	record Takeover(String text, boolean moved, IntFunction<Instances> open) implements Contender {

		/** Replaces the owner; returns an action that ends the next one. */
		Runnable change(Instances instances, Runnable owner, Gaps gaps) throws InterruptedException {
			if (this.moved) {
				Runnable next = instances.start(gaps);
				gaps.awaitRecords(STEADY);
				owner.run();
				return next;
			}
			owner.run();
			return instances.start(gaps);
		}

	}

}
