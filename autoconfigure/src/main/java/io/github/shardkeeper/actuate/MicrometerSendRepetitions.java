package io.github.shardkeeper.actuate;

import io.micrometer.core.instrument.MeterRegistry;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.template.DuplicateSendListener;

/**
 * Counter {@code shardkeeper.send.repeated} of records that were sent again and not
 * appended again, by {@code topic}. Thread-safe.
 */
public final class MicrometerSendRepetitions implements DuplicateSendListener {

	private final MeterRegistry registry;

	/** Creates the meter. */
	public MicrometerSendRepetitions(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void dropped(ShardId shard, int records) {
		this.registry.counter("shardkeeper.send.repeated", "topic", shard.topic()).increment(records);
	}

}
