package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.handover.HandoverRules;
import io.github.shardkeeper.handover.Lease;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.testsupport.SettableClock;

import static org.assertj.core.api.Assertions.assertThat;

/** A subscription that is lost and cannot be opened anew. */
class MembershipTests {

	private static final Duration HANGING = Duration.ofSeconds(1);

	private final SettableClock clock = new SettableClock();

	private final HangingStore store = new HangingStore();

	private final Membership membership = membership();

	@Test
	void whereConnectionsHangTheCoordinatorStillHasTimeForOtherThings() {
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
	void whereTheyAreRefusedItTriesWithEveryAnswer() {
		begin();
		this.store.attempts = 0;
		this.store.refusing = true;
		hearAnswers();

		assertThat(this.store.attempts).isEqualTo(20);
	}

	/** Those of ten seconds. */
	private void hearAnswers() {
		for (int answer = 0; answer < 20; answer++) {
			this.membership.keepSubscribed(true, this.clock.now());
			this.clock.advance(Duration.ofMillis(500));
		}
	}

	private void begin() {
		MemberId id = this.membership.join(Map.of("orders", TopicShards.count(4)));
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
		return new Membership(settings, "sticky", this.store, heartbeats, new Random(1), this.clock);
	}

	private final class HangingStore extends ForwardingStore {

		private int attempts;

		private boolean hanging;

		private boolean refusing;

		private OpenSubscription subscription = new OpenSubscription();

		HangingStore() {
			super(new MemoryCoordinationStore());
		}

		@Override
		public Subscription subscribe(MemberId member, Runnable onEvent) {
			this.attempts++;
			if (this.hanging) {
				MembershipTests.this.clock.advance(HANGING);
			}
			if (this.hanging || this.refusing) {
				throw new StoreUnavailableException("no subscription", new IllegalStateException());
			}
			this.subscription = new OpenSubscription();
			return this.subscription;
		}

	}

	private static final class OpenSubscription implements CoordinationStore.Subscription {

		private boolean open = true;

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
