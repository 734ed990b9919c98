package io.github.shardkeeper.benchmarks.timers;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.XReadArgs;

import io.github.shardkeeper.benchmarks.RedisStreams;

/**
 * Threads of a consumer by hand: one per stream that reads it, and others. Confined to
 * the thread that creates it.
 */
final class StreamThreads {

	private static final XReadArgs READ = XReadArgs.Builder.count(500).block(100);

	private final RedisClient client;

	private final List<Thread> threads = new ArrayList<>();

	private volatile boolean closed;

	StreamThreads(int redis) {
		this.client = RedisClient.create(RedisURI.create("127.0.0.1", redis));
	}

	boolean isClosed() {
		return this.closed;
	}

	/** Reads a stream from its beginning. */
	void read(int shard, Consumer<byte[]> handler) {
		start(() -> RedisStreams.read(this.client.connect(RedisStreams.CODEC),
				List.of(RedisStreams.key(Scheduler.TOPIC, shard)), READ, this::isClosed, handler));
	}

	/** Starts a thread, which is interrupted when this is closed. */
	void start(Runnable task) {
		Thread thread = new Thread(task, "by-hand");
		this.threads.add(thread);
		thread.start();
	}

	/** Ends all threads, and waits for them. */
	void close() {
		this.closed = true;
		try {
			for (Thread thread : this.threads) {
				thread.join(TimeUnit.SECONDS.toMillis(1));
				thread.interrupt();
				thread.join();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.client.shutdown();
	}

}
