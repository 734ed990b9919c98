package io.github.shardkeeper.handler;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.ShardRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

class ShardInterceptorsTests {

	private final List<String> events = new ArrayList<>();

	private final ShardInterceptor outer = named("outer");

	private final ShardInterceptor inner = named("inner");

	@Test
	void eachIsAroundTheNext() throws Throwable {
		intercept(() -> this.events.add("call"), this.outer, this.inner);

		assertThat(this.events).containsExactly("outer begins", "inner begins", "call", "inner ends", "outer ends");
	}

	@Test
	void failureOfTheCallReachesAllAndTheCaller() {
		IOException failure = new IOException("caused by the test");

		assertThatThrownBy(() -> intercept(() -> {
			throw failure;
		}, this.outer, this.inner)).isSameAs(failure);
		assertThat(this.events).containsExactly("outer begins", "inner begins", "inner ends", "outer ends");
	}

	@Test
	void failureOfAnInterceptorIsOneOfTheCall() {
		assertThatIllegalStateException()
			.isThrownBy(() -> intercept(() -> this.events.add("call"), this.outer, (shard, records, call) -> {
				throw new IllegalStateException("caused by the test");
			}, this.inner))
			.withMessage("caused by the test");
		assertThat(this.events).containsExactly("outer begins", "outer ends");
	}

	/** The records would count as handled. */
	@Test
	void interceptorThatMakesNoCallFailsIt() {
		assertThatIllegalStateException()
			.isThrownBy(() -> intercept(() -> this.events.add("call"), this.outer, new Silent()))
			.withMessageContaining("Silent has not made the call");
		assertThat(this.events).containsExactly("outer begins", "outer ends");
	}

	@Test
	void interceptorThatKeepsTheFailureToItselfFailsTheCall() {
		IOException failure = new IOException("caused by the test");
		List<Throwable> kept = new ArrayList<>();

		assertThatThrownBy(() -> intercept(() -> {
			throw failure;
		}, (shard, records, call) -> {
			try {
				call.proceed();
			}
			catch (IOException ex) {
				kept.add(ex);
			}
		})).isSameAs(failure);
		assertThat(kept).containsExactly(failure);
	}

	@Test
	void secondCallOfAnInterceptorIsNotMade() {
		assertThatIllegalStateException()
			.isThrownBy(() -> intercept(() -> this.events.add("call"), (shard, records, call) -> {
				call.proceed();
				call.proceed();
			}))
			.withMessageContaining("twice");
		assertThat(this.events).containsExactly("call");
	}

	@Test
	void withoutInterceptorsThereIsNone() {
		assertThat(ShardInterceptors.of(List.of())).isNull();
	}

	private static void intercept(ShardInterceptor.Call call, ShardInterceptor... interceptors) throws Throwable {
		ShardInterceptor all = ShardInterceptors.of(List.of(interceptors));
		assertThat(all).isNotNull();
		all.intercept(mock(ShardContext.class), List.of(), call);
	}

	private ShardInterceptor named(String name) {
		return (shard, records, call) -> {
			this.events.add(name + " begins");
			try {
				call.proceed();
			}
			finally {
				this.events.add(name + " ends");
			}
		};
	}

	private static final class Silent implements ShardInterceptor {

		@Override
		public void intercept(ShardContext shard, List<ShardRecord<?>> records, Call call) {
		}

	}

}
