package io.github.shardkeeper.redis;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
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

/**
 * Each reply that is waited for comes, whatever else fails.
 */
class PendingRepliesTests {

	private final AsyncCommand<String, String, String> ping = new AsyncCommand<>(
			new Command<>(CommandType.PING, new StatusOutput<>(StringCodec.UTF8)));

	@Test
	void answerFailsEvenIfTheObserverOfFailuresThrows() {
		PendingReplies<String> sent = new PendingReplies<>(Duration.ofSeconds(1), 0, null, new Deaf() {
			@Override
			public void failed(RedisException failure) {
				throw new IllegalStateException("the client is being stopped");
			}
		});

		sent.send(List.of(this.ping), withoutConnection());
		CompletableFuture<String> reply = sent.replies().get(0);

		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> reply.get(10, TimeUnit.SECONDS))
			.withCauseInstanceOf(StoreUnavailableException.class)
			.withMessageContaining("nobody is there");
		assertThat(sent.isDone()).isTrue();
	}

	@Test
	void answerFailsEvenIfTheObserverOfTheEndThrows() {
		PendingReplies<String> sent = new PendingReplies<>(Duration.ofSeconds(1), 0, null, new Deaf() {
			@Override
			public void ended(boolean answered, boolean timedOut) {
				throw new IllegalStateException("the client is being stopped");
			}
		});

		sent.send(List.of(this.ping), withoutConnection());
		CompletableFuture<String> reply = sent.replies().get(0);

		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> reply.get(10, TimeUnit.SECONDS))
			.withCauseInstanceOf(StoreUnavailableException.class);
	}

	@Test
	void errorCountsAsAnAnswer() {
		assertEnded(new RedisCommandExecutionException("ERR caused by the test"), true, false);
	}

	@Test
	void timeoutOfTheClientCountsAsATimeout() {
		assertEnded(new RedisCommandTimeoutException("caused by the test"), false, true);
	}

	@Test
	void closedConnectionIsNeitherAnswerNorTimeout() {
		assertEnded(new RedisException("caused by the test"), false, false);
	}

	/** The time-outs of other commands have closed the connection. */
	@Test
	void closedUnresponsiveConnectionIsReportedAsUnanswered() {
		PendingReplies<String> sent = new PendingReplies<>(Duration.ofSeconds(1), 0, null, new Deaf() {
			@Override
			public boolean isUnresponsive() {
				return true;
			}
		});
		sent.expect(List.of(this.ping));
		CompletableFuture<String> reply = sent.replies().get(0);

		this.ping.completeExceptionally(new RedisException("Connection closed"));

		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> reply.get(10, TimeUnit.SECONDS))
			.withCauseInstanceOf(StoreUnavailableException.class)
			.withMessageContaining("no reply within 1000 ms");
	}

	/** Failures as commands on a Cluster report them. */
	@Test
	void wrappedErrorIsTheError() {
		assertEnded(new CompletionException(new RedisCommandExecutionException("NOPERM caused by the test")), true,
				false);
	}

	private void assertEnded(Exception failure, boolean answered, boolean timedOut) {
		List<Boolean> ended = new ArrayList<>();
		PendingReplies<String> sent = new PendingReplies<>(Duration.ofSeconds(1), 0, null, new Deaf() {
			@Override
			public void ended(boolean withAnswer, boolean withTimeout) {
				ended.addAll(List.of(withAnswer, withTimeout));
			}
		});
		sent.expect(List.of(this.ping));

		this.ping.completeExceptionally(failure);

		assertThat(ended).containsExactly(answered, timedOut);
	}

	/** One on which nothing can be sent. */
	private static Connection<String> withoutConnection() {
		return connection((self, method, arguments) -> {
			throw new RedisException("nobody is there");
		});
	}

	/** Returns a connection that does nothing by itself. */
	@SuppressWarnings("unchecked")
	static Connection<String> connection(InvocationHandler handler) {
		Object proxy = Proxy.newProxyInstance(PendingRepliesTests.class.getClassLoader(),
				new Class<?>[] { StatefulConnection.class, RedisClusterAsyncCommands.class }, handler);
		return new Connection<>((StatefulConnection<String, String>) proxy,
				(RedisClusterAsyncCommands<String, String>) proxy);
	}

	/** One that does not listen. */
	static class Deaf implements PendingReplies.Observer {

		@Override
		public void failed(RedisException failure) {
		}

		@Override
		public boolean isUnresponsive() {
			return false;
		}

		@Override
		public void ended(boolean answered, boolean timedOut) {
		}

	}

}
