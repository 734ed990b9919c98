package io.github.shardkeeper.coordination;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.CoordinationStore.Subscription;
import io.github.shardkeeper.handover.MemberDescription;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * This instance's place in the group: the member id of its session, the subscription that
 * proves its life, the heartbeats. Confined to the coordinator's loop, but for
 * {@link #member()}.
 */
final class Membership {

	private static final Logger logger = LoggerFactory.getLogger(Membership.class);

	/** One may have been on its way when the subscription was opened. */
	private static final int UNSUBSCRIBED_ANSWERS = 2;

	/** So many times as long as a vain attempt to subscribe has taken, none is made. */
	private static final int PAUSES_PER_ATTEMPT = 4;

	private final CoordinationSettings settings;

	private final String strategy;

	private final CoordinationStore store;

	private final HeartbeatScheduler heartbeats;

	private final RandomGenerator random;

	private final MonotonicClock clock;

	private volatile @Nullable MemberId member;

	/** The id of a join that was not answered. */
	private @Nullable MemberId joining;

	private @Nullable Subscription subscription;

	/** When it was opened. */
	private MonotonicTime subscribedAt;

	private boolean subscriptionAway;

	/** When to try to subscribe again at the earliest. */
	private MonotonicTime subscribeAgainAt;

	/** What the store knows of the topics; {@code null} when that is not sure. */
	private @Nullable Map<String, TopicShards> told;

	/** Whether that is something else than what it was told at the join. */
	private boolean described;

	/** In a row, and since it was opened. */
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

	/** The member id, {@code null} outside a session. */
	@Nullable MemberId member() {
		return this.member;
	}

	boolean is(MemberId id) {
		return id.equals(this.member);
	}

	/**
	 * Makes this instance known to the group, under an id that was never used before. An
	 * attempt without an answer may have been carried out: the next one takes the same
	 * id, or the first would leave a member behind that nobody is.
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
		this.store.join(id, description(topics), this.settings.lease(), this.settings.timeout());
		this.told = topics;
		return id;
	}

	private MemberDescription description(Map<String, TopicShards> topics) {
		return new MemberDescription(new TreeMap<>(topics), this.settings.version(), this.settings.capacity(),
				this.settings.zone(), this.strategy);
	}

	/** Tells the group which shards this member knows of, if it does not know yet. */
	void describe(Map<String, TopicShards> topics) {
		MemberId id = this.member;
		if (id != null && !topics.equals(this.told)) {
			this.store.describe(id, description(topics));
			this.told = topics;
			this.described = true;
		}
	}

	/** The store may have lost what it was told in this session. */
	void describeAgain() {
		if (this.described) {
			this.told = null;
		}
	}

	/**
	 * Begins the session: from now on heartbeats renew the lease, but not before what was
	 * claimed is reconciled.
	 */
	void begin(MemberId id, boolean withClaims, BooleanSupplier candidate) {
		this.joining = null;
		this.member = id;
		this.described = false;
		this.heartbeats.beginSession(id, withClaims, candidate);
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
		if (sentAt.isBefore(this.subscribedAt) && this.subscription.isOpen()) {
			// It may be heard late, after many others: it says nothing of this one.
			return;
		}
		this.answersWithoutSubscription = subscribed ? 0 : this.answersWithoutSubscription + 1;
		if (this.answersWithoutSubscription >= UNSUBSCRIBED_ANSWERS) {
			logger.warn("The store does not see the subscription of {}; subscribing anew", id);
			this.subscription.close();
		}
		else if (this.subscription.isOpen()) {
			return;
		}
		MonotonicTime begun = this.clock.now();
		if (begun.isBefore(this.subscribeAgainAt)) {
			return;
		}
		try {
			ensureSubscribed(id);
			this.subscriptionAway = false;
			logger.info("Subscribed anew for {}", id);
			// Perhaps a failover was over before the next heartbeat, and has lost what
			// was answered since the last one, a release: nothing else would tell.
			this.heartbeats.doubt();
			describeAgain();
		}
		catch (StoreUnavailableException ex) {
			// Heartbeats are answered all the same; tried again with the next one, but
			// where connections hang the coordinator must not do nothing else.
			MonotonicTime failed = this.clock.now();
			this.subscribeAgainAt = failed.plus(begun.until(failed).multipliedBy(PAUSES_PER_ATTEMPT));
			if (!this.subscriptionAway) {
				this.subscriptionAway = true;
				logger.warn("Cannot subscribe for {}; trying on. {}", id, ex.getMessage());
			}
		}
	}

	/** Ends session and lease here; the store is not told. */
	void end() {
		this.heartbeats.endSession();
		forgotten();
	}

	/** The store does not know the session any more; the lease goes on. */
	void forgotten() {
		if (this.subscription != null) {
			this.subscription.close();
			this.subscription = null;
		}
		this.member = null;
		this.joining = null;
	}

}
