package io.github.shardkeeper.handler;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class HandlerCallTests {

	private final HandlerCall call = new HandlerCall();

	@Test
	void runningCallIsInterrupted() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				this.call.run(() -> {
					begun.countDown();
					new CountDownLatch(1).await();
				});
			}
			catch (Throwable ex) {
				interrupted.complete(ex instanceof InterruptedException && !Thread.currentThread().isInterrupted());
			}
		});
		thread.start();
		begun.await();
		this.call.interrupt();

		assertThat(interrupted.get(10, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void interruptDoesNotLeakOutOfTheCall() throws Throwable {
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.call.run(() -> this.call.interrupt()));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThat(this.call.wasInterrupted()).isTrue();

		this.call.run(() -> Thread.currentThread().interrupt());
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	/** It has completed its work. */
	@Test
	void callThatClearsItsInterruptHasReturned() throws Throwable {
		this.call.run(() -> {
			this.call.interrupt();
			assertThat(Thread.interrupted()).isTrue();
		});

		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void interruptWithoutACallHasNoEffect() throws Throwable {
		this.call.run(() -> {
		});
		this.call.interrupt();

		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void exceptionOfTheCallIsRethrown() {
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.call.run(() -> {
			throw new IOException("from the handler");
		}));
	}

}
