package io.github.shardkeeper.worker.failure;

import java.util.List;

import org.slf4j.event.Level;

import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.FailureHandler;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.ConsumerMeters.TopicMeters;
import io.github.shardkeeper.worker.shard.FailureLog;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Choices of the application's failure handlers. A choice that cannot be used is
 * reported, and counts as none: the record takes the configured way and is not lost.
 * Confined to the shard's worker.
 */
final class FailureChoices {

	private final OwnedShard owned;

	FailureChoices(OwnedShard owned) {
		this.owned = owned;
	}

	/**
	 * Returns the first choice of a handler, which the topic has. Never throws: the
	 * record must take some route.
	 * @param attempt the number of the call that has failed
	 */
	FailureAction choose(TrackedRecord record, int attempt, Throwable failure) {
		List<FailureHandler> handlers = this.owned.settings().failureHandlers();
		if (handlers.isEmpty()) {
			return FailureAction.asConfigured();
		}
		ShardRecord<byte[]> failed = failed(record.source(), attempt);
		for (FailureHandler handler : handlers) {
			FailureAction chosen;
			try {
				chosen = handler.choose(this.owned, failed, failure);
			}
			catch (Throwable ex) {
				return unusable(handler, failed, "has failed", FailureLog.printable(ex));
			}
			if (chosen == null) {
				return unusable(handler, failed, "has returned null", failure);
			}
			if (chosen.kind() != FailureAction.Kind.AS_CONFIGURED) {
				String obstacle = this.owned.settings().obstacle(chosen, this.owned.shard().topic());
				return (obstacle == null) ? chosen : unusable(handler, failed,
						"has chosen %s, but %s".formatted(chosen.kind(), obstacle), failure);
			}
		}
		return FailureAction.asConfigured();
	}

	private ShardRecord<byte[]> failed(SourceRecord source, int attempt) {
		return new ShardRecord<>(this.owned.shard(), source.offset(), source.key(), source.payload(), source.headers(),
				source.timestamp(), attempt);
	}

	private FailureAction unusable(FailureHandler handler, ShardRecord<byte[]> record, String problem,
			Throwable failure) {
		String name = handler.getClass().getName();
		this.owned.meters().count(TopicMeters::failureHandlerFailed);
		try {
			this.owned.context()
				.failures()
				.log(Level.ERROR, "failure handler " + name + " " + problem,
						"The FailureHandler %s %s; the record at offset %s of %s is treated as configured"
							.formatted(name, problem, record.offset(), this.owned),
						failure);
		}
		catch (Throwable ex) {
			// Appenders of the application run here. It is counted already.
		}
		return FailureAction.asConfigured();
	}

}
