package io.github.shardkeeper.sls;

import java.time.Duration;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class RetryPauseTests {

	@ParameterizedTest
	@CsvSource({ "1,1000", "2,2000", "3,4000", "4,8000", "5,10000", "6,10000", "2147483647,10000" })
	void pauseDoublesToTheLongest(int failures, long longestMillis) {
		assertThat(RetryPause.after(failures, Duration.ofSeconds(1), Duration.ofSeconds(10)))
			.isBetween(Duration.ofMillis(longestMillis / 2), Duration.ofMillis(longestMillis));
	}

	@RepeatedTest(10)
	void pauseIsNotLongerThanTheLongest() {
		assertThat(RetryPause.after(1, Duration.ofSeconds(1), Duration.ofMillis(100))).isBetween(Duration.ofMillis(50),
				Duration.ofMillis(100));
	}

}
