package io.github.shardkeeper.consumer;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.SettingsAgreement;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ListedShards;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Passes on which shards the topics have that this instance takes part in: those of the
 * group to the coordinator, those of broadcast topics to their consumption. Watches the
 * sources for changes. Thread-safe; it watches and joins on one thread at a time.
 */
final class TopicWatch {

	private final ShardCoordinator coordinator;

	private final SettingsAgreement agreement;

	private final SourceRegistry sources;

	private final ConsumerStates states;

	private final MonotonicClock clock;

	private final ShardWorkers workers;

	private final BroadcastConsumption broadcast;

	/** Whether this instance takes part in the group. */
	private volatile boolean coordinated;

	/** Whether the coordinator gets shards for the workers of this run. */
	private volatile boolean joined;

	private ShardSource.@Nullable Watch watch;

	TopicWatch(InstanceParts instance, ShardWorkers workers, BroadcastConsumption broadcast) {
		this.coordinator = instance.coordinator();
		this.agreement = instance.agreement();
		this.sources = instance.sources();
		this.states = instance.states();
		this.clock = instance.clock();
		this.workers = workers;
		this.broadcast = broadcast;
		this.coordinated = !workers.handlers().isEmpty();
	}

	boolean isCoordinated() {
		return this.coordinated;
	}

	/** Joins the group. */
	void join() {
		this.coordinator.start(topics(this.workers.handlers()), this.workers);
		this.coordinated = true;
		this.joined = true;
	}

	/** Watches the sources of some topics, instead of those before. */
	void watch(Set<String> topics) {
		ShardSource.Watch before = this.watch;
		this.watch = this.sources.watch(topics, this::shardsChanged);
		if (before != null) {
			before.close();
		}
	}

	void unwatch() {
		ShardSource.Watch before = this.watch;
		this.watch = null;
		if (before != null) {
			before.close();
		}
	}

	/**
	 * Passes the shards on: one thread at a time, because the last one that does has to
	 * be the last one that has read them.
	 */
	synchronized void shardsChanged() {
		if (this.joined) {
			Map<String, TopicShards> topics = topics(this.workers.handlers());
			this.coordinator.shardsChanged(topics);
			listed(topics.keySet());
		}
		if (this.agreement.isReached()) {
			this.broadcast.shardsChanged(topics(this.broadcast.workers().handlers()));
		}
	}

	/**
	 * Returns the topics that have a handler and are not stopped. A handler without
	 * records never reaches the end of a shard, so its shards do not wait for parents.
	 */
	private Map<String, TopicShards> topics(Map<String, ShardHandler> handlers) {
		Map<String, TopicShards> topics = new TreeMap<>(this.sources.topics());
		topics.keySet().retainAll(this.states.takingPart(handlers.keySet()));
		handlers.forEach((topic, handler) -> {
			if (handler.shape() == HandlerShape.LOOP) {
				topics.computeIfPresent(topic, (name, shards) -> shards.withoutParents());
			}
		});
		return topics;
	}

	/** Passes on which shards take new records, if the sources of some topics know. */
	private void listed(Set<String> topics) {
		MonotonicTime now = this.clock.now();
		Map<String, ListedShards> listed = new TreeMap<>();
		this.sources.openShards().forEach((topic, open) -> {
			if (topics.contains(topic)) {
				listed.put(topic, new ListedShards(open.ids(), now.minus(open.age())));
			}
		});
		if (!listed.isEmpty()) {
			this.coordinator.shardsListed(listed);
		}
	}

}
