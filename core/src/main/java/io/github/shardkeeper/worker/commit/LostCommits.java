package io.github.shardkeeper.worker.commit;

import java.util.List;

import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitHistory;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Finds out and logs what a store has lost of the commits of a shard. Confined to the
 * shard's worker.
 */
final class LostCommits {

	private static final Logger logger = PrintableLogger.of(LostCommits.class);

	private static final String TWO_MASTERS = "Redis had two masters in a partition: set 'min-replicas-to-write' and "
			+ "'min-replicas-max-lag'; or a failover lost writes, and another owner began before they were back";

	private static final String LOST_BY_DATABASE = "as after a failover to a replica that lacked them, or after an older "
			+ "state was restored. Their rows are lost with them, and the records after that offset are handled again; what "
			+ "their calls have sent may be in its targets twice. Have the database acknowledge a commit once a replica has "
			+ "it, in PostgreSQL with 'synchronous_standby_names'";

	private static final String LOST_STATE = ", as after a failover to a replica that lacked them. With 'state.read' 'on-use' "
			+ "they cannot be written back, so the state of the store counts, and the records after that offset are handled "
			+ "again. Set 'min-replicas-to-write', or 'state.read' to 'on-acquisition'";

	private final OwnedShard owned;

	private final CheckpointStore checkpoints;

	private final CommitNumbers numbers;

	private final ShardProgress progress;

	LostCommits(OwnedShard owned, CheckpointStore checkpoints, CommitNumbers numbers, ShardProgress progress) {
		this.owned = owned;
		this.checkpoints = checkpoints;
		this.numbers = numbers;
		this.progress = progress;
	}

	void reportWriteBack(Commit whole) {
		logger.info("The store has lost writes: {} was written back at offset {}, with {} entries of state", this.owned,
				whole.offset(), whole.changes().size());
	}

	/** Reports commits of other owners that this progress does not contain. */
	void reportOtherHistory(Acquisition.Acquired acquired) {
		LastCommit others = this.numbers.otherHistory(acquired);
		if (others != null) {
			logger
				.error("{} has two histories: another instance has committed it up to offset {} under token {}, and this one, "
						+ "which has not seen that, up to offset {} under token {}. The latter token is higher, so the state of "
						+ "this instance, {} entries at offset {}, overwrites the other one; nothing is merged. {}",
						this.owned, acquired.checkpoint().offset(), others.token(), this.numbers.acknowledgedOffset(),
						this.owned.token(), entries(), this.progress.window().position(), TWO_MASTERS);
		}
	}

	void reportStop() {
		logger.warn(
				"{} stops while the store does not reply, at offset {} with {} entries of state under token {}: "
						+ "what the store has not stored, or loses in this outage, is lost",
				this.owned, this.progress.window().position(), entries(), this.owned.token());
	}

	void reportForfeit() {
		logger.error(
				"Offset and state of {} are lost: the store had lost them, and another instance acquired the shard "
						+ "before this one was back. They were offset {} and {} entries of state under token {}; {}",
				this.owned, this.progress.window().position(), entries(), this.owned.token(), storedOffset());
	}

	private int entries() {
		return this.progress.state().size();
	}

	private String storedOffset() {
		ShardId shard = this.owned.shard();
		try {
			CommitHistory stored = this.checkpoints.commits(shard);
			if (stored != null && stored.offset() != null) {
				return "the store is at offset %s under token %s".formatted(stored.offset(), stored.last().token());
			}
			Offset offset = this.checkpoints.offsets(List.of(shard)).get(shard);
			return (offset != null) ? "the store is at offset " + offset : "the store has no offset yet";
		}
		catch (StoreUnavailableException ex) {
			return "the offset in the store cannot be read: " + ex.getMessage();
		}
	}

	/** Reports accepted commits that the store does not have; returns whether it has. */
	boolean reportByStore() {
		return report(
				"{} has two histories: the commits of this instance, up to offset {} under token {}, are not in the "
						+ "store, which is at offset {} under token {}. They are lost; nothing is merged. {}",
				TWO_MASTERS);
	}

	/** Does the same for a state of which only a part is in memory. */
	boolean reportByStoreOfState() {
		return report(
				"The store has lost commits of {}: this instance has committed it up to offset {} under token {}, and the "
						+ "store is at offset {} under token {}{}",
				LOST_STATE);
	}

	/** Does the same for the application's database. */
	boolean reportByDatabase() {
		return report(
				"The database has lost commits of {}: this instance has committed it up to offset {} under token {}, and "
						+ "the database is at offset {} under token {}, {}",
				LOST_BY_DATABASE);
	}

	private boolean report(String message, String reason) {
		try {
			// Before the store is asked: meanwhile, calls may commit.
			LastCommit accepted = new LastCommit(this.owned.token(), this.numbers.acknowledged());
			CommitHistory stored = this.checkpoints.commits(this.owned.shard());
			if (stored == null || !stored.lacks(accepted)) {
				return false;
			}
			logger.error(message, this.owned, this.numbers.acknowledgedOffset(), this.owned.token(), stored.offset(),
					stored.last().token(), reason);
			return true;
		}
		catch (StoreUnavailableException ex) {
			logger.warn("Cannot check whether the store still has the commits of {} under token {}: {}", this.owned,
					this.owned.token(), ex.getMessage());
			return false;
		}
	}

}
