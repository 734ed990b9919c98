package io.github.shardkeeper.handler;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

class CallObserversTests {

	private final List<String> events = new ArrayList<>();

	private final CallObserver outer = named("outer");

	private final CallObserver inner = named("inner");

	@Test
	void eachIsAroundTheNext() throws Throwable {
		observe(() -> this.events.add("call"), this.outer, this.inner);

		assertThat(this.events).containsExactly("outer begins", "inner begins", "call", "inner ends", "outer ends");
	}

	@Test
	void failureOfTheCallReachesAllAndTheCaller() {
		IOException failure = new IOException("caused by the test");

		assertThatThrownBy(() -> observe(() -> {
			throw failure;
		}, this.outer, this.inner)).isSameAs(failure);
		assertThat(this.events).containsExactly("outer begins", "inner begins", "inner ends", "outer ends");
	}

	@Test
	void failureOfAnObserverIsOneOfTheCall() {
		assertThatIllegalStateException()
			.isThrownBy(() -> observe(() -> this.events.add("call"), this.outer, (context, records, call) -> {
				throw new IllegalStateException("caused by the test");
			}, this.inner))
			.withMessage("caused by the test");
		assertThat(this.events).containsExactly("outer begins", "outer ends");
	}

	/** The records would count as handled. */
	@Test
	void observerThatMakesNoCallFailsIt() {
		assertThatIllegalStateException()
			.isThrownBy(() -> observe(() -> this.events.add("call"), this.outer, new Silent()))
			.withMessageContaining("Silent has not made the call");
		assertThat(this.events).containsExactly("outer begins", "outer ends");
	}

	@Test
	void observerThatKeepsTheFailureToItselfFailsTheCall() {
		IOException failure = new IOException("caused by the test");
		List<Throwable> kept = new ArrayList<>();

		assertThatThrownBy(() -> observe(() -> {
			throw failure;
		}, (context, records, call) -> {
			try {
				call.make();
			}
			catch (IOException ex) {
				kept.add(ex);
			}
		})).isSameAs(failure);
		assertThat(kept).containsExactly(failure);
	}

	@Test
	void secondCallOfAnObserverIsNotMade() {
		assertThatIllegalStateException()
			.isThrownBy(() -> observe(() -> this.events.add("call"), (context, records, call) -> {
				call.make();
				call.make();
			}))
			.withMessageContaining("twice");
		assertThat(this.events).containsExactly("call");
	}

	@Test
	void withoutObserversThereIsNone() {
		assertThat(CallObservers.of(List.of())).isNull();
	}

	private static void observe(CallObserver.Call call, CallObserver... observers) throws Throwable {
		CallObserver all = CallObservers.of(List.of(observers));
		assertThat(all).isNotNull();
		all.observe(mock(ShardContext.class), List.<SourceRecord>of(), call);
	}

	private CallObserver named(String name) {
		return (context, records, call) -> {
			this.events.add(name + " begins");
			try {
				call.make();
			}
			finally {
				this.events.add(name + " ends");
			}
		};
	}

	private static final class Silent implements CallObserver {

		@Override
		public void observe(ShardContext context, List<SourceRecord> records, Call call) {
		}

	}

}
