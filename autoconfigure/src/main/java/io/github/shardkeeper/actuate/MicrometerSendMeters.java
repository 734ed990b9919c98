package io.github.shardkeeper.actuate;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.template.SendObserver;

/**
 * Timer {@code shardkeeper.send} of sent records, by {@code topic} and {@code error},
 * where no observation of each record has a timer of that name. Thread-safe.
 */
public final class MicrometerSendMeters implements SendObserver {

	private static final String NAME = "shardkeeper.send";

	private final MeterRegistry registry;

	private final Clock clock;

	/** Timers of records that were appended, by topic. */
	private final Map<String, Timer> appended = new ConcurrentHashMap<>();

	/** Creates the meters. */
	public MicrometerSendMeters(MeterRegistry registry) {
		this.registry = registry;
		this.clock = registry.config().clock();
	}

	@Override
	public Sent sending(ShardId shard, @Nullable String key, Map<String, String> headers) {
		long begun = this.clock.monotonicTime();
		return (offset, failure) -> timer(shard.topic(), failure).record(this.clock.monotonicTime() - begun,
				TimeUnit.NANOSECONDS);
	}

	private Timer timer(String topic, @Nullable Throwable failure) {
		return (failure != null) ? register(topic, failure.getClass().getSimpleName())
				: this.appended.computeIfAbsent(topic, (name) -> register(name, "none"));
	}

	private Timer register(String topic, String error) {
		return this.registry.timer(NAME, "topic", topic, "error", error);
	}

	@Override
	public boolean addsHeaders() {
		return false;
	}

}
