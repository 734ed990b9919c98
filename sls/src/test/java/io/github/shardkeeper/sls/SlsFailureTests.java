package io.github.shardkeeper.sls;

import java.io.EOFException;
import java.time.Duration;
import java.util.Map;

import com.aliyun.openservices.log.exception.LogException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SlsFailureTests {

	private static final SlsSettings SETTINGS = new SlsSettings("cn-test.log.example.com", "shop", Map.of(),
			Duration.ofMillis(500), Duration.ofSeconds(10), 100, 4, Duration.ofSeconds(10), null, null, null);

	/**
	 * The connection was there when the reply began, so the client does not call it a
	 * failed request.
	 */
	@Test
	void answerThatBreaksOffIsNoRefusal() {
		SlsFailure failure = SlsFailure.of("read visits/0", new LogException("BadResponse",
				"Io exception happened when parse the response data : ", new EOFException("Premature end"), "R8"),
				SETTINGS);

		assertThat(failure.kind()).isEqualTo(SlsFailure.Kind.NO_ANSWER);
		assertThat(failure).hasMessage(
				"SLS at cn-test.log.example.com did not reply to the request to read visits/0: the reply broke off");
	}

	@Test
	void connectionThatFailsIsExplainedByTheClient() {
		SlsFailure failure = SlsFailure.of("read visits/0", new LogException("RequestError",
				"Web request failed: connection refused\nmore", new EOFException("refused"), ""), SETTINGS);

		assertThat(failure.kind()).isEqualTo(SlsFailure.Kind.NO_ANSWER);
		assertThat(failure).hasMessageEndingWith("read visits/0: Web request failed: connection refused");
	}

	@Test
	void answerThatCannotBeReadIsAFailureOfTheService() {
		SlsFailure failure = SlsFailure.of("read visits/0",
				new LogException("BadResponse", "The response is not valid json string", "R8"), SETTINGS);

		assertThat(failure.kind()).isEqualTo(SlsFailure.Kind.SERVER);
	}

}
