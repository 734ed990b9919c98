package io.github.shardkeeper.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.actuate.ShardMovesEndpoint.ShardMoves;
import io.github.shardkeeper.actuate.ShardsWebExtension.Refusal;
import io.github.shardkeeper.history.MemoryMoveHistory;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.history.MoveHistory.Bounds;
import io.github.shardkeeper.history.MoveReporter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

class ShardMovesWebExtensionTests {

	@Test
	void emptyHistoryCanBeFollowed() {
		MoveHistory history = new MemoryMoveHistory(new Bounds(10, Duration.ofDays(1)));

		assertAnswer(history, null, 200, new ShardMoves(List.of(), null, "0"));
	}

	@Test
	void malformedRequestIsRefusedWithTheReason() {
		assertAnswer(mock(), "many", 400, new Refusal("'limit' has to be from 1 to 1000"));
	}

	@Test
	void storeThatDoesNotAnswerIsUnavailable() {
		MoveHistory history = mock();
		given(history.read(any(), anyInt())).willThrow(new StoreUnavailableException("away", null));

		assertAnswer(history, null, 503, new Refusal("away"));
	}

	private static void assertAnswer(MoveHistory history, @Nullable String limit, int status, Object body) {
		WebEndpointResponse<Object> reply = new ShardMovesWebExtension(
				new ShardMovesEndpoint(new EndpointGroups<>(Map.of("orders", new MoveReporter(history)), Map::of)))
			.moves(null, null, null, null, null, null, limit, null);

		assertThat(reply.getStatus()).isEqualTo(status);
		assertThat(reply.getBody()).isEqualTo(body);
	}

}
