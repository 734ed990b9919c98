package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

/**
 * Times of scripts, from the call to the reply, for a listener. A call with several lists
 * of keys counts once, a call without a reply never. Thread-safe.
 */
final class ScriptTimes {

	private volatile @Nullable BiConsumer<String, Duration> listener;

	/** Sets who receives the name of each script and its time. */
	void onReply(BiConsumer<String, Duration> receiver) {
		this.listener = receiver;
	}

	/** Returns the begin of a call; any number while nobody listens. */
	long begin() {
		return (this.listener != null) ? System.nanoTime() : 0;
	}

	void answered(LuaScript script, long begunNanos) {
		BiConsumer<String, Duration> receiver = this.listener;
		if (receiver != null && begunNanos != 0) {
			receiver.accept(script.name(), Duration.ofNanos(System.nanoTime() - begunNanos));
		}
	}

}
