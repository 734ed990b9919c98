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

	/**
	 * Adds a figure.
	 * @param value the figure
	 */
	public void add(double value) {
		this.values.add(value);
	}

	/**
	 * Returns all figures.
	 * @return an unmodifiable view
	 */
	public List<Double> values() {
		return Collections.unmodifiableList(this.values);
	}

	/**
	 * Divides figure by figure: a disturbance of a round disturbs both.
	 * @param other the divisors, as many figures
	 * @return the quotients
	 */
	public Samples dividedBy(Samples other) {
		return with(other, (figure, divisor) -> figure / divisor);
	}

	/**
	 * Subtracts figure by figure.
	 * @param other what is subtracted, as many figures
	 * @return the differences
	 */
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
	 * Returns the figure that a part of all does not exceed.
	 * @param part 0.5 for the median
	 * @return the figure; not a number if nothing was measured
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

	/**
	 * Returns the mean of all figures.
	 * @return the figure; not a number if nothing was measured
	 */
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
