package io.github.shardkeeper.cluster.session;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.ClusterView.Member;
import io.github.shardkeeper.shard.MemberId;

/**
 * Store of the group's view and of the versions of what the other tools keep.
 * Thread-safe.
 */
public interface ViewStore {

	/**
	 * Reads the view. The first reader after a change of the members gives it a number,
	 * frees what members that are gone have held, and tells the others. Repeatable.
	 * @param reader the session of this instance
	 * @param address the address at which it has subscribed to messages
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; a retry makes sense
	 */
	Reply read(MemberId reader, String address);

	/**
	 * The reply.
	 *
	 * @param known whether the store knows the reader's session; without it the rest is
	 * empty
	 * @param subscribed whether the store sees the subscription to the address
	 * @param number the number of the view
	 * @param members the members that are not leaving, ordered by id
	 * @param signals the number of the last signal
	 * @param parameters the version of the last change of a parameter
	 * @param failure why what members that are gone have held cannot all be freed;
	 * {@code null} if it is
	 */
	record Reply(boolean known, boolean subscribed, long number, List<Member> members, long signals, long parameters,
			@Nullable StoreUnavailableException failure) {

		public static final Reply UNKNOWN = new Reply(false, false, 0, List.of(), 0, 0);

		public Reply {
			members = List.copyOf(members);
		}

		/** Creates a reply without a failure. */
		public Reply(boolean known, boolean subscribed, long number, List<Member> members, long signals,
				long parameters) {
			this(known, subscribed, number, members, signals, parameters, null);
		}

		/** Returns the same with a failure. */
		public Reply withFailure(StoreUnavailableException failure) {
			return new Reply(this.known, this.subscribed, this.number, this.members, this.signals, this.parameters,
					failure);
		}

	}

}
