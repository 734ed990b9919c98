package io.github.shardkeeper.consumer;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.coordination.SeekRequest;
import io.github.shardkeeper.coordination.Seeks;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.shard.ShardId;

/**
 * Whether a shard that is consumed is to be consumed from another position on. Only says
 * so: whoever acquires the shard goes where a pending request leads, also the worker that
 * puts it away for that and acquires it again. Confined to the worker, but for
 * {@link #dueSince()}.
 */
final class Repositioning {

	private static final Logger logger = LoggerFactory.getLogger(Repositioning.class);

	private final OwnedShard owned;

	private final WorkerContext context;

	/** {@code null} while nobody wants it. */
	private volatile @Nullable MonotonicTime dueSince;

	Repositioning(OwnedShard owned, WorkerContext context) {
		this.owned = owned;
		this.context = context;
	}

	/**
	 * Somebody may have left a request: looks for it.
	 * @throws io.github.shardkeeper.StoreUnavailableException when the store does not
	 * answer
	 */
	void look(ShardProgress progress, MonotonicTime now) {
		ShardId shard = this.owned.shard();
		Seeks seeks = this.context.checkpoints().seeks(List.of(shard)).getOrDefault(shard, Seeks.NONE);
		SeekRequest wanted = seeks.pendingAfter(progress.sought());
		if (wanted != null) {
			logger.info("{} is to be consumed after offset {}{}; it was at {}", this.owned, wanted.after(),
					wanted.clearsState() ? " with an empty state" : "", progress.window().position());
			this.dueSince = now;
		}
		else if (seeks.pending() != null) {
			// The store has lost that it was carried out, or does not know it yet.
			progress.sayWhatWasSought(now);
		}
	}

	/** Whether the shard is to be put away for it. */
	boolean isDue() {
		return this.dueSince != null;
	}

	/** Since when, {@code null} if it is not. */
	@Nullable MonotonicTime dueSince() {
		return this.dueSince;
	}

	/** The shard is put away. */
	void done() {
		this.dueSince = null;
	}

}
