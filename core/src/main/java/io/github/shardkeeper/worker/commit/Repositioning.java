package io.github.shardkeeper.worker.commit;

import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitPart;

/**
 * Moves of the position that no record has made: the seek that an ownership begins with,
 * and those of the source. No record is handled before a move of the source is committed.
 * Confined to the shard's worker.
 */
final class Repositioning implements CommitPart {

	/** Number of the last seek that was carried out, 0 for none. */
	private final long sought;

	/** Whether the next commit says that the seek was carried out. */
	private boolean recordsSeek;

	/** Whether the next commit has a move of the source. */
	private boolean moved;

	/** Whether the source has moved the shard, and the store does not know it yet. */
	private boolean moving;

	Repositioning(long sought) {
		this.sought = sought;
	}

	long sought() {
		return this.sought;
	}

	void recordSeek() {
		this.recordsSeek = true;
	}

	void moveOfSource() {
		this.moved = true;
		this.moving = true;
	}

	/** Returns whether a move of the source is not committed yet. */
	boolean isMoving() {
		return this.moving;
	}

	@Override
	public boolean isEmpty() {
		return !this.recordsSeek && !this.moved;
	}

	@Override
	public boolean isExclusive() {
		return this.moving || this.recordsSeek;
	}

	@Override
	public boolean permitsCalls() {
		return !this.moving;
	}

	@Override
	public Added addTo(Commit.Builder commit) {
		if (isEmpty()) {
			return Added.NOTHING;
		}
		Taken taken = new Taken(this.recordsSeek, this.moved);
		if (this.recordsSeek) {
			commit.seek(this.sought);
		}
		this.recordsSeek = false;
		this.moved = false;
		return taken;
	}

	/** A seek that is not carried out stays pending. */
	@Override
	public Added addAllTo(Commit.Builder commit, Checkpoint stored) {
		this.recordsSeek = this.sought != 0;
		return addTo(commit);
	}

	private final class Taken implements Added {

		private final boolean seek;

		private final boolean move;

		private Taken(boolean seek, boolean move) {
			this.seek = seek;
			this.move = move;
		}

		@Override
		public void committed() {
			Repositioning.this.moving &= !this.move;
		}

		@Override
		public void notCommitted() {
			Repositioning.this.recordsSeek |= this.seek;
			Repositioning.this.moved |= this.move;
		}

	}

}
