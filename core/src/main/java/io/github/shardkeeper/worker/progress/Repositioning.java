package io.github.shardkeeper.worker.progress;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitPart;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;

/**
 * Moves of the position that no record has made: the seek that an ownership begins with,
 * and those of the source. No record is handled before a move of the source is committed.
 * Confined to the shard's worker.
 */
final class Repositioning implements CommitPart.Gate {

	/** Number of the last seek that was carried out, 0 for none. */
	private final long sought;

	/**
	 * Whether that is the one that the ownership begins with, and it clears the state.
	 */
	private final boolean clears;

	/** Whether the next commit removes state and timers from the store. */
	private boolean clearing;

	/** Whether the next commit says that the seek was carried out. */
	private boolean recordsSeek;

	/** Whether the next commit has a move of the source. */
	private boolean moved;

	/** Whether the source has moved the shard, and the store does not know it yet. */
	private boolean moving;

	Repositioning(Seeks seeks) {
		SeekRequest begin = seeks.pending();
		this.sought = (begin != null) ? begin.number() : seeks.applied();
		this.clears = begin != null && begin.clearsState();
		this.clearing = this.clears;
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
		Taken taken = new Taken(this.recordsSeek, this.clearing, this.moved);
		if (this.recordsSeek) {
			commit.seek(this.sought);
		}
		if (this.clearing) {
			commit.clearState();
		}
		this.recordsSeek = false;
		this.clearing = false;
		this.moved = false;
		return taken;
	}

	/**
	 * A seek that is not carried out stays pending. One that was is carried out again if
	 * the store has what it was before: not all timers of today are in memory.
	 */
	@Override
	public Added addAllTo(Commit.Builder commit, Acquired stored) {
		this.recordsSeek = this.sought != 0;
		this.clearing |= this.clears && stored.seeks().applied() < this.sought && stored.checkpoint().offset() != null;
		return addTo(commit);
	}

	private final class Taken implements Added {

		private final boolean seek;

		private final boolean clears;

		private final boolean move;

		private Taken(boolean seek, boolean clears, boolean move) {
			this.seek = seek;
			this.clears = clears;
			this.move = move;
		}

		@Override
		public void committed() {
			Repositioning.this.moving &= !this.move;
		}

		@Override
		public void notCommitted() {
			Repositioning.this.recordsSeek |= this.seek;
			Repositioning.this.clearing |= this.clears;
			Repositioning.this.moved |= this.move;
		}

	}

}
