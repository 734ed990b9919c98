package io.github.shardkeeper.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.DoubleBinaryOperator;

/**
 * Repeated measurements of one figure, in order. Not thread-safe.
 */
public final class Samples {

	private final List<Double> values = new ArrayList<>();

	public void add(double value) {
		this.values.add(value);
	}

	public List<Double> values() {
		return Collections.unmodifiableList(this.values);
	}

	/** Divides figure by figure: a disturbance of a round disturbs both. */
	public Samples dividedBy(Samples other) {
		return with(other, (figure, divisor) -> figure / divisor);
	}

	/** Subtracts figure by figure. */
	public Samples minus(Samples other) {
		return with(other, (figure, subtracted) -> figure - subtracted);
	}

	private Samples with(Samples other, DoubleBinaryOperator operator) {
		if (other.values.size() != this.values.size()) {
			throw new IllegalArgumentException(this.values.size() + " figures beside " + other.values.size());
		}
		Samples results = new Samples();
		for (int i = 0; i < this.values.size(); i++) {
			results.add(operator.applyAsDouble(this.values.get(i), other.values.get(i)));
		}
		return results;
	}

	/**
	 * Returns the figure that a part of all does not exceed, not a number if there is
	 * none.
	 */
	public double quantile(double part) {
		if (this.values.isEmpty()) {
			return Double.NaN;
		}
		List<Double> sorted = this.values.stream().sorted().toList();
		double position = part * (sorted.size() - 1);
		int below = (int) position;
		int above = Math.min(below + 1, sorted.size() - 1);
		return sorted.get(below) + (position - below) * (sorted.get(above) - sorted.get(below));
	}

	public double median() {
		return quantile(0.5);
	}

	public double mean() {
		return this.values.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN);
	}

	public double lowest() {
		return quantile(0);
	}

	public double highest() {
		return quantile(1);
	}

}
