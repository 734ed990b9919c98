package io.github.shardkeeper.observation;

import java.util.List;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.handler.CallObserver;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Makes each call of a handler in an observation {@code shardkeeper.consume}. Its scope
 * opens and closes on the thread of the call, so that pooled threads keep nothing.
 * Thread-safe.
 */
@Internal
public final class CallObservations implements CallObserver {

	private final ObservationRegistry registry;

	private final @Nullable ShardConsumeConvention convention;

	/** Creates an observer; {@code null} stands for the default convention. */
	public CallObservations(ObservationRegistry registry, @Nullable ShardConsumeConvention convention) {
		this.registry = registry;
		this.convention = convention;
	}

	@Override
	public void observe(ShardContext context, List<SourceRecord> records, Call call) throws Throwable {
		Observation observation = ShardkeeperObservation.CONSUME.observation(this.convention,
				ShardConsumeConvention.DEFAULT, () -> new ShardConsumeContext(context, records), this.registry);
		observation.observeChecked(call::make);
	}

}
