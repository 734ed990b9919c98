package io.github.shardkeeper.benchmarks;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Figures in tables.
 */
class TableTests {

	@Test
	void smallNumbersHaveMoreDigits() {
		assertThat(new Table("a", "b").row("x", 12_345.6, 25.24, 0.8449, 25.0, Double.NaN, 7).lines())
			.containsExactly("", "| a | b |", "|---|---:|", "| x | 12,346 | 25.2 | 0.84 | 25 | – | 7 |");
	}

	@Test
	void samplesAreShownWithTheirSpread() {
		Samples one = new Samples();
		one.add(3.5);
		Samples three = new Samples();
		List.of(300.0, 1.5, 20.0).forEach(three::add);

		assertThat(new Table("a").row("x", List.of(one, three, new Samples())).lines())
			.endsWith("| x | 3.50 | 20 (1.50-300) | – |");
		assertThat(Table.quantiles(three)).isEqualTo("20 / 294 / 300");
		assertThat(Table.quantiles(new Samples())).isEqualTo("–");
	}

}
