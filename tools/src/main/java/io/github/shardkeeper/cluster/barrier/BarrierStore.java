package io.github.shardkeeper.cluster.barrier;

import java.util.List;

import io.github.shardkeeper.shard.MemberId;

/**
 * Store of the double barriers of a group. A round collects parties until it is full;
 * then it gets a number that is never used again, and runs until all have left. A party
 * is a session, under a ticket. One that the group does not know any more is removed from
 * a round that collects, and breaks one that runs. Reading the view does that; it also
 * ends rounds that collect the members of another view. All methods are repeatable.
 * <p>
 * Messages: {@code barrier|<name>|<round>|<what>} to all when something has changed that
 * others wait for: {@code full}, {@code over}, {@code broken} or {@code view}. Those who
 * wait ask again.
 * <p>
 * Every method may throw {@link io.github.shardkeeper.StoreUnavailableException}.
 * Thread-safe.
 */
public interface BarrierStore {

	/**
	 * Enters a barrier, or asks whether all are in.
	 * @return {@link Entered}, {@link Waiting}, {@link Busy}, {@link Paused},
	 * {@link ViewChanged} or {@link OtherParties}
	 */
	Reply enter(Request request);

	/**
	 * Gives up waiting for the others to enter.
	 * @param force whether to give up also if all are in, which breaks the round
	 * @return {@link Entered} if all are in and it is not forced, else {@link Withdrawn}
	 */
	Reply withdraw(MemberId session, String barrier, String ticket, boolean force);

	/**
	 * Leaves a round, or asks whether all have left.
	 * @return {@link Over}, {@link Waiting}, {@link Broken}, {@link Lost} or
	 * {@link Paused}
	 */
	Reply leave(MemberId session, String barrier, String ticket, long round);

	/**
	 * A request to enter.
	 *
	 * @param session the session
	 * @param barrier the name of the barrier
	 * @param ticket the address of the instance, a dot, and a number that is never used
	 * again
	 * @param parties the number of parties
	 * @param view the number of the view that all must have; 0 for a round without one
	 */
	record Request(MemberId session, String barrier, String ticket, int parties, long view) {

	}

	/** The reply of the store. */
	sealed interface Reply {

	}

	/**
	 * All are in.
	 *
	 * @param round the number of the round
	 */
	record Entered(long round) implements Reply {

	}

	/**
	 * Some are missing still.
	 *
	 * @param done the number of parties that are in, or have left
	 * @param parties the number of all
	 */
	record Waiting(int done, int parties) implements Reply {

	}

	/**
	 * A round without this party is under way; a message tells of its end.
	 *
	 * @param left the number of its parties that have left
	 * @param parties the number of its parties
	 */
	record Busy(int left, int parties) implements Reply {

	}

	/**
	 * Nothing can be said now: the group does not know the session, its lease has ended,
	 * or members may still claim what they held before a loss of writes.
	 *
	 * @param millis the time after which to ask again
	 */
	record Paused(long millis) implements Reply {

	}

	/**
	 * The group has another view; the party is not in.
	 *
	 * @param current the number of the group's view
	 */
	record ViewChanged(long current) implements Reply {

	}

	/**
	 * Those who wait have come with another number, or with another kind of round; the
	 * party is not in.
	 *
	 * @param parties their number
	 * @param withView whether they have come with a view
	 */
	record OtherParties(int parties, boolean withView) implements Reply {

	}

	/** The party is not in. */
	record Withdrawn() implements Reply {

	}

	/** All have left. */
	record Over() implements Reply {

	}

	/**
	 * Parties have gone without leaving.
	 *
	 * @param missing their sessions
	 */
	record Broken(List<MemberId> missing) implements Reply {

		public Broken {
			missing = List.copyOf(missing);
		}

	}

	/** The store does not know the party in this round. */
	record Lost() implements Reply {

	}

}
