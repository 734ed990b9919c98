package io.github.shardkeeper.operations.stored;

import java.util.Collection;
import java.util.Objects;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.RetiredTopics;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.TopicGroups;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.ForgetReply;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.shard.Names;

/**
 * Removes topics from a group's stores: first from the control plane, which refuses while
 * a member consumes them. Thread-safe.
 */
public final class StoredRetiredTopics implements RetiredTopics {

	private static final int MOST_NAMED = 10;

	private final String group;

	private final CoordinationStore coordination;

	private final CheckpointStore checkpoints;

	private final @Nullable TopicGroups groups;

	/**
	 * Creates an instance for a group.
	 * @param groups the groups that trimming waits for, {@code null} if nothing is
	 * trimmed
	 */
	public StoredRetiredTopics(String group, CoordinationStore coordination, CheckpointStore checkpoints,
			@Nullable TopicGroups groups) {
		this.group = group;
		this.coordination = coordination;
		this.checkpoints = checkpoints;
		this.groups = groups;
	}

	@Override
	public int forget(String topic) {
		return forgetShards(topic).forgotten();
	}

	@Override
	public int forgetWithData(String topic) {
		ForgetReply reply = forgetShards(topic);
		CheckpointStore.Removal removal = this.checkpoints.remove(topic, reply.newest());
		if (!removal.kept().isEmpty()) {
			throw new IllegalStateException(
					"'%s' is consumed again: %s of group '%s' were acquired in the meantime, and their data was kept. The data of %d other shards was removed"
						.formatted(topic, named(removal.kept()), this.group, removal.removed().size()));
		}
		if (this.groups != null) {
			this.groups.unregister(topic);
		}
		removeDirectives(topic);
		return removal.removed().size();
	}

	/** A topic that is consumed again starts without the pauses and pins of before. */
	private void removeDirectives(String topic) {
		DirectiveStore directives = this.coordination.directives();
		for (Directive directive : directives.read().all()) {
			if (directive.isAbout(topic)) {
				directives.clear(directive.kind(), directive.subject());
			}
		}
	}

	private ForgetReply forgetShards(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		if (!Names.isValid(topic)) {
			throw new IllegalArgumentException("Not a valid topic: '%s'. %s".formatted(topic, Names.RULE));
		}
		ForgetReply reply = this.coordination.forgetShards(topic);
		if (!reply.users().isEmpty()) {
			throw new IllegalStateException(
					("'%s' is not retired: these members of group '%s' consume it, own a shard of it, or are the target of a "
							+ "move: %s. Deploy all instances without a handler for it first; one that has crashed counts "
							+ "until its session has ended")
						.formatted(topic, this.group, named(reply.users())));
		}
		return reply;
	}

	/** Returns the first ones and the number of the others. */
	private static String named(Collection<?> all) {
		String first = all.stream().limit(MOST_NAMED).map(String::valueOf).collect(Collectors.joining(", "));
		return (all.size() > MOST_NAMED) ? first + " and " + (all.size() - MOST_NAMED) + " more" : first;
	}

}
