package io.github.shardkeeper.coordination.member;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/** A store that replies heartbeats and refuses something else. */
@CapturesOutput
class StoreAvailabilityTests {

	private final StoreAvailability problem = new StoreAvailability("g", Duration.ofSeconds(3));

	private MonotonicTime now = new MonotonicTime(1_000_000_000_000L);

	@Test
	void repeatedFailuresBetweenHeartbeatsAreOneOutage(CapturedOutput output) {
		for (int beat = 0; beat < 20; beat++) {
			this.problem.stepFailed(failure("no plan"), pass(Duration.ofMillis(250)));
			this.problem.answered(pass(Duration.ofMillis(250)));
		}
		assertThat(output.getOut()).containsOnlyOnce("The store of group 'g' cannot be used; retrying. no plan")
			.doesNotContain("replies again");
		assertThat(this.problem.text()).isEqualTo("no plan");
		assertThat(this.problem.lasting(this.now)).contains("no plan");

		this.problem.answered(pass(Duration.ofSeconds(2)));

		assertThat(output).contains("The store replies again");
		assertThat(this.problem.text()).isNull();
		assertThat(this.problem.lasting(this.now)).isEmpty();
	}

	/** A third of the lease, the longest time to wait for replicas. */
	@Test
	@Promise("Automatic recovery")
	void slowStepCountsAsFailingBetweenTwoFailures() {
		StoreAvailability patient = new StoreAvailability("g", Duration.ofSeconds(10));
		for (int attempt = 0; attempt < 5; attempt++) {
			patient.stepFailed(failure("too few replicas"), pass(Duration.ofMillis(3600)));
		}
		for (int beat = 0; beat < 7; beat++) {
			patient.answered(pass(Duration.ofMillis(500)));
			assertThat(patient.lasting(this.now)).contains("too few replicas");
		}
		patient.answered(pass(Duration.ofSeconds(1)));

		assertThat(patient.lasting(this.now)).isEmpty();
	}

	@Test
	void singleFailureIsNotLasting() {
		StoreAvailability patient = new StoreAvailability("g", Duration.ofSeconds(60));
		patient.stepFailed(failure("too few replicas"), pass(Duration.ofSeconds(1)));

		assertThat(patient.lasting(pass(Duration.ofSeconds(10)))).isEmpty();
	}

	@Test
	void shortFailureIsNotLasting() {
		this.problem.stepFailed(failure("no plan"), pass(Duration.ofSeconds(1)));
		this.problem.stepFailed(failure("no plan"), pass(Duration.ofSeconds(4)));

		assertThat(this.problem.lasting(this.now)).isEmpty();
	}

	@Test
	void completeOutageEndsWithTheFirstHeartbeat(CapturedOutput output) {
		this.problem.unavailable(failure("away"), this.now);
		this.problem.unavailable(failure("away"), this.now);
		this.problem.answered(pass(Duration.ofMillis(1)));

		assertThat(output.getOut()).containsOnlyOnce("cannot be used; retrying. away").contains("replies again");
	}

	@Test
	void eachCauseOfAnOutageIsLoggedOnce(CapturedOutput output) {
		for (int attempt = 0; attempt < 20; attempt++) {
			this.problem.unavailable(failure("refused"), this.now);
			this.problem.unavailable(failure("wrong password"), this.now);
			this.problem.misconfigured("too old");
		}
		assertThat(output.getOut()).containsOnlyOnce("refused")
			.containsOnlyOnce("still cannot be used, for another reason. wrong password")
			.containsOnlyOnce("too old");

		this.problem.answered(pass(Duration.ofMillis(1)));
		this.problem.answered(pass(Duration.ofMillis(1)));
		this.problem.unavailable(failure("refused"), this.now);

		assertThat(output.getOut()).containsOnlyOnce("replies again").containsOnlyOnce("wrong password");
		assertThat(output.getOut().lines().filter((line) -> line.contains("refused"))).hasSize(2);
	}

	@Test
	void lastingRefusalNeedsAPerson() {
		this.problem.unavailable(refusal(), this.now);
		assertThat(this.problem.refusesMember(pass(Duration.ofSeconds(5)))).isFalse();
		this.problem.unavailable(refusal(), this.now);
		assertThat(this.problem.refusesMember(pass(Duration.ofMillis(1)))).isTrue();

		// Nobody replies: it may be a failover.
		this.problem.unavailable(failure("away"), this.now);
		assertThat(this.problem.refusesMember(this.now)).isFalse();

		this.problem.unavailable(refusal(), this.now);
		this.problem.answered(this.now);
		assertThat(this.problem.refusesMember(pass(Duration.ofSeconds(6)))).isFalse();
	}

	@Test
	void settingsThatDoNotFitTheGroupNeedAPersonAtOnce() {
		this.problem.misconfigured("too old");
		assertThat(this.problem.refusesMember(this.now)).isTrue();

		this.problem.answered(this.now);
		assertThat(this.problem.refusesMember(this.now)).isFalse();
	}

	private MonotonicTime pass(Duration time) {
		this.now = this.now.plus(time);
		return this.now;
	}

	private static StoreUnavailableException refusal() {
		return new StoreUnavailableException("NOPERM", new IllegalStateException(), true);
	}

	private static StoreUnavailableException failure(String message) {
		return new StoreUnavailableException(message, new IllegalStateException());
	}

}
