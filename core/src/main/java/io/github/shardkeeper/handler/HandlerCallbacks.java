package io.github.shardkeeper.handler;

import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * Methods of a handler's bean that are called besides the {@code @ShardConsumer} method.
 * Immutable.
 *
 * @param preparing the {@code @OnShardPreparing} methods
 * @param assigned the {@code @OnShardAssigned} methods
 * @param revoked the {@code @OnShardRevoked} methods
 * @param timer the {@code @OnShardTimer} method, {@code null} if there is none
 */
record HandlerCallbacks(List<HandlerSignature> preparing, List<HandlerSignature> assigned,
		List<HandlerSignature> revoked, @Nullable HandlerSignature timer) {

	boolean isEmpty() {
		return all().findAny().isEmpty();
	}

	Stream<HandlerSignature> all() {
		return Stream
			.of(this.preparing, this.assigned, this.revoked,
					(this.timer != null) ? List.of(this.timer) : List.<HandlerSignature>of())
			.flatMap(List::stream);
	}

}
