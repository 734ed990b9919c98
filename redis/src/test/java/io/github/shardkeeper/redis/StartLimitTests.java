package io.github.shardkeeper.redis;

import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

import org.springframework.context.SmartLifecycle;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * When the limit for waiting at a start begins and ends. Nothing here needs a Redis.
 */
class StartLimitTests {

	private final RedisConnector connector = new RedisConnector(new LettuceConnectionFactory());

	private final GenericApplicationContext context = new GenericApplicationContext();

	@Test
	void everyStartHasALimitOfItsOwnThatEndsWithIt() {
		Starts starts = new Starts((limit) -> assertThat(limit).isNotSameAs(StartupTimeout.NONE));
		refresh(starts);
		assertThat(limit()).isSameAs(StartupTimeout.NONE);

		this.context.stop();
		this.context.start();
		assertThat(starts.count).isEqualTo(2);
		assertThat(limit()).isSameAs(StartupTimeout.NONE);

		this.context.pause();
		this.context.restart();
		assertThat(starts.count).isEqualTo(3);
		assertThat(limit()).isSameAs(StartupTimeout.NONE);
		this.context.close();
	}

	@Test
	void startOfAnotherContextEndsNothing() {
		refresh(new Starts((limit) -> {
			try (GenericApplicationContext child = new GenericApplicationContext(this.context)) {
				child.refresh();
				assertThat(limit()).isSameAs(limit).isNotSameAs(StartupTimeout.NONE);
				child.stop();
				child.start();
				assertThat(limit()).isSameAs(limit);
			}
		}));

		assertThat(limit()).isSameAs(StartupTimeout.NONE);
		this.context.close();
	}

	@Test
	void limitOfAStartThatHasFailedEndsWithItsContext() {
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> refresh(new Starts((limit) -> {
			throw new IllegalStateException("no start");
		}))).withStackTraceContaining("no start");

		assertThat(limit()).isSameAs(StartupTimeout.NONE);
	}

	private void refresh(Starts starts) {
		this.context.registerBean(RedisConnector.class, () -> this.connector);
		this.context.registerBean(Starts.class, () -> starts);
		this.context.refresh();
	}

	private StartupTimeout limit() {
		return this.connector.startupTimeout();
	}

	/** Starts after the connector, and looks at the limit. */
	private final class Starts implements SmartLifecycle {

		private final Consumer<StartupTimeout> look;

		private boolean running;

		private int count;

		Starts(Consumer<StartupTimeout> look) {
			this.look = look;
		}

		@Override
		public void start() {
			this.running = true;
			this.count++;
			this.look.accept(limit());
		}

		@Override
		public void stop() {
			this.running = false;
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

	}

}
