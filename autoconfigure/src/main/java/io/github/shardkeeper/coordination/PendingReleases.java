package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.handover.HoldingAction.Release;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.handover.ShardHoldings;
import io.github.shardkeeper.shard.MemberId;

/**
 * Releases that the store has not answered yet; each is repeated until it has. Those that
 * come together are sent together. Confined to the coordinator's loop.
 */
final class PendingReleases {

	private static final Duration RETRY_PAUSE = Duration.ofMillis(200);

	private final CoordinationStore store;

	private final Duration quietPeriod;

	private final ShardHoldings holdings;

	private final MonotonicClock clock;

	private final Deque<Release> pending = new ArrayDeque<>();

	private MonotonicTime nextAttempt;

	/** Whether the last attempt failed. */
	private boolean failed;

	PendingReleases(CoordinationStore store, Duration quietPeriod, ShardHoldings holdings, MonotonicClock clock) {
		this.store = store;
		this.quietPeriod = quietPeriod;
		this.holdings = holdings;
		this.clock = clock;
		this.nextAttempt = clock.now();
	}

	void add(Release release) {
		this.pending.add(release);
	}

	void clear() {
		this.pending.clear();
		this.failed = false;
	}

	@Nullable MonotonicTime wakeAt() {
		return this.pending.isEmpty() ? null : this.nextAttempt;
	}

	void sendDue(MemberId member) {
		if (this.clock.now().isBefore(this.nextAttempt)) {
			return;
		}
		while (!this.pending.isEmpty()) {
			List<Release> batch = takeBatch();
			try {
				// Stale is as good as released: the shard is not ours any more.
				this.store.release(member, batch, this.quietPeriod);
				this.failed = false;
				batch.forEach((release) -> this.holdings.released(release.shard(), release.token()));
			}
			catch (StoreUnavailableException ex) {
				this.pending.addAll(batch);
				this.failed = true;
				this.nextAttempt = this.clock.now().plus(RETRY_PAUSE);
				throw ex;
			}
		}
	}

	/**
	 * After a failure one alone, which went to the end before: one that always fails must
	 * not keep the others waiting.
	 */
	private List<Release> takeBatch() {
		List<Release> batch = new ArrayList<>();
		do {
			batch.add(this.pending.remove());
		}
		while (!this.failed && !this.pending.isEmpty());
		return batch;
	}

}
