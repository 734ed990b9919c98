package io.github.shardkeeper.time;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class LeaseTests {

	private static final Duration LENGTH = Duration.ofSeconds(10);

	/** Close to where the clock overflows. */
	private static final MonotonicTime START = new MonotonicTime(Long.MAX_VALUE - 1_000);

	private final Lease lease = new Lease(LENGTH, START);

	@Test
	void leaseIsNotHeldBeforeAnAnsweredHeartbeat() {
		assertThat(this.lease.isHeld(START)).isFalse();
		assertThat(this.lease.permitsHandOut(START)).isFalse();
		assertThat(this.lease.endsAt()).isEqualTo(START);
	}

	@Test
	@Promise("One consumer")
	void leaseEndsATenthBeforeItsEndInTheStore() {
		this.lease.renew(START, START);

		assertThat(this.lease.isHeld(after(Duration.ofSeconds(9).minusNanos(1)))).isTrue();
		assertThat(this.lease.isHeld(after(Duration.ofSeconds(9)))).isFalse();
		assertThat(this.lease.endsAt()).isEqualTo(after(Duration.ofSeconds(9)));
	}

	@Test
	void noRecordIsHandedOutInTheLastTenthOfTheLease() {
		this.lease.renew(START, START);

		assertThat(this.lease.permitsHandOut(after(Duration.ofSeconds(8).minusNanos(1)))).isTrue();
		assertThat(this.lease.permitsHandOut(after(Duration.ofSeconds(8)))).isFalse();
	}

	@Test
	void leaseCountsFromTheSendingOfTheHeartbeat() {
		this.lease.renew(START, START);
		this.lease.renew(after(Duration.ofSeconds(3)), after(Duration.ofSeconds(4)));

		assertThat(this.lease.endsAt()).isEqualTo(after(Duration.ofSeconds(12)));
	}

	@Test
	void lateAnswerRenewsNothing() {
		this.lease.renew(START, START);

		assertThat(this.lease.isHeld(after(LENGTH))).isFalse();
	}

	@Test
	void leaseEndsWithItsSession() {
		this.lease.renew(START, START);
		this.lease.end();

		assertThat(this.lease.isHeld(START)).isFalse();
		assertThat(this.lease.permitsHandOut(START)).isFalse();

		this.lease.renew(START, START);
		assertThat(this.lease.isHeld(START)).isTrue();
	}

	@Test
	void leaseIsHeldSinceTheFirstRenewalAfterItsEnd() {
		this.lease.renew(START, after(Duration.ofSeconds(1)));
		assertThat(this.lease.heldSince()).isEqualTo(after(Duration.ofSeconds(1)));
		this.lease.renew(after(Duration.ofSeconds(8)), after(Duration.ofSeconds(9).minusNanos(1)));
		assertThat(this.lease.heldSince()).isEqualTo(after(Duration.ofSeconds(1)));
		this.lease.renew(after(Duration.ofSeconds(16)), after(Duration.ofSeconds(17)));
		assertThat(this.lease.heldSince()).isEqualTo(after(Duration.ofSeconds(17)));
		this.lease.end();
		this.lease.renew(after(Duration.ofSeconds(18)), after(Duration.ofSeconds(19)));
		assertThat(this.lease.heldSince()).isEqualTo(after(Duration.ofSeconds(19)));
	}

	private static MonotonicTime after(Duration duration) {
		return START.plus(duration);
	}

	@Test
	void unlimitedLeaseIsAlwaysHeld() {
		Lease unlimited = Lease.unlimited();

		for (long nanos : new long[] { Long.MIN_VALUE, -1, 0, 1, Long.MAX_VALUE }) {
			assertThat(unlimited.permitsHandOut(new MonotonicTime(nanos))).isTrue();
			assertThat(unlimited.isHeld(new MonotonicTime(nanos))).isTrue();
		}
		assertThat(unlimited.isEnded()).isFalse();
		assertThatIllegalStateException().isThrownBy(unlimited::end);
		assertThatIllegalStateException().isThrownBy(() -> unlimited.renew(new MonotonicTime(0), new MonotonicTime(0)));
	}

}
