package io.github.shardkeeper.coordination;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What every {@link CoordinationStore} does. A subclass supplies stores and the passing
 * of their time; nothing here sleeps.
 * <p>
 * The stories hold when time passes by itself, too: what must not end has an hour, what
 * must end has been waited for.
 */
public abstract class CoordinationStoreContract implements MembershipStories, LeadershipStories, PlanStories,
		ReleaseStories, QuietStories, LeaveStories, ReapStories, ClaimStories, PresentStories, LostWritesStories,
		ChangesStories, LoadStories, NotifyOwnersStories, ForgetStories, NotificationStories, StatusStories {

	private TestGroup group;

	/**
	 * Creates a store for a group that never existed before.
	 * @return the store, which the contract closes
	 */
	protected abstract CoordinationStore createStore();

	/**
	 * What keeps the group.
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
