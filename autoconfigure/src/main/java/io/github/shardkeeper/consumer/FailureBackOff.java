package io.github.shardkeeper.consumer;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * The pauses between attempts at one record: they double from 200 ms to 30 s, without
 * end. Confined to a worker.
 */
final class FailureBackOff {

	private static final ExponentialBackOff BACK_OFF = new ExponentialBackOff(200, 2);

	private @Nullable BackOffExecution execution;

	Duration next() {
		if (this.execution == null) {
			this.execution = BACK_OFF.start();
		}
		return Duration.ofMillis(this.execution.nextBackOff());
	}

	void reset() {
		this.execution = null;
	}

}
