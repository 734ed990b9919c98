package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.github.shardkeeper.endtoend.TraceChecker.Freeze;
import io.github.shardkeeper.jdbc.RestartedDatabase;
import io.github.shardkeeper.test.Disturbance;
import io.github.shardkeeper.test.Disturbance.Role;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.FaultyProxy;

/**
 * Makes things go wrong, and puts them right again. Thread-safe, but for two faults of
 * one instance, of Redis, of Kafka or of the database at a time.
 */
final class FaultInjector implements AutoCloseable {

	private static final Set<Role> EVENTS = Set.of(Role.SUBSCRIPTION);

	private static final Set<Role> OTHERS = Set.of(Role.CONTROL, Role.DATA);

	private static final Set<Role> COORDINATION = Set.of(Role.SUBSCRIPTION, Role.CONTROL);

	private static final Set<Role> HEARTBEATS = Set.of(Role.CONTROL);

	private static final Set<Role> DATA = Set.of(Role.DATA);

	private final EmbeddedRedis redis;

	private final EmbeddedKafka kafka;

	private final Instances instances;

	private final Map<String, FaultyProxy> proxies;

	private final ChaosGroup group;

	private final Function<String, List<String>> arguments;

	private final List<Freeze> freezes = new CopyOnWriteArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final CountDownLatch stopped = new CountDownLatch(1);

	/**
	 * Creates an injector.
	 * @param proxies each instance's way to Redis
	 * @param arguments what each instance is started with
	 */
	FaultInjector(EmbeddedRedis redis, EmbeddedKafka kafka, Instances instances, Map<String, FaultyProxy> proxies,
			ChaosGroup group, Function<String, List<String>> arguments) {
		this.redis = redis;
		this.kafka = kafka;
		this.instances = instances;
		this.proxies = proxies;
		this.group = group;
		this.arguments = arguments;
	}

	/** When which process was frozen. */
	List<Freeze> freezes() {
		return this.freezes;
	}

	void startInstance(String instance) {
		this.instances.start(instance, this.arguments.apply(instance).toArray(String[]::new));
	}

	/** Completes when the fault is over, perhaps before its effects are. */
	CompletableFuture<Void> begin(Fault fault, String instance) {
		return CompletableFuture.runAsync(() -> inject(fault, instance), this.threads);
	}

	private void inject(Fault fault, String instance) {
		Duration length = fault.length();
		switch (fault.kind()) {
			case KILL -> kill(instance, length);
			case SHORT_FREEZE -> freeze(instance, () -> pause(length));
			case LONG_FREEZE -> freeze(instance, () -> untilMoved(instance, length));
			case ROLLING_RESTART -> rollingRestart();
			case RESTART_IN_PLACE -> restart(instance, () -> pause(length));
			case LATE_RETURN -> restart(instance, () -> {
				this.group.awaitNothingKeptFor(instance);
				pause(length);
			});
			case REDIS_KILL -> killRedis(length);
			case KAFKA_KILL -> killKafka(length);
			case KAFKA_FREEZE -> freezeKafka(length);
			case DATABASE_RESTART -> restartDatabase(length);
			case RESET, DISCONNECTION -> disturb(instance, Disturbance.refuse(Disturbance.ALL), () -> pause(length));
			case SHORT_SILENCE -> disturb(instance, Disturbance.hold(Disturbance.ALL), () -> pause(length));
			case LONG_SILENCE ->
				disturb(instance, Disturbance.hold(Disturbance.ALL), () -> untilMoved(instance, length));
			case SUBSCRIPTION_RESET -> disturb(instance, Disturbance.refuse(EVENTS), () -> pause(length));
			case SUBSCRIPTION_SILENCE -> disturb(instance, Disturbance.hold(EVENTS), () -> pause(length));
			case OTHERS_RESET -> disturb(instance, Disturbance.refuse(OTHERS), () -> pause(length));
			case OTHERS_SILENCE -> disturb(instance, Disturbance.hold(OTHERS), () -> pause(length));
			case COORDINATION_RESET ->
				disturb(instance, Disturbance.refuse(COORDINATION), () -> untilMoved(instance, length));
			case HEARTBEATS_SILENCE ->
				disturb(instance, Disturbance.hold(HEARTBEATS), () -> untilMoved(instance, length));
			case DATA_RESET -> disturb(instance, Disturbance.refuse(DATA), () -> pause(length));
			case DATA_SILENCE -> disturb(instance, Disturbance.hold(DATA), () -> pause(length));
			case SLOW_NETWORK -> disturb(instance, Disturbance.delay(length.dividedBy(50)), () -> pause(length));
		}
	}

	private void untilMoved(String instance, Duration more) {
		this.group.awaitNothingOwnedBy(instance);
		pause(more);
	}

	private void kill(String instance, Duration length) {
		this.instances.kill(instance);
		this.instances.awaitEnd(instance);
		pause(length);
		startInstance(instance);
	}

	private void freeze(String instance, Runnable meanwhile) {
		long begin = Trace.nowMicros();
		this.instances.signal(instance, "STOP");
		try {
			meanwhile.run();
		}
		finally {
			this.instances.signal(instance, "CONT");
			this.freezes.add(new Freeze(instance, begin, Trace.nowMicros()));
		}
	}

	private void rollingRestart() {
		for (String instance : this.proxies.keySet()) {
			restart(instance, () -> {
			});
		}
	}

	private void restart(String instance, Runnable meanwhile) {
		this.instances.terminate(instance);
		this.instances.awaitEnd(instance);
		meanwhile.run();
		startInstance(instance);
		this.group.awaitJoined(instance);
	}

	private void killRedis(Duration length) {
		this.redis.kill();
		pause(length);
		this.redis.restart();
	}

	private void killKafka(Duration length) {
		this.kafka.kill();
		pause(length);
		this.kafka.restart();
	}

	private void freezeKafka(Duration length) {
		this.kafka.freeze();
		try {
			pause(length);
		}
		finally {
			this.kafka.thaw();
		}
	}

	private void restartDatabase(Duration length) {
		RestartedDatabase database = this.group.booked().database();
		database.stop();
		pause(length);
		database.startAgain();
	}

	private void disturb(String instance, Disturbance disturbance, Runnable meanwhile) {
		FaultyProxy proxy = this.proxies.get(instance);
		proxy.disturb(disturbance);
		try {
			meanwhile.run();
		}
		finally {
			proxy.heal();
		}
	}

	/** Lets time pass: that is what a fault is made of. */
	void pause(Duration length) {
		try {
			if (this.stopped.await(length.toNanos(), TimeUnit.NANOSECONDS)) {
				throw new IllegalStateException("Stopped");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.stopped.countDown();
		this.threads.shutdown();
	}

}
