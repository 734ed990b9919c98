package io.github.shardkeeper.observation;

import java.util.Map;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.template.SendObserver;

/**
 * Makes an observation {@code shardkeeper.send} of each record that is sent, as a child
 * of the sender's current observation, and writes its trace into the record's headers. It
 * opens no scope, because the reply arrives on another thread. Thread-safe.
 */
@Internal
public final class SendObservations implements SendObserver {

	private static final Sent NOOP = (offset, failure) -> {
	};

	private final ObservationRegistry registry;

	private final @Nullable ShardSendConvention convention;

	/** Creates an observer; {@code null} stands for the default convention. */
	public SendObservations(ObservationRegistry registry, @Nullable ShardSendConvention convention) {
		this.registry = registry;
		this.convention = convention;
	}

	@Override
	public Sent sending(ShardId shard, @Nullable String key, Map<String, String> headers) {
		if (this.registry.isNoop()) {
			return NOOP;
		}
		ShardSendContext context = new ShardSendContext(shard, key, headers);
		Observation observation = ShardkeeperObservation.SEND
			.observation(this.convention, ShardSendConvention.DEFAULT, () -> context, this.registry)
			.start();
		return (offset, failure) -> {
			context.appendedAt(offset);
			if (failure != null) {
				observation.error(failure);
			}
			observation.stop();
		};
	}

}
