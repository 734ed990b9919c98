package io.github.shardkeeper.text;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class NearestNameTests {

	private static final List<String> KNOWN = List.of("orders", "mails", "visits-eu", "visits-us");

	@ParameterizedTest
	@CsvSource({ "oders,orders", "ordres,orders", "order,orders", "mail,mails", "visit-eu,visits-eu",
			"visit-us,visits-us" })
	void typingErrorIsNearItsName(String wrong, String meant) {
		assertThat(NearestName.of(wrong, KNOWN)).isEqualTo(meant);
		assertThat(NearestName.question(wrong, KNOWN)).isEqualTo(" Did you mean '%s'?", meant);
	}

	@ParameterizedTest
	@CsvSource({ "users", "parcels", "x" })
	void otherNameIsNearNone(String other) {
		assertThat(NearestName.of(other, KNOWN)).isNull();
		assertThat(NearestName.question(other, KNOWN)).isEmpty();
	}

	@Test
	void nothingIsNearWithoutNames() {
		assertThat(NearestName.of("orders", List.of())).isNull();
	}

}
