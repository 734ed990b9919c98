package io.github.shardkeeper.coordination.member;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.StoreUnavailableException.StoreFullException;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore.Hearing;
import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * This instance's place in the group: its session's member id, its subscription and its
 * heartbeats. Confined to the coordinator's loop, except {@link #member()} and
 * {@link #subscriptionProblem()}.
 */
public final class Membership implements HeartbeatObserver {

	private static final Logger logger = PrintableLogger.of(Membership.class);

	/** One reply may have been in flight when the subscription was opened. */
	private static final int UNSUBSCRIBED_ANSWERS = 2;

	/** Length of the pause after a failed attempt to subscribe, in durations of it. */
	private static final int PAUSES_PER_ATTEMPT = 4;

	/**
	 * With so many subscriptions in a row that the store confirms but does not see,
	 * something, such as a proxy, hides them.
	 */
	private static final int HIDDEN_SUBSCRIPTIONS = 3;

	/** Doubles with each subscription that was not seen or lost at once. */
	private static final Duration FIRST_PAUSE = Duration.ofMillis(500);

	private static final Duration LONGEST_PAUSE_WITHOUT = Duration.ofSeconds(5);

	private static final Duration LONGEST_PAUSE_UNSEEN = Duration.ofMinutes(1);

	private final CoordinationSettings settings;

	private final String strategy;

	private final CoordinationStore store;

	private final HeartbeatScheduler heartbeats;

	private final RandomGenerator random;

	private final MonotonicClock clock;

	private final Consumer<MemberId> onEnd;

	private volatile @Nullable MemberId member;

	/** Longest lease of all members that may hold shards, by the last reply. */
	private Duration longestLease = Duration.ZERO;

	private @Nullable MemberId joining;

	private @Nullable Subscription subscription;

	private MonotonicTime subscribedAt;

	private MonotonicTime subscribeAgainAt;

	/** Opened since one was seen for a lease. */
	private int recentSubscriptions;

	/** Number of subscriptions in a row that the store did not see. */
	private int unseenSubscriptions;

	private boolean hidden;

	/** Number of subscriptions in a row on which no message arrived. */
	private int deafSubscriptions;

	/** Problem with the subscription, as it was logged; {@code null} for none. */
	private volatile @Nullable String problem;

	/** Topics as the store knows them; {@code null} if that is uncertain. */
	private @Nullable Map<String, TopicShards> knownTopics;

	private boolean described;

	/** Number of replies in a row that did not see the open subscription. */
	private int repliesWithoutSubscription;

	public Membership(CoordinationSettings settings, String strategy, CoordinationStore store,
			HeartbeatScheduler heartbeats, RandomGenerator random, MonotonicClock clock, Consumer<MemberId> onEnd) {
		this.onEnd = onEnd;
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
	@Nullable public MemberId member() {
		return this.member;
	}

	/** Returns the problem while heartbeats are answered. Thread-safe. */
	@Nullable public String subscriptionProblem() {
		return this.problem;
	}

	public boolean is(MemberId id) {
		return id.equals(this.member);
	}

	/**
	 * Joins under an id that was never used before. An attempt without a reply may have
	 * been carried out, so the next one uses the same id.
	 * @return the id to {@linkplain #begin begin} a session with
	 */
	public MemberId join(Map<String, TopicShards> topics) {
		MemberId id = this.joining;
		if (id == null) {
			id = MemberId.of(this.settings.instance(), Long.toString(this.random.nextLong(1L << 40), 36));
			this.joining = id;
		}
		subscribeFirst(id);
		this.store.joinGroup(id, description(topics), this.settings.lease(), this.settings.timeout(), this.longestLease,
				this.settings.restartsInPlace());
		this.knownTopics = topics;
		return id;
	}

	private MemberDescription description(Map<String, TopicShards> topics) {
		return new MemberDescription(new TreeMap<>(topics), this.settings.version(), this.settings.capacity(),
				this.settings.zone(), this.strategy, this.hidden);
	}

	@Override
	public void writesLost() {
		describeAgain();
	}

	/** The store may have failed over, and lost the description. */
	@Override
	public void heartbeatFailed(StoreUnavailableException failure, MonotonicTime now) {
		describeAgain();
	}

	/** Processes how long the longest lease of all members is. */
	public void longestLeaseReported(long millis) {
		this.longestLease = Duration.ofMillis(millis);
	}

	@Override
	public void heartbeatAnswered(HeartbeatAnswered reply, MonotonicTime now) {
		keepSubscribed(reply.reply().subscribed(), reply.sentAt());
	}

	/** Updates the topics, if the store does not know them. */
	public void describe(Map<String, TopicShards> topics) {
		MemberId id = this.member;
		if (id != null && !topics.equals(this.knownTopics)) {
			this.store.updateDescription(id, description(topics));
			this.knownTopics = topics;
			this.described = true;
		}
	}

	/** Sends the description again, because the store may have lost it. */
	void describeAgain() {
		if (this.described) {
			this.knownTopics = null;
		}
	}

	/**
	 * Begins the session and its heartbeats.
	 * @param unconfirmed whether heartbeats renew the lease only after the claimed shards
	 * are confirmed
	 */
	public void begin(MemberId id, boolean unconfirmed, BooleanSupplier candidate) {
		this.joining = null;
		this.member = id;
		this.described = false;
		this.heartbeats.beginSession(id, unconfirmed, candidate);
		logger.info("Joined group '{}' as {}", this.settings.group(), id);
	}

	/**
	 * Without a subscription the first late heartbeat would count as a crash. If the
	 * store has no memory for one, nobody could join, and consuming is what frees memory.
	 */
	private void subscribeFirst(MemberId id) {
		try {
			ensureSubscribed(id);
		}
		catch (StoreFullException ex) {
			notSubscribed(id, ex);
		}
	}

	private void ensureSubscribed(MemberId id) {
		Subscription current = this.subscription;
		if (current == null || !current.isOpen()) {
			if (current != null) {
				current.close();
			}
			this.subscription = this.store.subscribe(id, this.heartbeats::beatNow);
			this.subscribedAt = this.clock.now();
			this.repliesWithoutSubscription = 0;
			this.recentSubscriptions++;
		}
	}

	/** Subscribes again if this process or the store has lost the subscription. */
	void keepSubscribed(boolean subscribed, MonotonicTime sentAt) {
		MemberId id = this.member;
		if (id == null) {
			return;
		}
		Subscription current = this.subscription;
		boolean open = current != null && current.isOpen();
		boolean deaf = false;
		if (current != null && open) {
			if (sentAt.isBefore(this.subscribedAt)) {
				// This reply is older than the subscription.
				return;
			}
			Hearing hearing = subscribed ? current.hearing() : Hearing.UNKNOWN;
			deaf = hearing == Hearing.DEAF;
			if (subscribed && !deaf) {
				seen(id, sentAt, hearing);
				return;
			}
			this.repliesWithoutSubscription++;
			if (!deaf && this.repliesWithoutSubscription < UNSUBSCRIBED_ANSWERS) {
				return;
			}
		}
		if (!this.clock.now().isBefore(subscribeAgainAt(open))) {
			if (current != null && open) {
				if (deaf) {
					deaf(id);
				}
				else {
					unseen(id);
				}
				current.close();
			}
			subscribeAgain(id, !open || !this.hidden);
		}
	}

	private void seen(MemberId id, MonotonicTime sentAt, Hearing hearing) {
		this.repliesWithoutSubscription = 0;
		if (this.deafSubscriptions > 0) {
			if (hearing != Hearing.HEARS) {
				return;
			}
			this.deafSubscriptions = 0;
		}
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
			this.knownTopics = null;
		}
	}

	private void unseen(MemberId id) {
		this.unseenSubscriptions++;
		if (this.unseenSubscriptions == 1 && !this.hidden) {
			logger.warn("The store does not see the subscription of {}; resubscribing", id);
		}
		if (this.unseenSubscriptions >= HIDDEN_SUBSCRIPTIONS && !this.hidden) {
			this.hidden = true;
			// Otherwise the member would count as dead after each silence of a lease.
			this.knownTopics = null;
			String text = ("The store confirms subscriptions of this instance but does not see them: a proxy may "
					+ "hide them. If the instance crashes, its shards move at the end of its session "
					+ "('shardkeeper.session.timeout', %d ms) instead of its lease (%d ms)")
				.formatted(this.settings.timeout().toMillis(), this.settings.lease().toMillis());
			this.problem = text;
			logger.warn("{}: {}", id, text);
		}
	}

	/** Moves go on, at the pace of the heartbeats. */
	private void deaf(MemberId id) {
		this.deafSubscriptions++;
		if (this.deafSubscriptions == 1) {
			logger.warn("No message arrives on the subscription of {}, which is open; resubscribing", id);
		}
		String text = "No message arrives on this instance's subscriptions, so it learns of changes with its next heartbeat: a "
				+ "proxy or a firewall may drop them";
		if (this.deafSubscriptions >= HIDDEN_SUBSCRIPTIONS && !text.equals(this.problem)) {
			this.problem = text;
			logger.warn("{}: {}", id, text);
		}
	}

	/** Pauses after a success, too: the next subscription may fail just as soon. */
	private MonotonicTime subscribeAgainAt(boolean open) {
		if (this.recentSubscriptions == 0) {
			return this.subscribeAgainAt;
		}
		Duration longest = open ? LONGEST_PAUSE_UNSEEN : LONGEST_PAUSE_WITHOUT;
		Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(this.recentSubscriptions - 1, 10));
		MonotonicTime afterPause = this.subscribedAt.plus((pause.compareTo(longest) < 0) ? pause : longest);
		return afterPause.isBefore(this.subscribeAgainAt) ? this.subscribeAgainAt : afterPause;
	}

	private void subscribeAgain(MemberId id, boolean afterFailover) {
		MonotonicTime begun = this.clock.now();
		try {
			ensureSubscribed(id);
			if (this.recentSubscriptions == 1) {
				logger.info("Resubscribed for {}", id);
			}
			if (afterFailover) {
				// A failover between two heartbeats may have lost answered writes, such
				// as a release; only this detects it.
				this.heartbeats.confirmSeen();
				describeAgain();
			}
		}
		catch (StoreUnavailableException ex) {
			// Only with the next heartbeat, after a pause: where connections hang, the
			// coordinator needs time for other work.
			pauseAfter(begun);
			notSubscribed(id, ex);
		}
		catch (Throwable ex) {
			pauseAfter(begun);
			throw ex;
		}
	}

	private void notSubscribed(MemberId id, StoreUnavailableException failure) {
		String text = "Cannot subscribe, so changes arrive late, and a silence of one lease is taken for a crash: "
				+ failure.getMessage();
		if (!text.equals(this.problem)) {
			this.problem = text;
			logger.warn("{}: {}", id, text);
		}
	}

	private void pauseAfter(MonotonicTime begun) {
		MonotonicTime failed = this.clock.now();
		this.subscribeAgainAt = failed.plus(begun.until(failed).multipliedBy(PAUSES_PER_ATTEMPT));
	}

	public void end() {
		this.heartbeats.endSession();
		forgotten();
	}

	/** Ends a session that the store has forgotten; the lease continues. */
	public void forgotten() {
		if (this.subscription != null) {
			this.subscription.close();
			this.subscription = null;
		}
		MemberId ended = this.member;
		this.member = null;
		this.joining = null;
		if (ended != null) {
			this.onEnd.accept(ended);
		}
	}

}
