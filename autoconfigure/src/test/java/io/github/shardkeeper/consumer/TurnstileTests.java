package io.github.shardkeeper.consumer;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TurnstileTests {

	private final Turnstile turnstile = new Turnstile(2);

	private final List<String> entered = new ArrayList<>();

	private final Turnstile.Ticket a = ticket("a");

	private final Turnstile.Ticket b = ticket("b");

	private final Turnstile.Ticket c = ticket("c");

	private final Turnstile.Ticket d = ticket("d");

	@Test
	void whoComesNextGetsInWhenSomebodyLeaves() {
		assertThat(this.a.enter()).isTrue();
		assertThat(this.b.enter()).isTrue();
		assertThat(this.c.enter()).isFalse();
		assertThat(this.d.enter()).isFalse();
		this.b.leave();

		assertThat(this.entered).containsExactly("c");
		assertThat(this.c.enter()).as("is inside").isTrue();
		assertThat(this.d.enter()).isFalse();
	}

	@Test
	void whoWaitsNoLongerKeepsNobodyWaiting() {
		this.a.enter();
		this.b.enter();
		this.c.enter();
		this.d.enter();
		this.c.leave();
		this.a.leave();

		assertThat(this.entered).containsExactly("d");
	}

	@Test
	void whoWasToldAndDoesNotComeMakesRoomByLeaving() {
		this.a.enter();
		this.b.enter();
		this.c.enter();
		this.d.enter();
		this.a.leave();
		this.c.leave();

		assertThat(this.entered).containsExactly("c", "d");
	}

	@Test
	void leavingTwiceMakesRoomOnce() {
		this.a.enter();
		this.b.enter();
		this.a.leave();
		this.a.leave();

		assertThat(this.c.enter()).isTrue();
		assertThat(this.d.enter()).isFalse();
		assertThat(this.entered).isEmpty();
	}

	private Turnstile.Ticket ticket(String name) {
		return this.turnstile.ticket(() -> this.entered.add(name));
	}

}
