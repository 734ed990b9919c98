package io.github.shardkeeper.benchmarks;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.shardkeeper.benchmarks.assignment.AssignmentBenchmarks;
import io.github.shardkeeper.benchmarks.locks.LocksBenchmark;
import io.github.shardkeeper.benchmarks.memory.MemoryBenchmark;
import io.github.shardkeeper.benchmarks.moves.HandoverBenchmark;
import io.github.shardkeeper.benchmarks.moves.LeasesBenchmark;
import io.github.shardkeeper.benchmarks.moves.RollingBenchmark;
import io.github.shardkeeper.benchmarks.scale.ScaleBenchmark;
import io.github.shardkeeper.benchmarks.startup.StartupBenchmark;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Benchmarks refuse what they do not take, and that before they start anything.
 */
class RefusedOptionsTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			handover   | tightest             | 'tightest'
			handover   | -settings=6s         | '-settings=6s'
			handover   | --settings=7s        | 6s, tightest
			handover   | --events=joins       | quiet, bystander, join,
			handover   | --events=rolling     | freeze
			handover   | --contenders=Kafak   | Kafka range;
			handover   | --rounds=0           | --rounds=5
			handover   | --kills=0            | --kills takes
			handover   | --shards=2           | from 3
			rolling    | --order=newfirst     | new-first, old-first
			rolling    | --settings=session   | default, 6s
			rolling    | --contenders=static  | Shardkeeper;
			rolling    | --instances=0        | --instances=4
			rolling    | --shards=4           | from 5
			rolling    | --rounds=-1          | --rounds=2
			leases     | --contenders=slow    | fast-failover
			leases     | --kills=0            | --kills=6
			leases     | --stalls=-1          | --stalls=8
			leases     | --shards=2           | from 3
			scale      | --parts=huge         | large, growing
			scale      | --more-shards=0      | --more-shards=900
			scale      | --members=1          | from 2
			memory     | --parts=all          | state, commits, slow
			memory     | --slow-records=many  | --slow-records=60
			locks      | --parts=contention   | uncontended, contended, idle
			locks      | --waiters=0          | --waiters=2,8,64
			locks      | --contenders=Zookeeper | Redisson RLock;
			startup    | --rounds=0           | --rounds=10
			startup    | --warm-up=-1         | from 0
			assignment | 1000                 | 1000x100000
			assignment | 10x15                | 1000x100000
			assignment | --size=10x1000       | --size
			""")
	void isRefused(String benchmark, String argument, String said) {
		assertThatExceptionOfType(RefusedOptionException.class)
			.isThrownBy(() -> benchmark(benchmark).run(Options.parse(argument)))
			.withMessageContaining(said);
	}

	private static Benchmark benchmark(String name) {
		return switch (name) {
			case "handover" -> new HandoverBenchmark();
			case "rolling" -> new RollingBenchmark();
			case "leases" -> new LeasesBenchmark();
			case "scale" -> new ScaleBenchmark();
			case "locks" -> new LocksBenchmark();
			case "memory" -> new MemoryBenchmark();
			case "startup" -> new StartupBenchmark();
			case "assignment" -> new AssignmentBenchmarks();
			default -> throw new AssertionError(name);
		};
	}

}
