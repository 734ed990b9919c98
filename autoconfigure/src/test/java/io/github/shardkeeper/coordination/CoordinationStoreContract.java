package io.github.shardkeeper.coordination;

import java.time.Duration;

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
		ReleaseStories, LeaveStories, ReapStories, ChangesStories, NotificationStories {

	private TestGroup group;

	/**
	 * Creates a store for a group that never existed before.
	 * @return the store, which the contract closes
	 */
	protected abstract CoordinationStore createStore();

	/**
	 * Returns when at least that much of the store's time has passed.
	 * @param duration how much
	 */
	protected abstract void advance(Duration duration);

	@BeforeEach
	protected final void openGroup() {
		this.group = new TestGroup(createStore(), this::advance);
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
