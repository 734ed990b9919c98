package io.github.shardkeeper.template;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

class SendObserversTests {

	private static final ShardId SHARD = ShardId.of("orders", 3);

	private final List<String> events = new ArrayList<>();

	@Test
	void allBeginInOrderAndEndInTheReverseOne() {
		SendObserver all = SendObservers.of(List.of(named("outer"), named("inner")));

		all.sending(SHARD, "ann", new HashMap<>()).ended(new Offset("1"), null);

		assertThat(this.events).containsExactly("outer begins orders/3", "inner begins orders/3",
				"inner ends at 1: null", "outer ends at 1: null");
	}

	@Test
	void observerSeesHeadersOfThoseBeforeIt() {
		SendObserver first = (shard, key, headers) -> {
			headers.put("trace", "7");
			return named("first").sending(shard, key, headers);
		};
		SendObserver second = (shard, key, headers) -> {
			headers.put("seen", String.valueOf(headers.get("trace")));
			return named("second").sending(shard, key, headers);
		};
		Map<String, String> headers = new HashMap<>();

		SendObserver all = SendObservers.of(List.of(first, new Reading(), second));
		all.sending(SHARD, null, headers);

		assertThat(all.addsHeaders()).isTrue();
		assertThat(headers).isEqualTo(Map.of("trace", "7", "seen", "7"));
		assertThat(this.events).contains("reads {trace=7}");
	}

	/** The template then copies no record for them. */
	@Test
	void observersWithoutHeadersStayWithoutAndCannotChangeThem() {
		assertThat(SendObservers.of(List.of(new Reading())).addsHeaders()).isFalse();
		SendObserver wrong = new Reading() {
			@Override
			public Sent sending(ShardId shard, @Nullable String key, Map<String, String> headers) {
				headers.put("trace", "7");
				return super.sending(shard, key, headers);
			}
		};
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> SendObservers.of(List.of(named("other"), wrong)).sending(SHARD, null, new HashMap<>()));
	}

	@Test
	void thoseThatHaveBegunEndWithTheFailureOfOneThatDoesNotBegin() {
		SendObserver all = SendObservers.of(List.of(named("outer"), (shard, key, headers) -> {
			throw new IllegalStateException("caused by the test");
		}, named("inner")));

		assertThatIllegalStateException().isThrownBy(() -> all.sending(SHARD, null, new HashMap<>()))
			.withMessage("caused by the test");
		assertThat(this.events).containsExactly("outer begins orders/3",
				"outer ends at null: java.lang.IllegalStateException: caused by the test");
	}

	@Test
	void observationThatIsMissingIsAFailureWithTheNameOfTheObserver() {
		assertThatNullPointerException()
			.isThrownBy(() -> SendObservers.of(List.of(new Missing())).sending(SHARD, null, new HashMap<>()))
			.withMessageContaining("Missing has returned null");
	}

	@Test
	void failureAtTheEndKeepsNoOtherFromEnding() {
		SendObserver all = SendObservers.of(List.of(named("outer"), (shard, key, headers) -> (offset, failure) -> {
			throw new IllegalStateException("caused by the test");
		}));

		all.sending(SHARD, null, new HashMap<>()).ended(null, null);

		assertThat(this.events).containsExactly("outer begins orders/3", "outer ends at null: null");
	}

	@Test
	void withoutObserversTheTemplateHasNone() {
		assertThat(SendObservers.of(List.of())).isSameAs(SendObserver.NONE);
		assertThat(SendObservers.of(List.of(SendObserver.NONE))).isSameAs(SendObserver.NONE);
	}

	private SendObserver named(String name) {
		return (shard, key, headers) -> {
			this.events.add(name + " begins " + shard);
			return (offset, failure) -> this.events.add(name + " ends at " + offset + ": " + failure);
		};
	}

	private class Reading implements SendObserver {

		@Override
		public Sent sending(ShardId shard, @Nullable String key, Map<String, String> headers) {
			SendObserversTests.this.events.add("reads " + headers);
			return (offset, failure) -> {
			};
		}

		@Override
		public boolean addsHeaders() {
			return false;
		}

	}

	private static final class Missing implements SendObserver {

		@Override
		public Sent sending(ShardId shard, @Nullable String key, Map<String, String> headers) {
			return null;
		}

	}

}
