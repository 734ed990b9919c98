package io.github.shardkeeper.cluster;

import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;

/**
 * The members of the group, and the place of this instance among them, for work that is
 * divided by {@code id % n == i}.
 * <p>
 * A view has a number that changes only when members come or go, and never repeats: two
 * instances with the same number see the same members in the same order. Instances learn
 * of a new view at slightly different times, so that for a moment two of them may work on
 * different views. A round that must cover every id exactly once enters a
 * {@link DoubleBarrier} with its view: all parties then have the same one, or hear that
 * they do not.
 * <p>
 * Thread-safe.
 */
public interface ClusterView {

	/**
	 * Returns the newest view that this instance knows. It does not change: use one for a
	 * whole round of work. It has no index while this instance does not hold its lease.
	 * @return the view; empty, with number 0, until the first one is read
	 */
	View current();

	/**
	 * Returns the number of members in the current view.
	 * @return the number; 0 until the first view is read
	 */
	default int size() {
		return current().size();
	}

	/**
	 * Returns the index of this instance in the current view.
	 * @return a number from 0 to {@code size() - 1}; empty while this instance does not
	 * hold its lease or is leaving
	 */
	OptionalInt index();

	/**
	 * Returns whether an id belongs to this instance in the current view.
	 * @param id any number, also a negative one
	 * @return {@code true} if {@code id} modulo the size is the index of this instance;
	 * {@code false} without an index
	 */
	boolean isMine(long id);

	/**
	 * Adds a listener to new views. It is called in order, on another thread, never in
	 * parallel with itself, also with the current view if there is one. Several changes
	 * in quick succession may be reported as one. A view that it got without an index,
	 * because this instance did not hold its lease, is reported again with the index. A
	 * listener that throws is logged and called again next time.
	 * @param listener the listener
	 * @return removes the listener
	 */
	Runnable onChange(Consumer<? super View> listener);

	/**
	 * A member of the group. Immutable.
	 *
	 * @param id the id of its session; begins with the id of the instance
	 * @param version the version of its application
	 * @param capacity its capacity relative to other members
	 * @param zone its zone, {@code null} for none
	 */
	record Member(MemberId id, ApplicationVersion version, int capacity, @Nullable String zone) {

		public Member {
			Objects.requireNonNull(id, "id must not be null");
			Objects.requireNonNull(version, "version must not be null");
		}

	}

	/**
	 * The members of the group at one time. Immutable.
	 *
	 * @param number the number of the view; higher for a later one
	 * @param members the members that are not leaving, ordered by id
	 * @param self the session in which this instance has read the view, {@code null} for
	 * none
	 */
	record View(long number, List<Member> members, @Nullable MemberId self) {

		/** The view before the first one is read. */
		public static final View NONE = new View(0, List.of(), null);

		public View {
			Objects.requireNonNull(members, "members must not be null");
			members = List.copyOf(members);
		}

		/** Returns the number of members. */
		public int size() {
			return this.members.size();
		}

		/**
		 * Returns the index of this instance. It stays the same when the session or the
		 * lease ends later.
		 * @return a number from 0 to {@code size() - 1}; empty if this instance was not a
		 * member
		 */
		public OptionalInt index() {
			for (int i = 0; i < this.members.size(); i++) {
				if (this.members.get(i).id().equals(this.self)) {
					return OptionalInt.of(i);
				}
			}
			return OptionalInt.empty();
		}

		/**
		 * Returns whether an id belongs to this instance.
		 * @param id any number, also a negative one
		 * @return whether {@code id} modulo the size is the index
		 */
		public boolean isMine(long id) {
			OptionalInt index = index();
			return index.isPresent() && Math.floorMod(id, (long) size()) == index.getAsInt();
		}

	}

}
