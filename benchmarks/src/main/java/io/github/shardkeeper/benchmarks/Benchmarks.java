package io.github.shardkeeper.benchmarks;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.shardkeeper.benchmarks.footprint.IdleBenchmark;
import io.github.shardkeeper.benchmarks.footprint.StartupBenchmark;
import io.github.shardkeeper.benchmarks.locks.LocksBenchmark;
import io.github.shardkeeper.benchmarks.moves.HandoverBenchmark;
import io.github.shardkeeper.benchmarks.moves.RollingBenchmark;
import io.github.shardkeeper.benchmarks.records.ConsumingBenchmark;
import io.github.shardkeeper.benchmarks.records.CountingBenchmark;
import io.github.shardkeeper.benchmarks.records.LatencyBenchmark;
import io.github.shardkeeper.benchmarks.records.SendingBenchmark;
import io.github.shardkeeper.benchmarks.records.TransactionsBenchmark;
import io.github.shardkeeper.benchmarks.scale.ScaleBenchmark;
import io.github.shardkeeper.benchmarks.state.StateBenchmark;
import io.github.shardkeeper.benchmarks.state.StateMovesBenchmark;
import io.github.shardkeeper.benchmarks.timers.TimersBenchmark;

/**
 * Runs the benchmark whose name is the first argument; without one, lists them all.
 */
public final class Benchmarks {

	/** In the order of the page of results. */
	static final Map<String, Benchmark> ALL = new LinkedHashMap<>();

	static {
		ALL.put("handover", new HandoverBenchmark());
		ALL.put("rolling", new RollingBenchmark());
		ALL.put("consuming", new ConsumingBenchmark());
		ALL.put("counting", new CountingBenchmark());
		ALL.put("latency", new LatencyBenchmark());
		ALL.put("sending", new SendingBenchmark());
		ALL.put("transactions", new TransactionsBenchmark());
		ALL.put("state", new StateBenchmark());
		ALL.put("state-moves", new StateMovesBenchmark());
		ALL.put("timers", new TimersBenchmark());
		ALL.put("scale", new ScaleBenchmark());
		ALL.put("idle", new IdleBenchmark());
		ALL.put("startup", new StartupBenchmark());
		ALL.put("locks", new LocksBenchmark());
	}

	private Benchmarks() {
	}

	public static void main(String[] arguments) throws Exception {
		Benchmark benchmark = (arguments.length > 0) ? ALL.get(arguments[0]) : null;
		if (benchmark == null) {
			System.out.println("java -jar shardkeeper-benchmarks.jar <name> [options], where <name> is one of");
			ALL.forEach((name, listed) -> System.out.printf("%n  %-12s%s%n", name,
					listed.description().indent(14).strip()));
			System.exit((arguments.length > 0) ? 1 : 0);
		}
		else {
			try {
				benchmark.run(Options.parse(Arrays.copyOfRange(arguments, 1, arguments.length)));
			}
			catch (RefusedOptionException ex) {
				System.err.println(arguments[0] + ": " + ex.getMessage());
				System.exit(1);
			}
			catch (Throwable ex) {
				// Not left to the JVM, which would wait for those threads.
				ex.printStackTrace();
				System.exit(1);
			}
			// Contenders may have left threads behind.
			System.exit(0);
		}
	}

}
