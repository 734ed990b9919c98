package io.github.shardkeeper.testsupport;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Lets Awaitility wait longer than its 10 seconds for what must happen, which a busy
 * machine may need, and notice it earlier than after its 100 milliseconds. In the proof,
 * where tests measure and load the machine, it looks as rarely as it does by itself.
 * JUnit finds this in every module with the test fixtures of this one.
 */
public final class PatientAwaits implements BeforeAllCallback {

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultTimeout(Duration.ofMinutes(1));
		if (!Schedules.inProof()) {
			Awaitility.setDefaultPollDelay(Duration.ZERO);
			Awaitility.setDefaultPollInterval(Duration.ofMillis(15));
		}
	}

}
