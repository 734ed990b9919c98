package io.github.shardkeeper.test.slice;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.consumer.PublishedEvents;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.SettingsAgreement;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.SharedSettings;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.worker.shard.ConsumerMeters;

/**
 * An instance of the application: the coordinator, heartbeats and workers of a real one,
 * in a process of its own on the thread of the test. It shares the application's beans
 * with the other instances. Confined to the thread of the test.
 */
final class TestInstance {

	private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

	private final String name;

	private final InstanceProcess process;

	private final List<SteppedSource> sources = new ArrayList<>();

	private final ShardCoordinator coordinator;

	private final ShardConsumerRunner runner;

	TestInstance(String name, long number, SteppedTime time, TestGroup group, InstanceStores.Faults faults) {
		this.name = name;
		this.process = new InstanceProcess(time);
		InstanceStores stores = new InstanceStores(this.process, faults);
		CoordinationStore coordination = stores.reach(group.coordination());
		CheckpointStore checkpoints = stores.reach(group.checkpoints());
		MemberRuntime runtime = this.process.runtime(number);
		CoordinationSettings settings = named(group.settings());
		Lease lease = new Lease(settings.lease(), runtime.clock().now());
		// Nothing more is handed out in the turn in which it crashes.
		this.process.connected(lease::end);
		HeartbeatScheduler heartbeats = new HeartbeatScheduler(coordination, lease, settings.heartbeatInterval(),
				runtime);
		this.coordinator = new ShardCoordinator(settings, coordination, heartbeats, lease, group.assignment(), runtime);
		// All instances have the settings of one context.
		SettingsAgreement agreement = new SettingsAgreement(settings, coordination.settings(),
				(topics) -> SharedSettings.NONE, runtime);
		this.coordinator.beforeJoin(agreement::beforeJoin);
		SourceRegistry registry = registry(group.sources());
		PublishedEvents events = new PublishedEvents(settings.group(), group.publisher(), (shard, token, phase, at) -> {
		}, this.process::execute);
		this.runner = new ShardConsumerRunner(this.coordinator, agreement, group.detection(), registry,
				group.startPositions().of(registry, checkpoints, runtime.clock()), checkpoints, lease, runtime,
				this.process, group.consumers(), group.stateValues(), ConsumerMeters.NONE, events, group.outputs(),
				STOP_TIMEOUT);
	}

	private CoordinationSettings named(CoordinationSettings of) {
		return new CoordinationSettings(of.group(), this.name, of.heartbeatInterval(), of.lease(), of.timeout(),
				of.settleTime(), of.version(), of.handover(), of.capacity(), of.zone(), of.awayTimeout());
	}

	private SourceRegistry registry(SourceRegistry application) {
		Map<String, ShardSource> stepped = new TreeMap<>();
		application.having(application.names()).forEach((source, delegate) -> {
			SteppedSource own = new SteppedSource(delegate, this.process);
			this.sources.add(own);
			stepped.put(source, own);
		});
		Map<String, String> configured = new TreeMap<>();
		application.names().forEach((topic) -> configured.put(topic, application.name(topic)));
		return new SourceRegistry(stepped, configured);
	}

	void start() {
		this.process.execute(this.runner::start);
	}

	/** Begins to leave the group; {@link #end} follows when it has left. */
	CompletableFuture<Void> leave() {
		CompletableFuture<Void> left = new CompletableFuture<>();
		this.process
			.execute(() -> this.coordinator.leave(STOP_TIMEOUT.dividedBy(2)).thenRun(() -> left.complete(null)));
		return left;
	}

	/** Ends at once; what it has not committed is lost. */
	void end() {
		this.process.end();
	}

	boolean isRunning() {
		return !this.process.isEnded();
	}

	void freeze(Duration duration) {
		this.process.freeze(duration);
	}

	boolean isFrozen() {
		return this.process.isFrozen();
	}

	boolean deliver() {
		boolean delivered = false;
		if (isRunning() && !isFrozen()) {
			for (SteppedSource source : this.sources) {
				delivered |= source.deliver();
			}
		}
		return delivered;
	}

	boolean owns(ShardId shard) {
		return isRunning() && this.runner.owns(shard);
	}

	Map<ShardId, String> problems() {
		return this.runner.problems();
	}

	String name() {
		return this.name;
	}

}
