package io.github.shardkeeper.coordination.store;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * Tests that every {@link CoordinationStore} must pass. A subclass supplies stores and
 * their time; nothing here sleeps.
 * <p>
 * The tests also hold if time passes by itself: periods that must not end last for an
 * hour, and the tests wait for those that must end.
 */
public abstract class CoordinationStoreContract
		implements MembershipStories, LeadershipStories, PlanStories, ReleaseStories, QuietStories, LeaveStories,
		RestartStories, ReapStories, ClaimStories, PresentStories, LostWritesStories, ChangesStories, LoadStories,
		NotifyOwnersStories, ForgetStories, NotificationStories, StatusStories {

	private TestGroup group;

	/**
	 * Creates a store for a group that never existed before.
	 * @return the store, which the contract closes
	 */
	protected abstract CoordinationStore createStore();

	/**
	 * Returns the server of the group.
	 * @return the server of the store that was created last
	 */
	protected abstract StoreServer server();

	@BeforeEach
	protected final void openGroup() {
		this.group = new TestGroup(createStore(), server());
		this.group.found();
	}

	@AfterEach
	protected final void closeGroup() {
		this.group.close();
	}

	@Override
	public final TestGroup group() {
		return this.group;
	}

}
