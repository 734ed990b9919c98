package io.github.shardkeeper.test.slice;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.state.JournaledState;
import io.github.shardkeeper.state.StateView;

/**
 * The group of a {@link ShardkeeperTest}: its instances, its time and its stores, all of
 * which stand still until the test calls a method here. Handlers are called on the thread
 * of the test, in an order that depends on the test alone.
 *
 * <pre class="code">
 * ShardId shard = this.shards.send("visits", "ann", new Visit("ann", "/")).shard();
 * this.shards.step();
 * assertThat(this.shards.state(shard, Long.class)).containsEntry("ann", 1L);
 * </pre>
 *
 * Each test begins with an empty group at the same time. The first instance is called
 * {@value #INSTANCE}, and starts with the first {@link #step()} or {@link #advance}
 * unless the test has started one.
 * <p>
 * <b>Not guaranteed.</b> The instances share the beans of one context, so a crash does
 * not clear what a bean has in a field. A handler that returns a future is waited for, in
 * real time; other threads are not. Confined to the thread of the test.
 */
public final class TestShards {

	/** Name of the instance that starts by itself. */
	public static final String INSTANCE = "one";

	private static final int MOST_LETTERS = 1_000;

	private static final BooleanSupplier NEVER = () -> false;

	private final TestGroup group;

	private final SteppedTime time;

	private final DeadLetters letters;

	private final InstanceStores.Faults faults = new InstanceStores.Faults();

	/** By name, also those that have ended, in the order of their start. */
	private final Map<String, TestInstance> instances = new LinkedHashMap<>();

	private long processes;

	TestShards(TestGroup group, SteppedTime time, DeadLetters letters) {
		this.group = group;
		this.time = time;
		this.letters = letters;
	}

	/**
	 * Returns the time of the group, by which records, timers, retries and leases are
	 * due.
	 * @return the time
	 */
	public Instant now() {
		return this.time.instant();
	}

	/**
	 * Sends a record; {@link #step()} has it handled. Its payload is converted as by a
	 * {@link io.github.shardkeeper.ShardTemplate}, whose bean is not used. Interceptors
	 * of sends may change it, and do not learn its result.
	 * @param topic the topic
	 * @param key the key, {@code null} for none
	 * @param payload the payload
	 * @return shard and offset of the record
	 */
	public Appended send(String topic, @Nullable String key, Object payload) {
		return send(topic, new Outgoing(key, payload));
	}

	/**
	 * Sends a record with headers, or to a certain shard.
	 * @param topic the topic
	 * @param record the record
	 * @return shard and offset of the record
	 */
	public Appended send(String topic, Outgoing record) {
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(record, "record must not be null");
		NewRecord prepared = this.group.outputs().targets().prepare(topic, record);
		return new Appended(prepared.shard(), this.group.source().append(List.of(prepared)).get(0).join());
	}

	/**
	 * Runs everything that is due now, until nothing is left to do without more time: a
	 * failed record may wait for its next attempt, and a commit in the background for its
	 * time.
	 */
	public void step() {
		startFirst();
		run(Duration.ZERO, NEVER);
	}

	/**
	 * Lets time pass, and runs what becomes due in it, each at its time: retries, timers
	 * of states, schedules, expiry, commits, heartbeats and leases.
	 * @param duration the time
	 * @throws IllegalArgumentException if it is negative
	 */
	public void advance(Duration duration) {
		Objects.requireNonNull(duration, "duration must not be null");
		if (duration.isNegative()) {
			throw new IllegalArgumentException("Time does not go back: " + duration);
		}
		startFirst();
		run(duration, NEVER);
	}

	private void startFirst() {
		if (this.instances.isEmpty()) {
			start();
		}
	}

	private boolean run(Duration duration, BooleanSupplier enough) {
		long until = Math.addExact(this.time.nanos(), SteppedTime.nanos(duration));
		return this.time.run(until, this::deliver, enough);
	}

	private boolean deliver() {
		boolean delivered = false;
		for (TestInstance instance : this.instances.values()) {
			delivered |= instance.deliver();
		}
		return delivered;
	}

	/** Starts the instance {@value #INSTANCE}; see {@link #start(String)}. */
	public void start() {
		start(INSTANCE);
	}

	/**
	 * Starts an instance, and lets time pass until it and the others own all shards: a
	 * moment for the first one, some seconds after a crash, when the group waits for the
	 * end of a lease. It may be the next process of an instance that has ended.
	 * @param instance the name of the instance
	 * @throws IllegalStateException if it runs, or shards have no owner for long
	 */
	public void start(String instance) {
		Objects.requireNonNull(instance, "instance must not be null");
		TestInstance before = this.instances.get(instance);
		if (before != null && before.isRunning()) {
			throw new IllegalStateException("The instance '%s' runs already".formatted(instance));
		}
		boolean alone = this.instances.values().stream().noneMatch(TestInstance::isRunning);
		TestInstance started = new TestInstance(instance, ++this.processes, this.time, this.group, this.faults);
		this.instances.remove(instance);
		this.instances.put(instance, started);
		started.start();
		CoordinationSettings settings = this.group.settings();
		if (!alone) {
			// Until the leader has seen it, and has waited for more members.
			run(settings.settleTime().plus(settings.heartbeatInterval().multipliedBy(2)), NEVER);
		}
		await(() -> !started.isRunning() || isSettled(), () -> "the instance '%s' has started".formatted(instance));
	}

