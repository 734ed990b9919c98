package io.github.shardkeeper;

import java.time.Instant;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * Application event: somebody changed something about the group through an endpoint of
 * this instance. It is published by the instance that was asked, also if the operation
 * failed halfway, and not for a dry run. Texts are on one line and bounded. Immutable.
 *
 * @param group the group
 * @param action the operation, for example {@code seek}, {@code drop} or {@code drain}
 * @param topic the topic; {@code null} if the operation concerns no single topic
 * @param shard the shard; {@code null} if the operation concerns no single shard
 * @param member the member or instance that the caller named, {@code null} for none
 * @param by the caller, {@code unknown} if nobody is authenticated and no name was sent
 * @param reason the reason that the caller gave, {@code null} for none
 * @param effects what happened, a sentence each
 * @param time the time by the clock of the instance
 */
public record ShardOperationEvent(String group, String action, @Nullable String topic, @Nullable ShardId shard,
		@Nullable String member, String by, @Nullable String reason, List<String> effects, Instant time) {

	public ShardOperationEvent {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(action, "action must not be null");
		Objects.requireNonNull(by, "by must not be null");
		Objects.requireNonNull(effects, "effects must not be null");
		Objects.requireNonNull(time, "time must not be null");
		effects = List.copyOf(effects);
	}

}
