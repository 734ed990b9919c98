package io.github.shardkeeper.shard;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class ApplicationVersionTests {

	@Test
	void versionsAreOrderedByAge() {
		List<String> ordered = List.of("blue", "0.9", "1.0-M2", "1.0-RC2", "1.0-rc10", "1.0-SNAPSHOT", "1.0",
				"1.0-1-abc", "1.0.1", "v1.0.2-4-g24a", "v1.0.2-14-g11f", "1.9", "1.10", "1.10.0.1", "2", "20261121.1",
				"99999999999999999999999");

		for (int i = 0; i < ordered.size(); i++) {
			for (int j = 0; j < ordered.size(); j++) {
				assertThat(Integer.signum(compare(ordered.get(i), ordered.get(j))))
					.as("%s compared to %s", ordered.get(i), ordered.get(j))
					.isEqualTo(Integer.compare(i, j));
			}
		}
	}

	@ParameterizedTest
	@CsvSource({ "1.0, 1", "1.0, v1.0.0", "1.0-RC1, 1.0.rc-1", "1.0, 01.0", "'', blue", "3f2a9c0, b81e2d4",
			"'', 3f2a9c0", "vNext, v", "1.0-1, 1.0.1", "1.0+-., 1.0" })
	void differentVersionsCanHaveTheSameAge(String one, String other) {
		assertThat(compare(one, other)).isZero();
		assertThat(compare(other, one)).isZero();
	}

	private static int compare(String one, String other) {
		return new ApplicationVersion(one).compareTo(new ApplicationVersion(other));
	}

}
