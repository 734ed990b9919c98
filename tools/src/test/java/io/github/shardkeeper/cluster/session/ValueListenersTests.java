package io.github.shardkeeper.cluster.session;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

class ValueListenersTests {

	private final Queue<Runnable> calls = new ArrayDeque<>();

	private final List<String> received = new ArrayList<>();

	private String value = "a";

	private final ValueListeners<String> listeners = new ValueListeners<>("value of the test", this.calls::add,
			() -> this.value, (current, last) -> !current.equals(last));

	@Test
	void listenerGetsTheCurrentValueAndLaterOnes() {
		this.listeners.add(this.received::add);
		run();
		change("b");
		run();

		assertThat(this.received).containsExactly("a", "b");
	}

	@Test
	void slowListenerGetsTheLastValueOnly() {
		this.listeners.add(this.received::add);
		change("b");
		change("c");
		run();

		assertThat(this.received).containsExactly("c");
	}

	@Test
	void valueThatIsNotNewIsNotPassedOnAgain() {
		this.listeners.add(this.received::add);
		run();
		change("a");
		run();

		assertThat(this.received).containsExactly("a");
	}

	@Test
	void removedListenerIsNotCalled() {
		this.listeners.add(this.received::add).run();
		change("b");
		run();

		assertThat(this.received).isEmpty();
	}

	@Test
	void listenerThatThrowsGetsTheNextValueAndDisturbsNoOther() {
		this.listeners.add((failing) -> {
			this.received.add("failing " + failing);
			throw new IllegalStateException("caused by the test");
		});
		this.listeners.add(this.received::add);
		run();
		change("b");
		run();

		assertThat(this.received).containsExactly("failing a", "a", "failing b", "b");
	}

	@Test
	void listenerIsRequired() {
		assertThatNullPointerException().isThrownBy(() -> this.listeners.add(null))
			.withMessage("listener must not be null");
	}

	private void change(String next) {
		this.value = next;
		this.listeners.wake();
	}

	private void run() {
		for (Runnable call = this.calls.poll(); call != null; call = this.calls.poll()) {
			call.run();
		}
	}

}
