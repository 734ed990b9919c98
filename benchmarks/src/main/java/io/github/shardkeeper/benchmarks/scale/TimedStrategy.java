package io.github.shardkeeper.benchmarks.scale;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * Measures the computations of leaders. Thread-safe.
 */
final class TimedStrategy implements AssignmentStrategy {

	private final AssignmentStrategy strategy;

	private Samples millis = new Samples();

	TimedStrategy(AssignmentStrategy strategy) {
		this.strategy = strategy;
	}

	@Override
	public Assignment assign(AssignmentRequest request) {
		long begun = System.nanoTime();
		Assignment answer = this.strategy.assign(request);
		took((System.nanoTime() - begun) / 1e6);
		return answer;
	}

	private synchronized void took(double some) {
		this.millis.add(some);
	}

	/** Returns the times since the last call of this method. */
	synchronized Samples takeMillis() {
		Samples taken = this.millis;
		this.millis = new Samples();
		return taken;
	}

}
