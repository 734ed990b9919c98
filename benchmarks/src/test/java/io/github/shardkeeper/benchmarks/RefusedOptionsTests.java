package io.github.shardkeeper.benchmarks;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Benchmarks refuse what they do not take, and that before they start anything.
 */
class RefusedOptionsTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			handover     | tightest             | 'tightest'
			handover     | -settings=6s         | '-settings=6s'
			handover     | --settings=7s        | default, tightest
			handover     | --events=joins       | quiet, join,
			handover     | --events=rolling     | freeze
			handover     | --contenders=Kafak   | Kafka range;
			handover     | --rounds=0           | --rounds=5
			handover     | --kills=0            | --kills takes
			handover     | --shards=2           | from 3
			rolling      | --order=newfirst     | new-first, old-first
			rolling      | --settings=session   | default, tightest
			rolling      | --contenders=static  | Shardkeeper;
			rolling      | --instances=0        | --instances=4
			rolling      | --shards=4           | from 5
			rolling      | --rounds=-1          | --rounds=2
			consuming    | --source=sls         | redis, kafka
			counting     | --keys=7             | from 8
			counting     | --contenders=Flink   | Kafka Streams, exactly_once_v2
			latency      | --instances=3        | --rate
			sending      | --records=1          | from 20
			transactions | --fsync=yes          | off, on
			state        | --entries=0          | --entries=1,100000
			state-moves  | --entries=0          | --entries=10,100000
			timers       | --rate=0             | --rate=1000
			timers       | --contenders=Quartz  | Redisson RDelayedQueue
			scale        | --members=1          | from 2
			idle         | --seconds=0          | from 1
			startup      | --rounds=0           | --rounds=10
			startup      | --warm-up=-1         | from 0
			locks        | --waiters=0          | --waiters=2,8,64
			locks        | --contenders=Zookeeper | Redisson RLock;
			""")
	void isRefused(String benchmark, String argument, String said) {
		assertThatExceptionOfType(RefusedOptionException.class)
			.isThrownBy(() -> Benchmarks.ALL.get(benchmark).run(Options.parse(argument)))
			.withMessageContaining(said);
	}

}
