package io.github.shardkeeper.benchmarks.assignment;

import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The time of one plan of a whole group.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 7, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = { "-Xms3g", "-Xmx3g" })
public class AssignmentBenchmark {

	/** Members and shards. */
	@Param({ "10x1000", "100x10000", "1000x100000", "2000x1000000" })
	public String size;

	/** Event of the group. */
	@Param({ Scenario.FRESH, Scenario.LEFT, Scenario.JOINED })
	public String event;

	/** Planner. */
	@Param({ "Shardkeeper: sticky", Contender.UNIFORM, "Kafka client: cooperative-sticky", "Kafka client: range",
			"Kafka client: round-robin" })
	public String contender;

	private Contender planner;

	@Setup(Level.Trial)
	public void prepare() {
		this.planner = Contender.of(this.contender, Scenario.of(this.size, this.event, this.contender));
	}

	@Benchmark
	public Object plan() {
		return this.planner.plan();
	}

}
