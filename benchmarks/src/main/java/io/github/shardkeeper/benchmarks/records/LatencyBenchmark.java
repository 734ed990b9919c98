package io.github.shardkeeper.benchmarks.records;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.benchmarks.records.LatencyProcess.Receiver;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * The time from the sending of a record to the call of its handler, at a rate that leaves
 * the machine idle most of the time. Records are sent at a fixed rate, whatever becomes
 * of them: each has a time at which it is to be sent, and its latency counts from then,
 * also if the sender is late. Each contender has a server and a receiving process of its
 * own in each round.
 */
public final class LatencyBenchmark implements Benchmark {

	static final String MEDIAN = "us: median";

	static final String P99 = "99 %";

	/** So that the compiler has seen enough calls. */
	private static final int WARM_UP_TIMES = 4;

	/**
	 * The end of a pause, in which it spins: the system wakes a thread later than it
	 * wants, by more than a record takes.
	 */
	private static final long SPIN_NANOS = 100_000;

	/** An application has to start first. */
	private static final long PATIENCE_NANOS = 300_000_000_000L;

	@Override
	public String description() {
		return """
				Time from the sending of a record to its handler, beside bare Lettuce, Spring Data Redis and Kafka.
				--shards=32 --rate=1000 (records per second) --rounds=2 --seconds=8
				--warm-up=40 (seconds, at four times the rate, and half as many at the rate itself)
				--contenders=… (parts of their names)
				The raw figures are left in latency.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("shards", "rate", "rounds", "seconds", "warm-up", "contenders"));
		Sizes sizes = new Sizes(options.number("shards", 32, 1), options.number("rate", 1000, 1),
				options.number("seconds", 8, 1), options.number("warm-up", 40));
		int rounds = options.number("rounds", 2, 1);
		List<Receiver> contenders = options.matching("contenders", List.of(Receiver.values()));
		try (RawFigures raw = new RawFigures(Path.of("latency.csv"))) {
			Machine.print();
			Rounds<Receiver> measured = Rounds.run("%,d records per second".formatted(sizes.rate()), contenders, 0,
					rounds, raw, (contender, round) -> measure(contender, sizes));
			measured.table().forEach(System.out::println);
			for (String figure : List.of(MEDIAN, P99)) {
				measured.ratios(figure, List.of(Receiver.BARE)).forEach(System.out::println);
			}
		}
	}

	static Map<String, Double> measure(Receiver contender, Sizes sizes) throws Exception {
		if (contender == Receiver.KAFKA) {
			try (EmbeddedKafka kafka = KafkaProcess.start(Map.of());
					SendingClient sender = SendingClient.open(kafka, sizes.shards())) {
				return measure(contender, 0, kafka.bootstrapServers(), sender, sizes);
			}
		}
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				SendingClient sender = SendingClient.open(contender.sender(), redis.port(), sizes.shards())) {
			return measure(contender, redis.port(), "", sender, sizes);
		}
	}

	private static Map<String, Double> measure(Receiver contender, int redis, String kafka, SendingClient sender,
			Sizes sizes) throws Exception {
		// As users have it: with web, actuator and a registry for Prometheus.
		List<String> classPath = (contender == Receiver.SHARDKEEPER) ? ClassPath.allEntries() : ClassPath.entries();
		try (ChildProcess receiver = ChildProcess.start(classPath, LatencyProcess.class, contender.name(), redis, kafka,
				sizes.shards())) {
			int sent = 0;
			sent = send(sender, receiver, sent, 1, sizes.rate());
			sent = send(sender, receiver, sent, sizes.warmUpSeconds(), sizes.rate() * WARM_UP_TIMES);
			sent = send(sender, receiver, sent, sizes.warmUpSeconds() / 2, sizes.rate());
			int end = send(sender, receiver, sent, sizes.seconds(), sizes.rate());
			Map<String, Double> micros = receiver.ask(sent + " " + end);
			Map<String, Double> figures = new LinkedHashMap<>();
			figures.put(MEDIAN, micros.get("p50"));
			figures.put(P99, micros.get("p99"));
			figures.put("99.9 %", micros.get("p999"));
			figures.put("longest", micros.get("max"));
			return figures;
		}
	}

	/** Sends records, and waits until all have come; returns the number of the next. */
	private static int send(SendingClient sender, ChildProcess receiver, int first, int seconds, int perSecond)
			throws InterruptedException {
		int end = first + seconds * perSecond;
		List<CompletableFuture<?>> sent = new ArrayList<>();
		long begin = System.nanoTime();
		for (int number = first; number < end; number++) {
			long intended = begin + (number - first) * 1_000_000_000L / perSecond;
			awaitTime(intended);
			sent.add(sender.sendAsync(number, Arrivals.payload(number, intended)));
		}
		sent.forEach(CompletableFuture::join);
		long deadline = System.nanoTime() + PATIENCE_NANOS;
		while (receiver.ask(first + " " + end).get("count") < end - first) {
			if (System.nanoTime() - deadline > 0) {
				throw new IllegalStateException("Records from %d to %d are missing".formatted(first, end));
			}
			TimeUnit.MILLISECONDS.sleep(50);
		}
		return end;
	}

	private static void awaitTime(long intended) {
		for (long left = intended - System.nanoTime(); left > 0; left = intended - System.nanoTime()) {
			if (left > SPIN_NANOS) {
				LockSupport.parkNanos(left - SPIN_NANOS);
			}
			else {
				Thread.onSpinWait();
			}
		}
	}

	/**
	 * Sizes of each run.
	 *
	 * @param rate records per second
	 */
	record Sizes(int shards, int rate, int seconds, int warmUpSeconds) {
	}

}
