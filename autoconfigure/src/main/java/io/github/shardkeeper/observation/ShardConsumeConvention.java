package io.github.shardkeeper.observation;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.observation.ShardkeeperObservation.ConsumeHighCardinality;
import io.github.shardkeeper.observation.ShardkeeperObservation.ConsumeLowCardinality;
import io.github.shardkeeper.shard.Offset;

/**
 * Names and key values of the observations of handler calls. A bean of this type
 * overrides the defaults, method by method. Thread-safe.
 */
public interface ShardConsumeConvention extends ObservationConvention<ShardConsumeContext> {

	/** Default convention. */
	ShardConsumeConvention DEFAULT = new ShardConsumeConvention() {
	};

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof ShardConsumeContext;
	}

	@Override
	default String getName() {
		return ShardkeeperObservation.CONSUME.getName();
	}

	@Override
	default @Nullable String getContextualName(ShardConsumeContext context) {
		return "process " + context.shard().shard().topic();
	}

	@Override
	default KeyValues getLowCardinalityKeyValues(ShardConsumeContext context) {
		return KeyValues.of(ConsumeLowCardinality.TOPIC.withValue(context.shard().shard().topic()),
				ConsumeLowCardinality.GROUP.withValue(context.shard().group()));
	}

	@Override
	default KeyValues getHighCardinalityKeyValues(ShardConsumeContext context) {
		KeyValues values = KeyValues.of(ConsumeHighCardinality.SHARD.withValue(context.shard().shard().toString()),
				ConsumeHighCardinality.RECORDS.withValue(String.valueOf(context.records())));
		Offset offset = context.offset();
		return (offset != null) ? values.and(ConsumeHighCardinality.OFFSET.withValue(offset.value())) : values;
	}

}
