package io.github.shardkeeper.benchmarks.locks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * Two processes of each contender at one Redis, for all rounds; one if its threads cannot
 * wait. Confined to its thread.
 */
final class Processes implements AutoCloseable {

	private final Map<Contender, List<ChildProcess>> processes = new EnumMap<>(Contender.class);

	/** Starts them, one after the other. */
	static Processes start(List<Contender> contenders, RedisProcess redis) throws IOException, InterruptedException {
		Processes all = new Processes();
		try {
			for (Contender contender : contenders) {
				List<ChildProcess> both = new ArrayList<>();
				all.processes.put(contender, both);
				for (int i = 0; i < (contender.waits() ? 2 : 1); i++) {
					ChildProcess process = contender.start(redis);
					both.add(process);
					// The first figures are those of an uncontended lock.
					process.await();
					process.await();
				}
			}
			return all;
		}
		catch (IOException | InterruptedException | RuntimeException ex) {
			all.close();
			throw ex;
		}
	}

	ChildProcess first(Contender contender) {
		return this.processes.get(contender).get(0);
	}

	ChildProcess second(Contender contender) {
		return this.processes.get(contender).get(1);
	}

	/**
	 * Lets contenders take turns, in every second round in the reverse order.
	 * @param warmUp rounds before those that count
	 * @param rounds rounds that count
	 * @param turn gets the round, 0 or less for one that does not count
	 */
	static void alternate(List<Contender> contenders, int warmUp, int rounds, Turn turn) throws Exception {
		List<Contender> order = new ArrayList<>(contenders);
		for (int round = 1 - warmUp; round <= rounds; round++) {
			for (Contender contender : order) {
				turn.take(contender, round);
			}
			Collections.reverse(order);
		}
	}

	@Override
	public void close() {
		// Those that hold a lock last.
		this.processes.values().forEach((both) -> {
			Collections.reverse(both);
			both.forEach(ChildProcess::close);
		});
	}

	/** A measurement of one contender. */
	interface Turn {

		void take(Contender contender, int round) throws Exception;

	}

}
