package io.github.shardkeeper.benchmarks;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Statistics of figures.
 */
class SamplesTests {

	@Test
	void medianIsTheMiddleFigure() {
		assertThat(samples(30, 10, 20).median()).isEqualTo(20);
	}

	@Test
	void medianOfAnEvenNumberIsBetweenTheTwoInTheMiddle() {
		assertThat(samples(40, 10, 30, 20).median()).isEqualTo(25);
	}

	@Test
	void quantileIsInterpolated() {
		Samples samples = samples(100, 0, 200, 300, 400);

		assertThat(samples.quantile(0.75)).isEqualTo(300);
		assertThat(samples.quantile(0.99)).isEqualTo(396);
		assertThat(samples.quantile(0.1)).isEqualTo(40);
	}

	@Test
	void lowestAndHighestAreNotInterpolated() {
		Samples samples = samples(30, -10, 20);

		assertThat(samples.lowest()).isEqualTo(-10);
		assertThat(samples.highest()).isEqualTo(30);
	}

	@Test
	void oneFigureIsEveryQuantile() {
		assertThat(samples(7).lowest()).isEqualTo(7);
		assertThat(samples(7).quantile(0.99)).isEqualTo(7);
		assertThat(samples(7).highest()).isEqualTo(7);
	}

	@Test
	void figuresAreDividedAndSubtractedRoundByRound() {
		assertThat(samples(30, 10).dividedBy(samples(10, 20)).values()).containsExactly(3.0, 0.5);
		assertThat(samples(30, 10).minus(samples(10, 20)).values()).containsExactly(20.0, -10.0);
		assertThatIllegalArgumentException().isThrownBy(() -> samples(1, 2).minus(samples(1)));
	}

	@Test
	void nothingHasNoMedian() {
		assertThat(samples().median()).isNaN();
		assertThat(samples().highest()).isNaN();
	}

	@Test
	void figuresStayInTheirOrder() {
		Samples samples = samples(30, 10, 20);

		samples.median();
		assertThat(samples.values()).containsExactly(30.0, 10.0, 20.0);
	}

	@Test
	void eachFigureIsDividedByItsCounterpart() {
		// The quotient of the medians would be 2.
		Samples quotients = samples(20, 10, 90).dividedBy(samples(10, 20, 9));

		assertThat(quotients.values()).containsExactly(2.0, 0.5, 10.0);
	}

	@Test
	void figuresWithoutCounterpartsAreNotDivided() {
		assertThatIllegalArgumentException().isThrownBy(() -> samples(1, 2).dividedBy(samples(1)))
			.withMessage("2 figures beside 1");
	}

	private static Samples samples(double... values) {
		Samples samples = new Samples();
		for (double value : values) {
			samples.add(value);
		}
		return samples;
	}

}
