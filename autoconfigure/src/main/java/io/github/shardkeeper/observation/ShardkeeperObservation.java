package io.github.shardkeeper.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * What can be observed. Errors are told by Micrometer itself: as the tag {@code error} of
 * timers, and as the error of spans. A key of that name would make an error of every
 * span. Immutable.
 */
public enum ShardkeeperObservation implements ObservationDocumentation {

	/** A call of a handler's method. */
	CONSUME("shardkeeper.consume", ShardConsumeConvention.class, ConsumeLowCardinality.values(),
			ConsumeHighCardinality.values()),

	/** A record that is sent, until it is appended or given up. */
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

	/** What has few values, of calls of a handler's method. */
	public enum ConsumeLowCardinality implements KeyName {

		/** The topic's name. */
		TOPIC("topic"),
		/** The group that consumes it. */
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

	/** What has many values, of calls of a handler's method. */
	public enum ConsumeHighCardinality implements KeyName {

		/** Topic and id of the shard, as {@code orders/3}. */
		SHARD("shard"),
		/** Position of the record, or of a batch's first one; not for loops. */
		OFFSET("offset"),
		/** How many records the call is made with. */
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

	/** What has few values, of records that are sent. */
	public enum SendLowCardinality implements KeyName {

		/** The topic's name. */
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

	/** What has many values, of records that are sent. */
	public enum SendHighCardinality implements KeyName {

		/** Topic and id of the shard, as {@code orders/3}. */
		SHARD("shard"),
		/** Where it was appended; not when that is not known. */
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
