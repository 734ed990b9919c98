package io.github.shardkeeper.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * Observations with their key names. Errors have none: Micrometer itself adds the tag
 * {@code error} and marks failed spans, and a key of that name would mark every span.
 * Immutable.
 */
public enum ShardkeeperObservation implements ObservationDocumentation {

	/** Call of a handler. */
	CONSUME("shardkeeper.consume", ShardConsumeConvention.class, ConsumeLowCardinality.values(),
			ConsumeHighCardinality.values()),

	/** Record that is sent, until it is appended or has failed. */
	SEND("shardkeeper.send", ShardSendConvention.class, SendLowCardinality.values(), SendHighCardinality.values());

	private final String name;

	private final Class<? extends ObservationConvention<? extends Observation.Context>> convention;

	private final KeyName[] lowCardinality;

	private final KeyName[] highCardinality;

	ShardkeeperObservation(String name,
			Class<? extends ObservationConvention<? extends Observation.Context>> convention, KeyName[] lowCardinality,
			KeyName[] highCardinality) {
		this.name = name;
		this.convention = convention;
		this.lowCardinality = lowCardinality;
		this.highCardinality = highCardinality;
	}

	@Override
	public String getName() {
		return this.name;
	}

	@Override
	public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
		return this.convention;
	}

	@Override
	public KeyName[] getLowCardinalityKeyNames() {
		return this.lowCardinality.clone();
	}

	@Override
	public KeyName[] getHighCardinalityKeyNames() {
		return this.highCardinality.clone();
	}

	/** Low-cardinality keys of handler calls. */
	public enum ConsumeLowCardinality implements KeyName {

		TOPIC("topic"),
		/** Group that consumes the topic. */
		GROUP("group");

		private final String key;

		ConsumeLowCardinality(String key) {
			this.key = key;
		}

		@Override
		public String asString() {
			return this.key;
		}

	}

	/** High-cardinality keys of handler calls. */
	public enum ConsumeHighCardinality implements KeyName {

		/** Topic and id of the shard, as {@code orders/3}. */
		SHARD("shard"),
		/** Offset of the record, or of the first one of a batch; absent for loops. */
		OFFSET("offset"),
		/** Number of records that the call is made with. */
		RECORDS("records");

		private final String key;

		ConsumeHighCardinality(String key) {
			this.key = key;
		}

		@Override
		public String asString() {
			return this.key;
		}

	}

	/** Low-cardinality keys of records that are sent. */
	public enum SendLowCardinality implements KeyName {

		TOPIC("topic");

		private final String key;

		SendLowCardinality(String key) {
			this.key = key;
		}

		@Override
		public String asString() {
			return this.key;
		}

	}

	/** High-cardinality keys of records that are sent. */
	public enum SendHighCardinality implements KeyName {

		/** Topic and id of the shard, as {@code orders/3}. */
		SHARD("shard"),
		/** Offset at which the record was appended; absent if it is not known. */
		OFFSET("offset");

		private final String key;

		SendHighCardinality(String key) {
			this.key = key;
		}

		@Override
		public String asString() {
			return this.key;
		}

	}

}
