package io.github.shardkeeper.observation;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.observation.ShardkeeperObservation.SendHighCardinality;
import io.github.shardkeeper.observation.ShardkeeperObservation.SendLowCardinality;
import io.github.shardkeeper.shard.Offset;

/**
 * Names and key values of the observations of records that are sent. A bean of this type
 * overrides the defaults, method by method. Thread-safe.
 */
public interface ShardSendConvention extends ObservationConvention<ShardSendContext> {

	/** Default convention. */
	ShardSendConvention DEFAULT = new ShardSendConvention() {
	};

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof ShardSendContext;
	}

	@Override
	default String getName() {
		return ShardkeeperObservation.SEND.getName();
	}

	@Override
	default @Nullable String getContextualName(ShardSendContext context) {
		return "send " + context.shard().topic();
	}

	@Override
	default KeyValues getLowCardinalityKeyValues(ShardSendContext context) {
		return KeyValues.of(SendLowCardinality.TOPIC.withValue(context.shard().topic()));
	}

	@Override
	default KeyValues getHighCardinalityKeyValues(ShardSendContext context) {
		KeyValues values = KeyValues.of(SendHighCardinality.SHARD.withValue(context.shard().toString()));
		Offset offset = context.offset();
		return (offset != null) ? values.and(SendHighCardinality.OFFSET.withValue(offset.value())) : values;
	}

}
