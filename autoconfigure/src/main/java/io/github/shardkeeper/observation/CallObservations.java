package io.github.shardkeeper.observation;

import java.util.List;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.ShardRecord;

/**
 * Makes each call of a handler in an observation {@code shardkeeper.consume}. Its scope
 * opens and closes on the thread of the call, so that pooled threads keep nothing.
 * Thread-safe.
 */
@Internal
public final class CallObservations implements ShardInterceptor {

	private final ObservationRegistry registry;

	private final @Nullable ShardConsumeConvention convention;

	/** Creates an interceptor; {@code null} stands for the default convention. */
	public CallObservations(ObservationRegistry registry, @Nullable ShardConsumeConvention convention) {
		this.registry = registry;
		this.convention = convention;
	}

	@Override
	public void intercept(ShardContext shard, List<ShardRecord<?>> records, Call call) throws Throwable {
		Observation observation = ShardkeeperObservation.CONSUME.observation(this.convention,
				ShardConsumeConvention.DEFAULT, () -> new ShardConsumeContext(shard, records), this.registry);
		observation.observeChecked(call::proceed);
	}

}
