package io.github.shardkeeper.benchmarks.timers;

import java.time.Instant;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Each timer of every contender fires once, and not early.
 */
class TimersBenchmarkTests {

	@ParameterizedTest
	@EnumSource
	void everyContenderIsMeasured(Scheduler contender) throws Exception {
		// A contender that loses or repeats a timer, or is early, ends the run.
		Map<String, Double> figures = TimersBenchmark.measure(contender, new TimersBenchmark.Sizes(2, 300, 100, 1));

		assertThat(figures.get(TimersBenchmark.SET)).isPositive();
		assertThat(figures.get(TimersBenchmark.FIRED)).isPositive();
		assertThat(figures.get(TimersBenchmark.LATENESS)).isNotNegative()
			.isLessThanOrEqualTo(figures.get(TimersBenchmark.LATENESS_P99));
	}

	@Test
	void timerThatFiresEarlyOrTwiceFails() {
		Alarms early = new Alarms();
		early.begin(1, Instant::now);
		early.fired(0, Instant.now().plusSeconds(60));
		Alarms twice = new Alarms();
		twice.begin(1, Instant::now);
		twice.fired(0, Instant.EPOCH);
		twice.fired(0, Instant.EPOCH);

		assertThatIllegalStateException().isThrownBy(early::verify).withMessageContaining("1 of them early");
		assertThatIllegalStateException().isThrownBy(twice::verify).withMessageContaining("1 more than once");
	}

	@Test
	void timerThatDoesNotFireOrIsNotToFireFails() {
		Alarms lost = new Alarms();
		lost.begin(1, Instant::now);
		Alarms tooMany = new Alarms();
		tooMany.beginSetting(1, Instant::now);
		tooMany.fired(0, Instant.EPOCH);

		assertThatIllegalStateException().isThrownBy(lost::verify).withMessageContaining("0 of 1 timers fired");
		assertThatIllegalStateException().isThrownBy(tooMany::verify).withMessageContaining("1 of 0 timers fired");
	}

	@Test
	void latenessCountsFromTheTimeThatWasDue() {
		Alarms alarms = new Alarms();
		alarms.begin(1, Instant::now);
		alarms.fired(0, Instant.now().minusSeconds(2));

		assertThat(alarms.latenessMillis(0, 1).median()).isGreaterThanOrEqualTo(2000);
	}

}
