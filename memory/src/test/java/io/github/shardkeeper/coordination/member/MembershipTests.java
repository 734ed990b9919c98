package io.github.shardkeeper.coordination.member;

import java.time.Duration;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.StoreUnavailableException.StoreFullException;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore.Hearing;
import io.github.shardkeeper.coordination.store.ForwardingStore;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A lost subscription that cannot be reopened. */
@CapturesOutput
@Promise("Automatic recovery")
class MembershipTests {

	private static final Duration HANGING = Duration.ofSeconds(1);

	private final Map<String, TopicShards> topics = Map.of("orders", TopicShards.count(4));

	private final SettableClock clock = new SettableClock();

	private final HangingStore store = new HangingStore();

	private final Membership membership = membership();

	@Test
	void hangingConnectionsLeaveTheCoordinatorTimeForOtherWork() {
		begin();
		this.store.attempts = 0;
		this.store.hanging = true;
		hearAnswers();

		assertThat(this.store.attempts).as("in 10 s and those that they took themselves").isBetween(2, 4);
		this.store.hanging = false;
		this.clock.advance(HANGING.multipliedBy(4));
		this.membership.keepSubscribed(true, this.clock.now());
		assertThat(this.store.subscription.isOpen()).isTrue();
	}

	@Test
	void refusedConnectionsAreRetriedWithEveryAnswer() {
		begin();
		this.store.attempts = 0;
		this.store.refusing = true;
		hearAnswers();

		assertThat(this.store.attempts).isEqualTo(20);
	}

	@Test
	void hiddenSubscriptionIsReportedOnceAndRetriedWithBackoff(CapturedOutput output) {
		begin();
		answerWithoutSubscribers(Duration.ofSeconds(10));
		int attempts = this.store.attempts;
		assertThat(attempts).isBetween(4, 8);
		assertThat(this.store.described.subscriptionHidden()).isTrue();
		assertThat(this.membership.subscriptionProblem()).contains("does not see", "'shardkeeper.session.timeout'",
				"15000 ms", "3000 ms");

		answerWithoutSubscribers(Duration.ofHours(1));

		assertThat(this.store.attempts - attempts).isBetween(55, 70);
		assertThat(this.store.descriptions).isEqualTo(1);
		assertThat(output.getOut()).containsOnlyOnce("does not see the subscription")
			.containsOnlyOnce("does not see them");

		this.membership.keepSubscribed(true, this.clock.now());
		this.membership.describe(this.topics);
		assertThat(this.store.described.subscriptionHidden()).isFalse();
		assertThat(this.membership.subscriptionProblem()).isNull();
		assertThat(output.getOut()).containsOnlyOnce("sees the subscription of");
	}

	/** The store sees it, and a message to itself does not arrive. */
	@Test
	void deafSubscriptionIsReportedOnceAndRetriedWithBackoff(CapturedOutput output) {
		begin();
		this.membership.keepSubscribed(true, this.clock.now());
		this.store.attempts = 0;
		this.store.hearing = Hearing.DEAF;

		this.store.subscription.hearing = Hearing.DEAF;
		this.membership.keepSubscribed(true, this.clock.now().plus(Duration.ofMillis(1)));
		hearAnswers();
		assertThat(this.store.attempts).isBetween(3, 6);
		assertThat(this.membership.subscriptionProblem()).contains("No message arrives", "next heartbeat");
		this.store.attempts = 0;
		for (int minute = 0; minute < 60; minute++) {
			for (int reply = 0; reply < 120; reply++) {
				this.membership.keepSubscribed(true, this.clock.now());
				this.clock.advance(Duration.ofMillis(500));
			}
		}
		assertThat(this.store.attempts).as("in an hour").isBetween(55, 70);
		assertThat(output.getOut()).containsOnlyOnce("No message arrives on the subscription of")
			.containsOnlyOnce("No message arrives on this instance's subscriptions");

		this.store.subscription.hearing = Hearing.UNKNOWN;
		this.membership.keepSubscribed(true, this.clock.now());
		assertThat(this.membership.subscriptionProblem()).isNotNull();
		this.store.subscription.hearing = Hearing.HEARS;
		this.membership.keepSubscribed(true, this.clock.now());
		assertThat(this.membership.subscriptionProblem()).isNull();
	}

	/** It is subscribed at once when one is lost that had stood for long. */
	@Test
	void repeatedlyLostSubscriptionIsReopenedWithBackoff(CapturedOutput output) {
		begin();
		this.store.attempts = 0;
		for (int reply = 0; reply < 20 * 60; reply++) {
			this.store.subscription.close();
			this.membership.keepSubscribed(true, this.clock.now());
			this.clock.advance(Duration.ofMillis(50));
		}
		assertThat(this.store.attempts).as("in a minute").isBetween(10, 20);
		assertThat(output.getOut()).doesNotContain("WARN");

		this.clock.advance(Duration.ofSeconds(5));
		this.membership.keepSubscribed(true, this.clock.now());
		this.clock.advance(Duration.ofSeconds(3));
		this.membership.keepSubscribed(true, this.clock.now());
		this.store.attempts = 0;
		this.store.subscription.close();
		this.membership.keepSubscribed(true, this.clock.now());
		assertThat(this.store.attempts).isEqualTo(1);
	}

