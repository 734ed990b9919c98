package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class SlsSettingsTests {

	@ParameterizedTest
	@ValueSource(strings = { "cn-hangzhou.log.aliyuncs.com", "https://cn-hangzhou.log.aliyuncs.com",
			"http://cn-hangzhou-intranet.log.aliyuncs.com/" })
	void endpointIsAHost(String endpoint) {
		assertThat(settings(endpoint, 100, null).url()).startsWith(endpoint.startsWith("http:") ? "http:" : "https:");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "https://id:hidden@cn-hangzhou.log.aliyuncs.com", "ftp://host", "host:8080",
			"host/path", "host?id=hidden" })
	void otherEndpointIsRefusedWithoutItsText(String endpoint) {
		assertThatIllegalArgumentException().isThrownBy(() -> settings(endpoint, 100, null))
			.withMessageContaining("'shardkeeper.sls.endpoint' is not valid")
			.withMessageContaining("credentials")
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("hidden"));
	}

	@Test
	void limitsAreChecked() {
		assertThatIllegalArgumentException().isThrownBy(() -> settings("host", 0, null)).withMessageContaining("1,000");
		assertThatIllegalArgumentException().isThrownBy(() -> settings("host", 1001, null));
		assertThatIllegalArgumentException().isThrownBy(() -> settings("host", 1, "http://proxy:80"))
			.withMessageContaining("'shardkeeper.sls.proxy' is not valid: it is 'host:port'");
		assertThatIllegalArgumentException().isThrownBy(() -> settings("host", 1, "proxy:65536"));
		assertThatIllegalArgumentException().isThrownBy(() -> settings("host", 1, "u:hidden@proxy:80"))
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("hidden"));
	}

	private static SlsSettings settings(String endpoint, int fetchCount, String proxy) {
		return new SlsSettings(endpoint, "shop", Map.of(), Duration.ofMillis(500), Duration.ofSeconds(10), fetchCount,
				4, Duration.ofSeconds(10), null, proxy, null);
	}

}
