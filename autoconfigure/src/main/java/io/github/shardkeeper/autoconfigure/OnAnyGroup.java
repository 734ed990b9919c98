package io.github.shardkeeper.autoconfigure;

import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;

import io.github.shardkeeper.actuate.GroupBeans;
import io.github.shardkeeper.coordination.ShardCoordinator;

/** Matches if the application has a group, with or without a name. */
public final class OnAnyGroup extends AnyNestedCondition {

	/** Creates the condition. */
	public OnAnyGroup() {
		super(ConfigurationPhase.REGISTER_BEAN);
	}

	@ConditionalOnBean(ShardCoordinator.class)
	static class Own {

	}

	@ConditionalOnBean(GroupBeans.class)
	static class Named {

	}

}
