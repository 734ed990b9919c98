package io.github.shardkeeper.autoconfigure.source;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardConsumer;

/** A handler of {@code orders} from Kafka that records their payloads. Thread-safe. */
final class OrderRecorder {

	private final BlockingQueue<String> payloads = new LinkedBlockingQueue<>();

	@ShardConsumer("orders")
	void handle(String payload) {
		this.payloads.add(payload);
	}

	/** Returns whether all recorded payloads have been taken. */
	boolean isEmpty() {
		return this.payloads.isEmpty();
	}

	/** Returns the next payload, {@code null} if none comes within a minute. */
	@Nullable String next() throws InterruptedException {
		return this.payloads.poll(1, TimeUnit.MINUTES);
	}

}
