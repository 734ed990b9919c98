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
import io.github.shardkeeper.shard.MemberId;

/**
 * This instance's place in the group: the member id of its session, the subscription that
 * proves its life, the heartbeats. Confined to the coordinator's loop, but for
 * {@link #member()}.
 */
final class Membership {

	private static final Logger logger = LoggerFactory.getLogger(Membership.class);

	private final CoordinationSettings settings;

	private final CoordinationStore store;

	private final HeartbeatScheduler heartbeats;

	private final RandomGenerator random;

	private volatile @Nullable MemberId member;

	/** The id of a join that was not answered. */
	private @Nullable MemberId joining;

	private @Nullable Subscription subscription;

	private boolean subscriptionAway;

	Membership(CoordinationSettings settings, CoordinationStore store, HeartbeatScheduler heartbeats,
			RandomGenerator random) {
		this.settings = settings;
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
	 * Begins a session, under an id that was never used before. An attempt without an
	 * answer may have been carried out: the next one takes the same id, or the first
	 * would leave a member behind that nobody is.
	 */
	void join(Map<String, Integer> topics, BooleanSupplier candidate) {
		MemberId id = this.joining;
		if (id == null) {
			id = MemberId.of(this.settings.instance(), Long.toString(this.random.nextLong(1L << 40), 36));
			this.joining = id;
		}
		// First of all: without it the first late heartbeat would pass for a death.
		ensureSubscribed(id);
		MemberDescription description = new MemberDescription(new TreeMap<>(topics), this.settings.version());
		this.store.join(id, description, this.settings.lease(), this.settings.timeout());
		this.joining = null;
		this.member = id;
		this.heartbeats.beginSession(id, candidate);
		logger.info("Joined group '{}' as {}", this.settings.group(), id);
	}

	private void ensureSubscribed(MemberId id) {
		Subscription current = this.subscription;
		if (current == null || !current.isOpen()) {
			if (current != null) {
				current.close();
			}
			this.subscription = this.store.subscribe(id, this.heartbeats::beatNow);
		}
	}

	/** Renews a subscription whose connection was lost. */
	void keepSubscribed() {
		MemberId id = this.member;
		if (id == null || this.subscription == null || this.subscription.isOpen()) {
			return;
		}
		try {
			ensureSubscribed(id);
			this.subscriptionAway = false;
			logger.info("Subscribed anew for {}", id);
		}
		catch (StoreUnavailableException ex) {
			// Heartbeats are answered all the same; tried again with the next one.
			if (!this.subscriptionAway) {
				this.subscriptionAway = true;
				logger.warn("Cannot subscribe for {}; trying on. {}", id, ex.getMessage());
			}
		}
	}

	/** Ends the session here; the store is not told. */
	void end() {
		this.heartbeats.endSession();
		if (this.subscription != null) {
			this.subscription.close();
			this.subscription = null;
		}
		this.member = null;
		this.joining = null;
	}

}
