package io.github.shardkeeper.time;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BackoffTests {

	private final Backoff backoff = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(5));

	@Test
	void pausesDoubleUpToTheLongest() {
		assertThat(this.backoff.next()).hasSeconds(1);
		assertThat(this.backoff.next()).hasSeconds(2);
		assertThat(this.backoff.next()).hasSeconds(4);
		assertThat(this.backoff.next()).hasSeconds(5);
		assertThat(this.backoff.next()).hasSeconds(5);
	}

	@Test
	void pausesBeginAgainAfterASuccess() {
		this.backoff.next();
		this.backoff.next();
		this.backoff.reset();
		assertThat(this.backoff.next()).hasSeconds(1);
		assertThat(this.backoff.next()).hasSeconds(2);
	}

}