	@Test
	void failedSubscriptionIsLoggedOncePerCauseAndWhenItEnds(CapturedOutput output) {
		begin();
		this.store.refusing = true;
		hearAnswers();
		assertThat(this.membership.subscriptionProblem()).contains("Cannot subscribe", "no subscription");
		assertThat(output.getOut()).containsOnlyOnce("Cannot subscribe");

		this.store.refusing = false;
		this.membership.keepSubscribed(true, this.clock.now());
		this.membership.keepSubscribed(true, this.clock.now());
		assertThat(this.membership.subscriptionProblem()).isNull();
		assertThat(output.getOut()).containsOnlyOnce("sees the subscription of");
	}

	/** Otherwise nobody would consume after a restart, and memory would stay full. */
	@Test
	void memberJoinsWithoutASubscriptionIfTheStoreIsFull(CapturedOutput output) {
		this.store.full = true;
		MemberId id = this.membership.join(this.topics);
		this.membership.begin(id, false, () -> true);

		assertThat(this.membership.member()).isEqualTo(id);
		assertThat(this.membership.subscriptionProblem()).contains("Cannot subscribe", "memory is full");
		this.store.attempts = 0;
		hearAnswers();
		assertThat(this.store.attempts).isEqualTo(20);
		assertThat(output.getOut()).containsOnlyOnce("Cannot subscribe");

		this.store.full = false;
		this.membership.keepSubscribed(false, this.clock.now());
		assertThat(this.store.subscription.isOpen()).isTrue();
		this.membership.keepSubscribed(true, this.clock.now());
		assertThat(this.membership.subscriptionProblem()).isNull();
	}

	@Test
	void memberDoesNotJoinIfItsSubscriptionFailsOtherwise() {
		this.store.refusing = true;

		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> this.membership.join(this.topics));
	}

	/** Each heartbeat is answered at once, without a subscriber. */
	private void answerWithoutSubscribers(Duration time) {
		MonotonicTime end = this.clock.now().plus(time);
		while (this.clock.now().isBefore(end)) {
			this.membership.keepSubscribed(false, this.clock.now());
			this.membership.describe(this.topics);
			this.clock.advance(Duration.ofMillis(50));
		}
	}

	/** Replies of ten seconds. */
	private void hearAnswers() {
		for (int reply = 0; reply < 20; reply++) {
			this.membership.keepSubscribed(true, this.clock.now());
			this.clock.advance(Duration.ofMillis(500));
		}
	}

	private void begin() {
		MemberId id = this.membership.join(this.topics);
		this.membership.begin(id, false, () -> true);
		this.store.subscription.close();
		this.clock.advance(Duration.ofMillis(500));
	}

	private Membership membership() {
		CoordinationSettings settings = new CoordinationSettings("group", "a", Duration.ofMillis(500),
				Duration.ofSeconds(3), Duration.ofSeconds(15), Duration.ofMillis(10), ApplicationVersion.UNKNOWN,
				HandoverRules.DEFAULT, 1, null);
		HeartbeatScheduler heartbeats = new HeartbeatScheduler(this.store,
				new Lease(settings.lease(), this.clock.now()), settings.heartbeatInterval(),
				TestRuntime.on(this.clock));
		return new Membership(settings, "sticky", this.store, heartbeats, new Random(1), this.clock, (ended) -> {
		});
	}

	private final class HangingStore extends ForwardingStore {

		private int attempts;

		private int descriptions;

		private MemberDescription described;

		private boolean hanging;

		private boolean refusing;

		private boolean full;

		/** Of subscriptions from now on. */
		private Hearing hearing = Hearing.HEARS;

		private OpenSubscription subscription = new OpenSubscription();

		HangingStore() {
			super(new MemoryCoordinationStore());
		}

		@Override
		public void updateDescription(MemberId member, MemberDescription description) {
			this.descriptions++;
			this.described = description;
		}

		@Override
		public Subscription subscribe(MemberId member, Runnable onEvent) {
			this.attempts++;
			if (this.hanging) {
				MembershipTests.this.clock.advance(HANGING);
			}
			if (this.full) {
				throw new StoreFullException("memory is full", null);
			}
			if (this.hanging || this.refusing) {
				throw new StoreUnavailableException("no subscription", new IllegalStateException());
			}
			this.subscription = new OpenSubscription();
			this.subscription.hearing = this.hearing;
			return this.subscription;
		}

	}

	private static final class OpenSubscription implements CoordinationStore.Subscription {

		private boolean open = true;

		private Hearing hearing = Hearing.HEARS;

		@Override
		public Hearing hearing() {
			return this.hearing;
		}

		@Override
		public boolean isOpen() {
			return this.open;
		}

		@Override
		public void close() {
			this.open = false;
		}

	}

}