	/**
	 * Stops an instance in order: it commits, releases its shards and leaves. Lets as
	 * much time pass as that takes.
	 * @param instance the name of the instance
	 * @throws IllegalStateException if it does not run
	 */
	public void stop(String instance) {
		TestInstance stopping = running(instance);
		CompletableFuture<Void> left = stopping.leave();
		await(left::isDone, () -> "the instance '%s' has left".formatted(instance));
		stopping.end();
	}

	/**
	 * Crashes the only instance; see {@link #crash(String)}.
	 */
	public void crash() {
		crash(only());
	}

	/**
	 * Crashes an instance here, as {@code kill -9} does: nothing of it runs any more, and
	 * what it has not committed is lost. Others get its shards when its lease has ended.
	 * @param instance the name of the instance
	 * @throws IllegalStateException if it does not run
	 */
	public void crash(String instance) {
		running(instance).end();
	}

	/**
	 * Crashes the instance that makes the next commit, immediately before it: the handler
	 * has run, and nothing of it is stored.
	 */
	public void crashBeforeNextCommit() {
		this.faults.set(InstanceStores.Fault.CRASH);
	}

	/**
	 * Loses the next commit. To the instance that makes it both look the same: there is
	 * no reply.
	 * @param loss what is lost
	 */
	public void loseNextCommit(CommitLoss loss) {
		Objects.requireNonNull(loss, "loss must not be null");
		this.faults.set((loss == CommitLoss.REPLY) ? InstanceStores.Fault.REPLY_LOST : InstanceStores.Fault.WRITE_LOST);
	}

	/**
	 * Freezes an instance: nothing of it runs while the time passes, as in a long pause
	 * of the JVM, and it does not notice. Frozen for longer than its lease, it loses its
	 * shards to others.
	 * @param instance the name of the instance
	 * @param duration how long
	 * @throws IllegalStateException if it does not run
	 */
	public void freeze(String instance, Duration duration) {
		Objects.requireNonNull(duration, "duration must not be null");
		running(instance).freeze(duration);
	}

	/**
	 * Moves a shard to an instance now, as an operator does, and lets time pass until it
	 * is there.
	 * @param shard the shard
	 * @param instance the name of the instance
	 * @throws IllegalStateException if it does not run, or the shard does not arrive
	 */
	public void move(ShardId shard, String instance) {
		Objects.requireNonNull(shard, "shard must not be null");
		TestInstance to = running(instance);
		this.group.coordination()
			.directives()
			.put(Directive.of(Directive.Kind.MOVE, shard.toString(), instance, "test", "TestShards.move"));
		await(() -> to.owns(shard) && isSettled(), () -> "%s has moved to '%s'".formatted(shard, instance));
	}

	private TestInstance running(String instance) {
		Objects.requireNonNull(instance, "instance must not be null");
		TestInstance found = this.instances.get(instance);
		if (found == null || !found.isRunning()) {
			throw new IllegalStateException(
					"The instance '%s' does not run; start it first. Running: %s".formatted(instance, names()));
		}
		return found;
	}

	private String only() {
		List<String> running = names();
		if (running.size() != 1) {
			throw new IllegalStateException(
					running.isEmpty() ? "No instance runs; call step() or start() first" : "Name one of " + running);
		}
		return running.get(0);
	}

	private List<String> names() {
		return this.instances.values().stream().filter(TestInstance::isRunning).map(TestInstance::name).toList();
	}

	/** Lets time pass until then, for a limited time. */
	private void await(BooleanSupplier condition, Supplier<String> what) {
		CoordinationSettings settings = this.group.settings();
		Duration limit = settings.lease().plus(settings.timeout()).multipliedBy(2).plusMinutes(1);
		if (!run(limit, condition)) {
			Map<ShardId, String> problems = new TreeMap<>();
			this.instances.values()
				.stream()
				.filter(TestInstance::isRunning)
				.forEach((instance) -> problems.putAll(instance.problems()));
			throw new IllegalStateException("After %s it is not so that %s. Owners: %s. Problems: %s".formatted(limit,
					what.get(), ownerships(), problems));
		}
	}

	/** Whether the running instances own all shards, and none is about to move. */
	private boolean isSettled() {
		Map<ShardId, Ownership> owned = ownerships();
		return shards().stream().allMatch((shard) -> {
			Ownership ownership = owned.get(shard);
			if (ownership == null || ownership.phase() == Phase.COMPLETED) {
				return ownership != null;
			}
			return ownership.phase() == Phase.OWNED && ownership.owner() != null && this.instances.values()
				.stream()
				.anyMatch((instance) -> instance.name().equals(ownership.owner().instance()) && instance.owns(shard));
		});
	}

