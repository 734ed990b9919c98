package io.github.shardkeeper.benchmarks.locks;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Monitor;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * Commands of two processes whose threads wait for a lock that is not unlocked. Each
 * contender has a Redis of its own, so that all can be counted at the same time. Confined
 * to its thread.
 */
final class IdleWaiters {

	/** Time until all threads wait. */
	private static final long BEGIN_SECONDS = 3;

	private final int waiters;

	private final Map<Contender, Commands> measured = new EnumMap<>(Contender.class);

	IdleWaiters(int waiters) {
		this.waiters = waiters;
	}

	/**
	 * Measures it.
	 * @param seconds the time for which commands are counted, first without those that
	 * wait, then with them
	 * @param raw receives the figures
	 */
	void measure(List<Contender> contenders, int seconds, Consumer<String> raw) throws Exception {
		Map<Contender, Group> groups = new EnumMap<>(Contender.class);
		ExecutorService counting = Executors.newCachedThreadPool();
		try {
			for (Contender contender : contenders) {
				groups.put(contender, Group.start(contender));
			}
			Map<Contender, Future<Commands>> counts = new EnumMap<>(Contender.class);
			groups.forEach((contender, group) -> counts.put(contender, counting.submit(() -> count(group, seconds))));
			for (Contender contender : contenders) {
				Commands commands = counts.get(contender).get();
				add(contender, commands);
				addRaw(contender, 0, commands.withoutWaiters(), raw);
				addRaw(contender, this.waiters, commands.withWaiters(), raw);
			}
		}
		finally {
			counting.shutdownNow();
			groups.values().forEach(Group::close);
		}
	}

	private static void addRaw(Contender contender, int waiters, double commandsPerSecond, Consumer<String> raw) {
		raw.accept(String.format(Locale.ROOT, "idle,\"%s\",%d,1,,,%.2f,,,,,%.2f", contender.text(), waiters,
				commandsPerSecond, Machine.load()));
	}

	private Commands count(Group group, int seconds) throws Exception {
		int port = group.redis().port();
		group.first().request(LockProcess.holdRequest());
		group.first().await();
		double before = sum(Monitor.watch(port, seconds)) / seconds;
		group.first().request(LockProcess.waitRequest(this.waiters / 2));
		group.second().request(LockProcess.waitRequest(this.waiters - this.waiters / 2));
		group.first().await();
		group.second().await();
		TimeUnit.SECONDS.sleep(BEGIN_SECONDS);
		Map<String, Integer> sent = Monitor.watch(port, seconds);
		return new Commands(before, sum(sent) / seconds,
				sent.entrySet()
					.stream()
					.map((command) -> String.format(Locale.ROOT, "%s %.2f", command.getKey(),
							(double) command.getValue() / seconds))
					.collect(Collectors.joining(", ")));
	}

	private static double sum(Map<String, Integer> sent) {
		return sent.values().stream().mapToInt(Integer::intValue).sum();
	}

	void add(Contender contender, Commands commands) {
		this.measured.put(contender, commands);
	}

	List<String> lines() {
		List<String> lines = new ArrayList<>(List.of("",
				"| the lock is held | commands per second, %d waiters | without waiters | which, with waiters |"
					.formatted(this.waiters),
				"|---|---:|---:|---|"));
		this.measured.forEach((contender, commands) -> lines.add(String.format(Locale.ROOT, "| %s | %.2f | %.2f | %s |",
				contender.text(), commands.withWaiters(), commands.withoutWaiters(), commands.names())));
		return lines;
	}

	void addGoals(GoalTable goals) {
		Fastest.of(this.measured, Commands::withWaiters)
			.ifPresent((fewest) -> goals.atMost(
					"%d waiters: commands per second, beside %s".formatted(this.waiters, fewest.peer().text()),
					fewest.ours(), fewest.figure()));
		Fastest.of(this.measured, Commands::added)
			.ifPresent((fewest) -> goals.atMost("%d waiters: commands per second that they add, beside %s"
				.formatted(this.waiters, fewest.peer().text()), fewest.ours(), fewest.figure()));
	}

	/**
	 * Commands per second.
	 *
	 * @param withoutWaiters of a holder and a process that does nothing
	 * @param withWaiters of the same two
	 * @param names the latter by their names
	 */
	record Commands(double withoutWaiters, double withWaiters, String names) {

		double added() {
			return this.withWaiters - this.withoutWaiters;
		}

	}

	/**
	 * Two processes and their Redis.
	 *
	 * @param contender what they use
	 * @param redis the Redis
	 * @param processes the processes
	 */
	private record Group(Contender contender, RedisProcess redis, Processes processes) {

		static Group start(Contender contender) throws Exception {
			RedisProcess redis = RedisProcess.start();
			try {
				return new Group(contender, redis, Processes.start(List.of(contender), redis));
			}
			catch (Exception ex) {
				redis.close();
				throw ex;
			}
		}

		ChildProcess first() {
			return this.processes.first(this.contender);
		}

		ChildProcess second() {
			return this.processes.second(this.contender);
		}

		void close() {
			this.processes.close();
			this.redis.close();
		}

	}

}
