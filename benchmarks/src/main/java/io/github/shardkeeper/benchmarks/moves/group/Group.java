package io.github.shardkeeper.benchmarks.moves.group;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * The running instances of a protocol, and their traces. Confined to one thread.
 */
public final class Group implements AutoCloseable {

	private static final String GROUP = "benchmark";

	private static final int POLL_MILLIS = 100;

	private static final long PATIENCE_NANOS = 120_000_000_000L;

	/** So long nothing may change until it counts as settled. */
	private static final long SETTLED_NANOS = 1_000_000_000L;

	/** Several of the intervals between records. */
	private static final long CAUGHT_UP_NANOS = 200_000_000L;

	private final int shards;

	private final Path directory;

	private final Cluster cluster;

	private final Feeder feeder;

	private final Instances instances;

	private final Traces traces;

	private int started;

	/** When an instance was started, ended or woken last. */
	private long lastChangeNanos = System.nanoTime();

	public Group(GroupProtocol protocol, int shards) throws Exception {
		this.shards = shards;
		this.directory = Files.createTempDirectory("shardkeeper-benchmark-moves");
		this.cluster = protocol.opener().open(shards);
		this.feeder = new Feeder(this.cluster);
		this.instances = new Instances(this.directory);
		this.traces = new Traces(this.directory, shards);
	}

	/**
	 * Starts another instance.
	 * @param release the release of the application
	 * @return its name
	 */
	public String start(int release) throws IOException {
		String name = nextName();
		start(name, release);
		return name;
	}

	/** A name that no instance has had. */
	public String nextName() {
		return "instance-" + ++this.started;
	}

	/** Starts an instance of a name that no running one has. */
	public void start(String name, int release) throws IOException {
		this.lastChangeNanos = System.nanoTime();
		this.instances.start(name,
				this.cluster.instance(GROUP, name, this.directory.resolve(name + Traces.SUFFIX), release));
	}

	/**
	 * A move of each kind, so that none that is measured is the first one.
	 * @param keepsShards whether the shards of an instance that leaves in order would be
	 * kept for its return
	 */
	public void warmUp(boolean keepsShards) throws IOException, InterruptedException {
		if (keepsShards) {
			String returning = eldest();
			terminate(returning);
			start(returning, 1);
		}
		else {
			String another = start(1);
			awaitBalance();
			terminate(another);
		}
		awaitBalance();
	}

	public void terminate(String name) throws InterruptedException {
		this.instances.terminate(name);
		this.lastChangeNanos = System.nanoTime();
	}

	public void kill(String name) throws InterruptedException {
		this.instances.kill(name);
		this.lastChangeNanos = System.nanoTime();
	}

	public void freeze(String name, long millis) throws IOException, InterruptedException {
		this.instances.freeze(name, millis);
		this.lastChangeNanos = System.nanoTime();
	}

	/** The instance that has run for the longest time. */
	public String eldest() {
		return this.instances.names().iterator().next();
	}

	/** The instance that was started last. */
	public String youngest() {
		return List.copyOf(this.instances.names()).get(this.instances.names().size() - 1);
	}

	/** Waits until each running instance consumes its part of the shards. */
	public void awaitBalance() throws IOException, InterruptedException {
		int least = this.shards / running().size();
		awaitLoads((loads) -> loads.keySet().equals(running())
				&& loads.values().stream().allMatch((load) -> load >= least && load <= least + 1));
	}

	/**
	 * Waits until each shard handles records as they come, so that what an event has left
	 * behind or repeated does not count for the next one.
	 */
	public void awaitCaughtUp() throws IOException, InterruptedException {
		await(() -> this.traces.read().stream().allMatch(Group::isCaughtUp));
	}

	private static boolean isCaughtUp(List<Handled> handled) {
		if (handled.isEmpty()) {
			return false;
		}
		Handled last = handled.get(handled.size() - 1);
		return last.nanos() - last.sentNanos() < CAUGHT_UP_NANOS;
	}

	/** Waits until an instance has some of the shards, and running ones the others. */
	public void awaitConsuming(String name) throws IOException, InterruptedException {
		awaitLoads((loads) -> running().containsAll(loads.keySet()) && loads.containsKey(name));
	}

