package io.github.shardkeeper.benchmarks.latency;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * A contender with a server, a sender and instances of its own, each in a process.
 * Confined to its thread.
 */
final class Run implements AutoCloseable {

	private static final int PROBES_PER_SECOND = 1000;

	private static final long PAUSE_MILLIS = 50;

	private static final int STEP_SECONDS = 2;

	/** In a row: methods come to be compiled in groups. */
	private static final int QUIET_STEPS = 3;

	/** Of all processes together. */
	private static final long MAX_COMPILATION_MILLIS_PER_SECOND = 50;

	private static final long PATIENCE_NANOS = 90_000_000_000L;

	private final int shards;

	private final AutoCloseable server;

	private final List<ChildProcess> receivers = new ArrayList<>();

	private final List<ChildProcess> all = new ArrayList<>();

	private final ChildProcess sender;

	/** Starts the processes, and waits until each instance has its shards. */
	Run(Contender contender, int shards, int instances) throws Exception {
		this.shards = shards;
		String address;
		if (contender == Contender.KAFKA) {
			EmbeddedKafka kafka = KafkaProcess.start(Map.of());
			this.server = kafka;
			kafka.createTopic(Contender.TOPIC, shards);
			address = kafka.bootstrapServers();
		}
		else {
			RedisProcess redis = RedisProcess.start();
			this.server = redis;
			address = "redis://127.0.0.1:" + redis.port();
		}
		try {
			for (int i = 0; i < instances; i++) {
				this.receivers.add(start(classPath(contender), ReceiverProcess.class, contender.name(), address,
						String.valueOf(shards), String.valueOf(i), String.valueOf(instances)));
			}
			this.sender = start(ClassPath.entries(), SenderProcess.class, contender.name(), address,
					String.valueOf(shards));
			for (ChildProcess process : this.all) {
				process.await();
			}
			awaitShards();
		}
		catch (Throwable ex) {
			close();
			throw ex;
		}
	}

	private ChildProcess start(List<String> classPath, Class<?> main, String... arguments) throws IOException {
		ChildProcess process = ChildProcess.start(classPath, main, arguments);
		this.all.add(process);
		return process;
	}

	/** As users have it: with web, actuator and a registry for Prometheus. */
	private static List<String> classPath(Contender contender) {
		return (contender == Contender.SHARDKEEPER) ? ClassPath.allEntries() : ClassPath.entries();
	}

	/** Sends a record to each shard until they come to all instances alike. */
	private void awaitShards() throws Exception {
		int least = this.shards / this.receivers.size();
		long deadline = System.nanoTime() + PATIENCE_NANOS;
		while (System.nanoTime() - deadline < 0) {
			int first = send(this.shards, PROBES_PER_SECOND);
			List<Integer> counts = awaitArrival(first, first + this.shards);
			if (counts.stream().allMatch((count) -> count >= least)) {
				return;
			}
			Thread.sleep(PAUSE_MILLIS);
		}
		throw new IllegalStateException("The shards are not divided among the instances");
	}

	/** Sends records; returns the number of the first, once the server has all. */
	private int send(int records, int perSecond) throws InterruptedException {
		this.sender.request(SenderProcess.request(records, perSecond));
		return this.sender.await().get("first").intValue();
	}

	/**
	 * Sends records until hardly anything is compiled any more: before, the compilers
	 * take the processors from the records, and longest in those processes that have the
	 * most code. At another rate, code is compiled again, as other branches are taken.
	 * @param maxSeconds after this time it ends nevertheless
	 * @return how long that took, in seconds
	 */
	int warmUp(int perSecond, int maxSeconds) throws InterruptedException {
		int seconds = 0;
		int quietSteps = 0;
		long before = compilationMillis();
		while (seconds < maxSeconds && quietSteps < QUIET_STEPS) {
			deliver(perSecond * STEP_SECONDS, perSecond);
			seconds += STEP_SECONDS;
			long now = compilationMillis();
			quietSteps = (now - before < STEP_SECONDS * MAX_COMPILATION_MILLIS_PER_SECOND) ? quietSteps + 1 : 0;
			before = now;
		}
		return seconds;
	}

	/** Returns how long all compilers have worked so far. */
	long compilationMillis() throws InterruptedException {
		long sum = 0;
		for (ChildProcess receiver : this.receivers) {
			receiver.request(ReceiverProcess.count(0, 0));
			sum += receiver.await().get("compilation").longValue();
		}
		this.sender.request(SenderProcess.request(0, 1));
		return sum + this.sender.await().get("compilation").longValue();
	}

	/** Sends records, and waits until all have come; returns the number of the first. */
	private int deliver(int records, int perSecond) throws InterruptedException {
		int first = send(records, perSecond);
		awaitArrival(first, first + records);
		return first;
	}

	private List<Integer> awaitArrival(int from, int to) throws InterruptedException {
		long deadline = System.nanoTime() + PATIENCE_NANOS;
		List<Integer> counts;
		do {
			counts = new ArrayList<>();
			for (ChildProcess receiver : this.receivers) {
				receiver.request(ReceiverProcess.count(from, to));
				counts.add(receiver.await().get("count").intValue());
			}
			if (counts.stream().mapToInt(Integer::intValue).sum() >= to - from) {
				return counts;
			}
			Thread.sleep(PAUSE_MILLIS);
		}
		while (System.nanoTime() - deadline < 0);
		throw new IllegalStateException("Of %d records only these have come: %s".formatted(to - from, counts));
	}

	/**
	 * Sends records at a rate, and waits for them.
	 * @return their latencies in nanoseconds, sorted
	 */
	long[] latencies(int records, int perSecond) throws Exception {
		int first = deliver(records, perSecond);
		Path directory = Files.createTempDirectory("shardkeeper-benchmark-latency");
		List<Path> files = new ArrayList<>();
		try {
			for (ChildProcess receiver : this.receivers) {
				Path file = directory.resolve(String.valueOf(files.size()));
				files.add(file);
				receiver.request(ReceiverProcess.write(first, first + records, file));
				receiver.await();
			}
			return Arrivals.read(files);
		}
		finally {
			for (Path file : files) {
				Files.deleteIfExists(file);
			}
			Files.delete(directory);
		}
	}

	@Override
	public void close() throws Exception {
		this.all.forEach(ChildProcess::close);
		this.server.close();
	}

}
