package io.github.shardkeeper.operations.steering;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.operations.request.OperationRequest;
import io.github.shardkeeper.shard.ShardId;

/**
 * Resumes a topic, except shards that are paused themselves, or a shard, unless its topic
 * is paused. Thread-safe.
 */
public final class ResumeOperation extends SteeringOperation {

	public ResumeOperation(OperatorCommands group) {
		super("resume", Set.of(Level.TOPIC, Level.SHARD), List.of(), group);
	}

	@Override
	List<String> perform(OperationRequest request, GroupSituation now) {
		ShardId shard = request.shard();
		boolean isPaused = now.directives().find(Kind.PAUSE, request.subject()) != null;
		List<String> effects = (shard != null) ? resume(shard, isPaused, now)
				: resume(request.requiredTopic(), isPaused, now);
		return isPaused ? clear(Kind.PAUSE, request.subject(), request, effects) : effects;
	}

	private static List<String> resume(String topic, boolean isPaused, GroupSituation now) {
		if (!isPaused) {
			now.requireTopic(topic);
			return List.of(running(topic));
		}
		List<String> effects = new ArrayList<>();
		effects.add("the shards of %s continue where they stopped".formatted(topic));
		long own = now.directives()
			.of(Kind.PAUSE)
			.stream()
			.filter((pause) -> pause.subject().startsWith(topic + "/"))
			.count();
		if (own > 0) {
			effects.add("%d of them stay paused, because they are paused themselves".formatted(own));
		}
		return effects;
	}

	private static List<String> resume(ShardId shard, boolean isPaused, GroupSituation now) {
		if (!isPaused) {
			now.require(shard);
		}
		Directive ofTopic = now.directives().find(Kind.PAUSE, shard.topic());
		String still = (ofTopic != null)
				? "%s stays paused, because its topic is paused %s".formatted(shard, ofTopic.byWhom()) : null;
		if (isPaused) {
			return List.of((still != null) ? still : "%s continues where it stopped".formatted(shard));
		}
		if (still != null) {
			throw OperationRefusedException.conflict(still + "; resume the topic");
		}
		return List.of(running(shard.toString()));
	}

	private static String running(String subject) {
		return subject + " is already running";
	}

}