	private List<ShardId> shards() {
		List<ShardId> shards = new ArrayList<>();
		this.group.sources().topics().forEach((topic, listed) -> {
			if (this.group.handlers().containsKey(topic) && this.group.consumers().autoStartup().test(topic)) {
				listed.forEach(topic, shards::add);
			}
		});
		return shards;
	}

	private Map<ShardId, Ownership> ownerships() {
		Map<ShardId, Ownership> found = new TreeMap<>();
		this.group.coordination()
			.readChanges(0, -1)
			.ownerships()
			.forEach((ownership) -> found.put(ownership.shard(), ownership));
		return found;
	}

	/**
	 * Returns which instance owns a shard.
	 * @param shard the shard
	 * @return the name of the instance, empty if none does
	 */
	public Optional<String> owner(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		return Optional.ofNullable(ownerships().get(shard)).map(Ownership::owner).map((member) -> member.instance());
	}

	/**
	 * Returns the committed state of a shard, without values that have expired.
	 * @param shard the shard
	 * @param type the type to convert every value to
	 * @param <T> the type of the values
	 * @return a copy, by key
	 * @throws IllegalArgumentException if a value cannot be converted
	 */
	public <T> Map<String, T> state(ShardId shard, Class<T> type) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(type, "type must not be null");
		JournaledState state = new JournaledState(this.group.checkpoints().read(shard).state(),
				this.group.stateValues(), null, false);
		Map<String, T> values = new TreeMap<>();
		try (StateView view = state.open(now().toEpochMilli())) {
			view.keys("").forEach((key) -> view.get(key, type).ifPresent((value) -> values.put(key, value)));
		}
		return values;
	}

	/**
	 * Returns how far a shard is committed.
	 * @param shard the shard
	 * @return the offset of the last record before which all are handled, empty if there
	 * is none
	 */
	public Optional<Offset> committed(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		return Optional.ofNullable(this.group.checkpoints().read(shard).offset());
	}

	/**
	 * Returns the records of a shard that wait for another attempt in its retry queue,
	 * and those that wait behind one of their key.
	 * @param shard the shard
	 * @return the records, in the order in which they are kept
	 */
	public List<Waiting> waiting(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		List<Waiting> waiting = new ArrayList<>();
		this.group.checkpoints()
			.waiting(shard, (record) -> waiting.add(
					new Waiting(record.offset(), record.key(), record.attempts(), record.dueIn(), record.exception())));
		return waiting;
	}

	/**
	 * Returns the dead letters of a topic.
	 * @param topic the topic
	 * @return at most 1,000 of them
	 */
	public List<DeadLetter> deadLetters(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return this.letters.list(DeadLetterFilter.topic(topic), null, MOST_LETTERS).letters();
	}

	/**
	 * Returns the payloads of the records of a topic, for example of one that handlers
	 * send to: those that were handled, too, by shard and offset.
	 * @param topic the topic
	 * @param type the type to convert every payload to
	 * @param <T> the type of the payloads
	 * @return the payloads
	 */
	public <T> List<T> payloads(String topic, Class<T> type) {
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(type, "type must not be null");
		MemoryStreamSource source = this.group.source();
		List<T> payloads = new ArrayList<>();
		this.group.sources().of(topic).topics().getOrDefault(topic, TopicShards.NONE).forEach(topic, (shard) -> {
			for (SourceRecord sent : source.records(shard, null, Integer.MAX_VALUE)) {
				payloads.add(type.cast(this.group.converter().read(shard, sent, type)));
			}
		});
		return payloads;
	}

	/**
	 * Returns the problems of shards, as health and endpoint show them: of a handler that
	 * keeps failing, or a shard that is halted.
	 * @return a text by shard
	 */
	public Map<ShardId, String> problems() {
		Map<ShardId, String> problems = new TreeMap<>();
		this.instances.values()
			.stream()
			.filter(TestInstance::isRunning)
			.forEach((instance) -> problems.putAll(instance.problems()));
		return problems;
	}

	/**
	 * Starts again: without instances, records and data, at the time at which every test
	 * begins. Each test begins so; a test calls it between many cases of its own. Beans
	 * keep their fields.
	 */
	public void reset() {
		this.instances.values().forEach(TestInstance::end);
		this.instances.clear();
		this.processes = 0;
		this.faults.set(null);
		this.time.reset();
		this.group.coordination().reset();
		this.group.checkpoints().empty();
		this.group.source().empty();
	}

	/** What is lost of a commit. */
	public enum CommitLoss {

		/** Nothing is stored. */
		WRITE,

		/** It is stored, and the instance does not learn it. */
		REPLY

	}

	/**
	 * A record that waits. Immutable.
	 *
	 * @param offset its offset
	 * @param key its key, {@code null} for none
	 * @param attempts the number of failed attempts, 0 if it only waits behind another
	 * @param dueIn the time until the next attempt
	 * @param exception the last exception
	 */
	public record Waiting(Offset offset, @Nullable String key, int attempts, Duration dueIn, String exception) {

		public Waiting {
			Objects.requireNonNull(offset, "offset must not be null");
			Objects.requireNonNull(dueIn, "dueIn must not be null");
			Objects.requireNonNull(exception, "exception must not be null");
		}

	}

}
