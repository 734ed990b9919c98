package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisException;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector.Connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * A connection to a Cluster that another thread closes while something is sent on it. The
 * client sees that it is closed or, for an instant, fails with a
 * {@link NullPointerException}.
 */
class ClosedConnectionTests {

	private final NullPointerException thrown = new NullPointerException("clusterConnectionProvider");

	@Test
	void sendingFailsLikeThatOnAClosedConnection() {
		assertThatExceptionOfType(RedisException.class)
			.isThrownBy(() -> connection(false).send((on) -> on.commands().get("key")))
			.withMessageContaining("closed meanwhile")
			.withCause(this.thrown);
	}

	@Test
	void defectOnAnOpenConnectionIsNotHidden() {
		assertThatNullPointerException().isThrownBy(() -> connection(true).send((on) -> on.commands().get("key")))
			.isSameAs(this.thrown);
	}

	@Test
	void replyToACommandSaysThatTheStoreIsUnavailable() {
		PendingReplies<String> sent = new PendingReplies<>(Duration.ofSeconds(1), 0, null,
				new PendingRepliesTests.Deaf());

		sent.send(List.of(new AsyncCommand<>(new Command<>(CommandType.PING, new StatusOutput<>(StringCodec.UTF8)))),
				connection(false));

		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> sent.replies().get(0).get(10, TimeUnit.SECONDS))
			.withCauseInstanceOf(StoreUnavailableException.class)
			.withMessageContaining("closed meanwhile");
		assertThat(sent.isDone()).isTrue();
	}

	private Connection<String> connection(boolean open) {
		return PendingRepliesTests.connection((self, method, arguments) -> {
			if (method.getName().equals("isOpen")) {
				return open;
			}
			throw this.thrown;
		});
	}

}
