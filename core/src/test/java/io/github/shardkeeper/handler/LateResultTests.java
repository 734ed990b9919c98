package io.github.shardkeeper.handler;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.aot.AotServices;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoMoreInteractions;

/**
 * Results of handlers that come later.
 */
class LateResultTests {

	@ParameterizedTest
	@ValueSource(classes = { CompletableFuture.class, CompletionStage.class, FutureTask.class, Mono.class })
	void resultsOfOneValueAreSupported(Class<?> type) {
		assertThat(LateResult.isSupported(type)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(classes = { void.class, String.class, Flux.class })
	void othersAreNot(Class<?> type) {
		assertThat(LateResult.isSupported(type)).isFalse();
	}

	@Test
	void completeResultIsWaitedFor() throws Throwable {
		CompletableFuture<String> begun = new CompletableFuture<>();
		CompletableFuture<Thread> waited = CompletableFuture.supplyAsync(() -> {
			begun.complete("begun");
			return Thread.currentThread();
		});

		LateResult.await(waited);
		LateResult.await(Mono.fromFuture(begun));

		assertThat(waited).isDone();
	}

	@Test
	void failureIsThatOfTheWork() {
		IOException failure = new IOException("caused by the test");

		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> LateResult.await(CompletableFuture.failedFuture(failure)))
			.isSameAs(failure);
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> LateResult.await(CompletableFuture.failedFuture(failure).thenApply((nothing) -> nothing)))
			.isSameAs(failure);
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> LateResult.await(Mono.error(failure)))
			.isSameAs(failure);
	}

	@Test
	void nullIsNoResult() {
		assertThatIllegalStateException().isThrownBy(() -> LateResult.await(null)).withMessageContaining("null");
	}

	@Test
	void interruptionCancelsTheWork() {
		CompletableFuture<Void> never = new CompletableFuture<>();
		Thread.currentThread().interrupt();

		assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> LateResult.await(never));
		assertThat(never).isCancelled();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(classes = { ShardState.class, ShardOutput.class, ShardTimers.class })
	void nativeImageHasTheProxies(Class<?> type) {
		RuntimeHints hints = new RuntimeHints();
		AotServices.factories()
			.load(RuntimeHintsRegistrar.class)
			.forEach((registrar) -> registrar.registerHints(hints, getClass().getClassLoader()));

		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(type)).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onType(Mono.class)).accepts(hints);
	}

	@Test
	void argumentsAreSharedUntilTheEnd() throws Exception {
		ShardState own = mock(ShardState.class);
		SharedArguments arguments = new SharedArguments(new CallArguments(mock(ShardContext.class), own, null));
		ShardState shared = arguments.arguments().state();

		CompletableFuture.runAsync(() -> shared.put("key", 1)).get();
		arguments.close();

		verify(own).put("key", 1);
		assertThatIllegalStateException().isThrownBy(() -> shared.put("key", 2))
			.withMessageContaining("ShardState may only be used until the result");
		verifyNoMoreInteractions(own);
		assertThat(shared).hasToString(own.toString()).isEqualTo(shared).isNotEqualTo(own);
	}

}