	private Set<String> running() {
		return this.instances.names();
	}

	/**
	 * Waits until it has been so for a while, and only since the last change: who comes
	 * under the name of one that was there before has not consumed anything yet.
	 */
	private void awaitLoads(Predicate<Map<String, Integer>> condition) throws IOException, InterruptedException {
		await(() -> System.nanoTime() - this.lastChangeNanos >= SETTLED_NANOS
				&& condition.test(loads(this.traces.read())));
	}

	private void await(Condition condition) throws IOException, InterruptedException {
		long deadline = System.nanoTime() + PATIENCE_NANOS;
		while (!condition.holds()) {
			this.instances.verify();
			if (System.nanoTime() - deadline > 0) {
				throw new IllegalStateException("It does not settle: " + this.instances.keep());
			}
			Thread.sleep(POLL_MILLIS);
		}
	}

	/** Returns the number of shards of each instance; empty while one of them moves. */
	private static Map<String, Integer> loads(List<List<Handled>> byShard) {
		long settled = System.nanoTime() - SETTLED_NANOS;
		Map<String, Integer> loads = new HashMap<>();
		for (List<Handled> handled : byShard) {
			List<Handled> recent = handled.subList(firstAfter(handled, settled), handled.size());
			// Half of what there should be is enough: it is about who, not about how
			// fast.
			if (recent.size() < SETTLED_NANOS / 1_000_000 / Feeder.INTERVAL_MILLIS / 2) {
				return Map.of();
			}
			String owner = recent.get(0).instance();
			if (!recent.stream().allMatch((record) -> record.instance().equals(owner))) {
				return Map.of();
			}
			loads.merge(owner, 1, Integer::sum);
		}
		return loads;
	}

	private static int firstAfter(List<Handled> handled, long nanos) {
		int first = handled.size();
		while (first > 0 && handled.get(first - 1).nanos() > nanos) {
			first--;
		}
		return first;
	}

	/** The shards that an instance consumes, while nothing changes. */
	public Set<Integer> ownedBy(String name) throws IOException {
		Set<Integer> owned = new TreeSet<>();
		List<List<Handled>> byShard = this.traces.read();
		for (int shard = 0; shard < byShard.size(); shard++) {
			List<Handled> handled = byShard.get(shard);
			if (!handled.isEmpty() && handled.get(handled.size() - 1).instance().equals(name)) {
				owned.add(shard);
			}
		}
		return owned;
	}

	/** Returns when the last process of a name was ready. */
	public long readyNanos(String name) throws IOException {
		this.traces.read();
		return this.traces.readyNanos(name);
	}

	/** Returns the observations of a period that ends now. */
	public Window since(long nanos) throws IOException {
		long now = System.nanoTime();
		return Window.of(this.traces.read(), nanos, now);
	}

	/** Stops sending, waits until everything was handled, and checks all of it. */
	public Exactness finish() throws IOException, InterruptedException {
		long sent = this.feeder.stop();
		long deadline = System.nanoTime() + PATIENCE_NANOS;
		Exactness exactness = Exactness.of(this.traces.read(), sent);
		while (exactness.lost() > 0 && System.nanoTime() - deadline < 0) {
			Thread.sleep(POLL_MILLIS);
			exactness = Exactness.of(this.traces.read(), sent);
		}
		return exactness;
	}

	public int failedCommits() {
		return this.traces.count(Traces.COMMIT_FAILED);
	}

	/** Returns the number of leases that ended while their process ran. */
	public int endedLeases() {
		return this.traces.count(Traces.SUSPENDED);
	}

	/** Stops the server that coordinates for a time. */
	public void pauseServer(long millis) throws InterruptedException {
		this.cluster.pause(millis);
		this.lastChangeNanos = System.nanoTime();
	}

	@Override
	public void close() throws IOException {
		this.feeder.close();
		this.instances.close();
		this.cluster.close();
	}

	/** What is waited for. */
	@FunctionalInterface
	private interface Condition {

		boolean holds() throws IOException;

	}

}
