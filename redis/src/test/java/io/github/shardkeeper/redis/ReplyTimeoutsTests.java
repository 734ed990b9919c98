package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Requests time out, whatever else fails.
 */
class ReplyTimeoutsTests {

	private static final int STEPS_BEFORE_THE_END = 10;

	/** Steps that are due. */
	private final Queue<Runnable> steps = new ArrayDeque<>();

	@Test
	void answersTimeOutAfterTheLimitAndAtMostOneStepMore() {
		ReplyTimeouts watch = new ReplyTimeouts(this.steps::add, Runnable::run, STEPS_BEFORE_THE_END, 1);
		PendingReplies<String> first = send(new Ping());
		watch.add(first);
		PendingReplies<String> second = send(new Ping());
		watch.add(second);

		for (int i = 0; i < STEPS_BEFORE_THE_END; i++) {
			step();
		}
		assertThat(first.isDone()).isFalse();
		step();
		assertThat(first.isDone()).isTrue();
		assertThat(second.isDone()).isTrue();
		assertThat(this.steps).isEmpty();
	}

	@Test
	void stepsContinueAfterAFailedStep() {
		ReplyTimeouts watch = new ReplyTimeouts(this.steps::add, Runnable::run, STEPS_BEFORE_THE_END, 1);
		PendingReplies<String> sent = send(new Ping() {

			private boolean failed;

			@Override
			public boolean cancel(boolean mayInterruptIfRunning) {
				if (!this.failed) {
					this.failed = true;
					throw new IllegalStateException("caused by the test");
				}
				return super.cancel(mayInterruptIfRunning);
			}

		});
		watch.add(sent);
		for (int i = 0; i < STEPS_BEFORE_THE_END; i++) {
			step();
		}

		assertThatIllegalStateException().isThrownBy(this::step);
		assertThat(sent.isDone()).isFalse();
		step();
		assertThat(sent.isDone()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 200, 1_000, 5_000, 30_000, 60_001 })
	void stepIsAtMostATenthOfTheLimitAndAtMost500Millis(long limitMillis) {
		Duration limit = Duration.ofMillis(limitMillis);
		Duration step = limit.dividedBy(ReplyTimeouts.stepsIn(limit));
		assertThat(step).isLessThanOrEqualTo(limit.dividedBy(10)).isLessThanOrEqualTo(Duration.ofMillis(500));
	}

	/** Runs the tasks that are due now, not those that they schedule. */
	private void step() {
		for (int left = this.steps.size(); left > 0; left--) {
			this.steps.remove().run();
		}
	}

	private static PendingReplies<String> send(AsyncCommand<String, String, String> command) {
		PendingReplies<String> sent = new PendingReplies<>(Duration.ofSeconds(1), 0, null,
				new PendingRepliesTests.Deaf());
		sent.send(List.of(command), PendingRepliesTests.connection((self, method, arguments) -> null));
		return sent;
	}

	private static class Ping extends AsyncCommand<String, String, String> {

		Ping() {
			super(new Command<>(CommandType.PING, new StatusOutput<>(StringCodec.UTF8)));
		}

	}

}
