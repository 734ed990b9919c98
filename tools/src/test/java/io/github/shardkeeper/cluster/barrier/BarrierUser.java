package io.github.shardkeeper.cluster.barrier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.BarrierBrokenException;
import io.github.shardkeeper.cluster.ClusterView.View;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Entered;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Over;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Paused;
import io.github.shardkeeper.cluster.barrier.BarrierStore.Reply;
import io.github.shardkeeper.cluster.barrier.StoredBarriers.Entry;
import io.github.shardkeeper.cluster.barrier.StoredBarriers.Participation;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.time.MonotonicTime;

/** The barriers of an instance for a caller that must not block, such as a simulation. */
public final class BarrierUser {

	private final StoredBarriers barriers;

	public BarrierUser(ClusterSession session, BarrierStore store) {
		this.barriers = new StoredBarriers(session, store);
	}

	/** Begins to enter a barrier with a view. */
	public Round enter(String barrier, View view, Runnable wakeUp) {
		return new Round(barrier, view, wakeUp);
	}

	/** What came of an attempt. */
	public enum State {

		/** Call it again when it is woken or due. */
		WAITING,

		/** All are in, or all have left. */
		DONE,

		/** The round cannot begin, or is not complete. */
		FAILED

	}

	/** A round of this instance. */
	public final class Round {

		private final Participation participation;

		private final View view;

		private final Runnable wakeUp;

		private BarrierRequest request;

		private @Nullable Entry entry;

		private Round(String barrier, View view, Runnable wakeUp) {
			this.view = view;
			this.wakeUp = wakeUp;
			this.participation = BarrierUser.this.barriers.begin(barrier);
			this.request = BarrierUser.this.barriers.entering(this.participation, view.size(), view.number(),
					view.self(), wakeUp);
		}

		/** Asks whether all are in. */
		public State entering() {
			Reply reply;
			try {
				reply = this.request.attempt();
			}
			catch (StoreUnavailableException ex) {
				return State.WAITING;
			}
			catch (BarrierBrokenException ex) {
				BarrierUser.this.barriers.end(this.participation);
				return State.FAILED;
			}
			if (reply == null) {
				return State.WAITING;
			}
			if (reply instanceof Entered entered && this.request.askedAs() != null) {
				entered(new Entry(this.request.askedAs(), entered.round()));
				return State.DONE;
			}
			BarrierUser.this.barriers.end(this.participation);
			return State.FAILED;
		}

		private void entered(Entry entered) {
			this.entry = entered;
			this.participation.entered(entered);
		}

		/** Does not wait any longer; returns whether all are in nevertheless. */
		public boolean giveUp() {
			Entry late = BarrierUser.this.barriers.withdraw(this.participation, this.request);
			if (late == null) {
				BarrierUser.this.barriers.end(this.participation);
				return false;
			}
			entered(late);
			return true;
		}

		/** Begins to leave. */
		public void leave() {
			Entry left = this.participation.startLeaving();
			if (left == null) {
				throw new IllegalStateException("Not entered");
			}
			this.request = BarrierUser.this.barriers.leaving(this.participation, left, this.wakeUp);
		}

		/** Asks whether all have left. */
		public State leaving() {
			Reply reply = null;
			boolean failed = false;
			try {
				reply = this.request.attempt();
			}
			catch (StoreUnavailableException ex) {
				return State.WAITING;
			}
			catch (BarrierBrokenException ex) {
				failed = true;
			}
			if (reply == null && !failed) {
				return State.WAITING;
			}
			Reply last = this.request.last();
			if (this.entry != null) {
				BarrierUser.this.barriers.left(this.participation, this.entry,
						last != null && !(last instanceof Paused));
			}
			BarrierUser.this.barriers.end(this.participation);
			return (reply instanceof Over) ? State.DONE : State.FAILED;
		}

		public boolean isWoken() {
			return this.request.isWoken();
		}

		public @Nullable MonotonicTime attemptAt() {
			return this.request.attemptAt();
		}

		public long number() {
			return (this.entry != null) ? this.entry.round() : 0;
		}

		public View view() {
			return this.view;
		}

	}

}
