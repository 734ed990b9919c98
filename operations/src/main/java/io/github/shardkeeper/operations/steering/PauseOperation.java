package io.github.shardkeeper.operations.steering;

import java.util.List;
import java.util.Set;

import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.operations.request.OperationRequest;
import io.github.shardkeeper.shard.ShardId;

/**
 * Stops the handling of records of a shard, or of all shards of a topic, which keep their
 * owners. Thread-safe.
 */
public final class PauseOperation extends SteeringOperation {

	public PauseOperation(OperatorCommands group) {
		super("pause", Set.of(Level.TOPIC, Level.SHARD), List.of(), group);
	}

	@Override
	List<String> perform(OperationRequest request, GroupSituation now) {
		ShardId shard = request.shard();
		String topic = request.requiredTopic();
		if (shard != null) {
			now.require(shard);
		}
		else {
			now.requireTopic(topic);
		}
		String subject = request.subject();
		Directive before = now.directives().find(Kind.PAUSE, subject);
		if (before != null) {
			return List.of("%s is already paused %s".formatted(subject, before.byWhom()));
		}
		String what = (shard != null) ? subject : "all %d shards of %s".formatted(now.shardsOf(topic), topic);
		return put(request.directive(Kind.PAUSE, subject, null), request, List.of(
				"%s: running calls return, what is done is committed, and no further record is handled".formatted(what),
				"owners and state stay; records wait in the source until it is resumed"));
	}

}
