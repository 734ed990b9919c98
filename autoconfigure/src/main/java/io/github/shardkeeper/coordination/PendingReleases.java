package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.handover.HoldingAction.Release;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.handover.ShardHoldings;
import io.github.shardkeeper.shard.MemberId;

/**
 * Releases that the store has not answered yet; each is repeated until it has. Confined
 * to the coordinator's loop.
 */
final class PendingReleases {

	private static final Duration RETRY_PAUSE = Duration.ofMillis(200);

	private final CoordinationStore store;

	private final ShardHoldings holdings;

	private final MonotonicClock clock;

	private final Deque<Release> pending = new ArrayDeque<>();

	private MonotonicTime nextAttempt;

	PendingReleases(CoordinationStore store, ShardHoldings holdings, MonotonicClock clock) {
		this.store = store;
		this.holdings = holdings;
		this.clock = clock;
		this.nextAttempt = clock.now();
	}

	void add(Release release) {
		this.pending.add(release);
	}

	void clear() {
		this.pending.clear();
	}

	@Nullable MonotonicTime wakeAt() {
		return this.pending.isEmpty() ? null : this.nextAttempt;
	}

	void sendDue(MemberId member) {
		if (this.clock.now().isBefore(this.nextAttempt)) {
			return;
		}
		StoreUnavailableException failure = null;
		for (int count = this.pending.size(); count > 0 && failure == null; count--) {
			Release release = this.pending.remove();
			try {
				// Stale is as good as released: the shard is not ours any more.
				this.store.release(member, List.of(release), Duration.ZERO);
				this.holdings.released(release.shard(), release.token());
			}
			catch (StoreUnavailableException ex) {
				// To the end: one that always fails must not keep the others waiting.
				this.pending.add(release);
				failure = ex;
			}
		}
		if (failure != null) {
			this.nextAttempt = this.clock.now().plus(RETRY_PAUSE);
			throw failure;
		}
	}

}
