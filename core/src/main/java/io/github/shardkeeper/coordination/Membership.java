package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.CoordinationStore.Subscription;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * This instance's place in the group: the member id of its session, the subscription that
 * proves its life, the heartbeats. Confined to the coordinator's loop, but for
 * {@link #member()} and {@link #subscriptionProblem()}.
 */
final class Membership {

	private static final Logger logger = LoggerFactory.getLogger(Membership.class);

	/** One may have been on its way when the subscription was opened. */
	private static final int UNSUBSCRIBED_ANSWERS = 2;

	/** So many times as long as a failed attempt to subscribe has taken, none is made. */
	private static final int PAUSES_PER_ATTEMPT = 4;

	/**
	 * So many subscriptions in a row that the store has confirmed and does not see:
	 * something between it and this instance hides them.
	 */
	private static final int HIDDEN_SUBSCRIPTIONS = 3;

	/** After a subscription that was not seen, or lost at once; doubles with each. */
	private static final Duration FIRST_PAUSE = Duration.ofMillis(500);

	/** While there is none. */
	private static final Duration LONGEST_PAUSE_WITHOUT = Duration.ofSeconds(5);

	/** While there is one that is not seen. */
	private static final Duration LONGEST_PAUSE_UNSEEN = Duration.ofMinutes(1);

	private final CoordinationSettings settings;

	private final String strategy;

	private final CoordinationStore store;

	private final HeartbeatScheduler heartbeats;

	private final RandomGenerator random;

	private final MonotonicClock clock;

	private volatile @Nullable MemberId member;

	/** Longest lease of all who may hold a shard, as the store told last. */
	private Duration longestLease = Duration.ZERO;

	/** The id of a join that was not answered. */
	private @Nullable MemberId joining;

	private @Nullable Subscription subscription;

	/** Time at which it was opened. */
	private MonotonicTime subscribedAt;

	/** Earliest time to subscribe again. */
	private MonotonicTime subscribeAgainAt;

	/** Number of subscriptions that were opened since one was seen for a lease. */
	private int recentSubscriptions;

	/** Number of subscriptions in a row that the store did not see. */
	private int unseenSubscriptions;

	/** Whether something hides this instance's subscriptions from the store. */
	private boolean hidden;

	/** Problem with the subscription, as it was logged; {@code null} for none. */
	private volatile @Nullable String problem;

	/** Topics as the store knows them; {@code null} if that is not sure. */
	private @Nullable Map<String, TopicShards> longestLeaseChanged;

	/** Whether these are others than at the join. */
	private boolean described;

	/** Number of answers in a row, since it was opened, that did not see it. */
	private int answersWithoutSubscription;

	/**
	 * Creates it outside a session.
	 * @param strategy the name of the assignment strategy that it would lead with
	 */
	Membership(CoordinationSettings settings, String strategy, CoordinationStore store, HeartbeatScheduler heartbeats,
			RandomGenerator random, MonotonicClock clock) {
		this.clock = clock;
		this.subscribedAt = clock.now();
		this.subscribeAgainAt = this.subscribedAt;
		this.settings = settings;
		this.strategy = strategy;
		this.store = store;
		this.heartbeats = heartbeats;
		this.random = random;
	}

	/** Returns the member id, {@code null} outside a session. */
	@Nullable MemberId member() {
		return this.member;
	}

	/**
	 * Returns what is wrong with the subscription while heartbeats are answered,
	 * {@code null} for nothing. May be called by any thread.
	 */
	@Nullable String subscriptionProblem() {
		return this.problem;
	}

	boolean is(MemberId id) {
		return id.equals(this.member);
	}

	/**
	 * Makes this instance known to the group, under an id that was never used before. An
	 * attempt without an answer may have been carried out: the next one takes the same
	 * id, or the first would leave a member without an instance.
	 * @return the id to {@linkplain #begin begin} a session with
	 */
	MemberId join(Map<String, TopicShards> topics) {
		MemberId id = this.joining;
		if (id == null) {
			id = MemberId.of(this.settings.instance(), Long.toString(this.random.nextLong(1L << 40), 36));
			this.joining = id;
		}
		// First of all: without it the first late heartbeat would pass for a death.
		ensureSubscribed(id);
		this.store.joinGroup(id, description(topics), this.settings.lease(), this.settings.timeout(),
				this.longestLease);
		this.longestLeaseChanged = topics;
		return id;
	}

	private MemberDescription description(Map<String, TopicShards> topics) {
		return new MemberDescription(new TreeMap<>(topics), this.settings.version(), this.settings.capacity(),
				this.settings.zone(), this.strategy, this.hidden);
	}

	/** Takes in how long others may hold shards. */
	void longestLeaseChanged(Duration longest) {
		this.longestLease = longest;
	}

	/** Tells the group which shards this member knows of, if it does not know yet. */
	void describe(Map<String, TopicShards> topics) {
		MemberId id = this.member;
		if (id != null && !topics.equals(this.longestLeaseChanged)) {
			this.store.updateDescription(id, description(topics));
			this.longestLeaseChanged = topics;
			this.described = true;
		}
	}

	/** Has the description sent again: the store may have lost it. */
	void describeAgain() {
		if (this.described) {
			this.longestLeaseChanged = null;
		}
	}

	/**
	 * Begins the session: from now on heartbeats renew the lease, but not before what was
	 * claimed is confirmed.
	 */
	void begin(MemberId id, boolean unconfirmed, BooleanSupplier candidate) {
		this.joining = null;
		this.member = id;
		this.described = false;
		this.heartbeats.beginSession(id, unconfirmed, candidate);
		logger.info("Joined group '{}' as {}", this.settings.group(), id);
	}

	private void ensureSubscribed(MemberId id) {
		Subscription current = this.subscription;
		if (current == null || !current.isOpen()) {
			if (current != null) {
				current.close();
			}
			this.subscription = this.store.subscribe(id, this.heartbeats::beatNow);
			this.subscribedAt = this.clock.now();
			this.answersWithoutSubscription = 0;
			this.recentSubscriptions++;
		}
	}

	/**
	 * Renews a subscription whose connection was lost, as far as this process knows or
	 * the store says.
	 * @param subscribed whether the store saw a subscription
	 * @param sentAt when the heartbeat was sent that it has answered so
	 */
	void keepSubscribed(boolean subscribed, MonotonicTime sentAt) {
		MemberId id = this.member;
		if (id == null || this.subscription == null) {
			return;
		}
		boolean open = this.subscription.isOpen();
		if (open) {
			if (sentAt.isBefore(this.subscribedAt)) {
				// It may be heard late, after many others: it says nothing of this one.
				return;
			}
			if (subscribed) {
				seen(id, sentAt);
				return;
			}
			this.answersWithoutSubscription++;
			if (this.answersWithoutSubscription < UNSUBSCRIBED_ANSWERS) {
				return;
			}
		}
		if (!this.clock.now().isBefore(subscribeAgainAt(open))) {
			if (open) {
				unseen(id);
				this.subscription.close();
			}
			subscribeAgain(id, !open || !this.hidden);
		}
	}

	private void seen(MemberId id, MonotonicTime sentAt) {
		this.answersWithoutSubscription = 0;
		if (!sentAt.isBefore(this.subscribedAt.plus(this.settings.lease()))) {
			this.recentSubscriptions = 0;
		}
		if (this.problem != null || this.unseenSubscriptions > 0) {
			this.problem = null;
			this.unseenSubscriptions = 0;
			logger.info("The store sees the subscription of {} again", id);
		}
		if (this.hidden) {
			this.hidden = false;
			this.longestLeaseChanged = null;
		}
	}

	private void unseen(MemberId id) {
		this.unseenSubscriptions++;
		if (this.unseenSubscriptions == 1 && !this.hidden) {
			logger.warn("The store does not see the subscription of {}; resubscribing", id);
		}
		if (this.unseenSubscriptions >= HIDDEN_SUBSCRIPTIONS && !this.hidden) {
			this.hidden = true;
			// Without that it would pass for dead after each silence of a lease.
			this.longestLeaseChanged = null;
			String text = ("The store confirms subscriptions of this instance but does not see them: a proxy may "
					+ "hide them. If the instance crashes, its shards move at the end of its session "
					+ "('shardkeeper.session.timeout', %d ms) instead of its lease (%d ms)")
				.formatted(this.settings.timeout().toMillis(), this.settings.lease().toMillis());
			this.problem = text;
			logger.warn("{}: {}", id, text);
		}
	}

	/** Also after a success: the next subscription may be as short or as useless. */
	private MonotonicTime subscribeAgainAt(boolean open) {
		if (this.recentSubscriptions == 0) {
			return this.subscribeAgainAt;
		}
		Duration longest = open ? LONGEST_PAUSE_UNSEEN : LONGEST_PAUSE_WITHOUT;
		Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(this.recentSubscriptions - 1, 10));
		MonotonicTime afterPause = this.subscribedAt.plus((pause.compareTo(longest) < 0) ? pause : longest);
		return afterPause.isBefore(this.subscribeAgainAt) ? this.subscribeAgainAt : afterPause;
	}

	/**
	 * Tries to subscribe again.
	 * @param afterFailover whether the store may have lost writes
	 */
	private void subscribeAgain(MemberId id, boolean afterFailover) {
		MonotonicTime begun = this.clock.now();
		try {
			ensureSubscribed(id);
			if (this.recentSubscriptions == 1) {
				logger.info("Resubscribed for {}", id);
			}
			if (afterFailover) {
				// Perhaps it was over before the next heartbeat, and has lost what was
				// answered since the last one, a release: nothing else would tell.
				this.heartbeats.confirmSeen();
				describeAgain();
			}
		}
		catch (StoreUnavailableException ex) {
			// Heartbeats are answered all the same; tried again with the next one, but
			// where connections hang the coordinator must not do nothing else.
			pauseAfter(begun);
			String text = "Cannot subscribe, so changes arrive late, and a silence of one lease is taken for a crash: "
					+ ex.getMessage();
			if (!text.equals(this.problem)) {
				this.problem = text;
				logger.warn("{}: {}", id, text);
			}
		}
		catch (Throwable ex) {
			pauseAfter(begun);
			throw ex;
		}
	}

	private void pauseAfter(MonotonicTime begun) {
		MonotonicTime failed = this.clock.now();
		this.subscribeAgainAt = failed.plus(begun.until(failed).multipliedBy(PAUSES_PER_ATTEMPT));
	}

	/** Ends session and lease here; the store is not told. */
	void end() {
		this.heartbeats.endSession();
		forgotten();
	}

	/** Ends the session here, which the store has forgotten; the lease continues. */
	void forgotten() {
		if (this.subscription != null) {
			this.subscription.close();
			this.subscription = null;
		}
		this.member = null;
		this.joining = null;
	}

}
