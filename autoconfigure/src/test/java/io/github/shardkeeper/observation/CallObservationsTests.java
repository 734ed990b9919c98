package io.github.shardkeeper.observation;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.Timer;
import io.micrometer.observation.ObservationRegistry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.slf4j.MDC;

import org.springframework.core.task.VirtualThreadTaskExecutor;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

class CallObservationsTests {

	private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

	private static final String PARENT = "b7ad6b7169203331";

	private final TestTracing tracing = new TestTracing();

	private final CallObservations calls = new CallObservations(this.tracing.registry(), null);

	private final ShardContext shard = mock(ShardContext.class);

	CallObservationsTests() {
		given(this.shard.group()).willReturn("shop");
		given(this.shard.shard()).willReturn(ShardId.of("orders", 3));
	}

	@AfterEach
	void close() {
		this.tracing.close();
	}

	@Test
	void callContinuesTheTraceOfItsRecord() throws Throwable {
		AtomicReference<String> inside = new AtomicReference<>();
		this.calls.intercept(this.shard, List.of(traced("17-4")), () -> inside.set(MDC.get("traceId")));

		SpanData span = onlySpan();
		assertThat(span.getTraceId()).isEqualTo(TRACE);
		assertThat(span.getParentSpanId()).isEqualTo(PARENT);
		assertThat(span.getKind()).isEqualTo(SpanKind.CONSUMER);
		assertThat(span.getName()).isEqualTo("process orders");
		assertThat(inside).hasValue(TRACE);
		assertThat(attributes(span)).containsExactlyInAnyOrderEntriesOf(
				Map.of("topic", "orders", "group", "shop", "shard", "orders/3", "offset", "17-4", "records", "1"));
	}

	@Test
	void batchAndLoopStartNewTraces() throws Throwable {
		this.calls.intercept(this.shard, List.of(traced("17-4"), traced("17-5")), () -> {
		});
		this.calls.intercept(this.shard, List.of(), () -> {
		});

		List<SpanData> spans = this.tracing.spans();
		assertThat(spans).hasSize(2)
			.noneMatch((span) -> span.getTraceId().equals(TRACE))
			.noneMatch((span) -> span.getParentSpanContext().isValid());
		assertThat(attributes(spans.get(0))).containsEntry("offset", "17-4").containsEntry("records", "2");
		assertThat(attributes(spans.get(1))).doesNotContainKey("offset").containsEntry("records", "0");
	}

	@Test
	void failureIsObservedAndRethrownUnchanged() throws Throwable {
		Exception thrown = new Exception("No");
		assertThatThrownBy(() -> this.calls.intercept(this.shard, List.of(), () -> {
			throw thrown;
		})).isSameAs(thrown);
		this.calls.intercept(this.shard, List.of(), () -> {
		});

		List<SpanData> spans = this.tracing.spans();
		assertThat(spans.get(0).getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
		assertThat(spans.get(1).getStatus().getStatusCode()).isNotEqualTo(StatusCode.ERROR);
		assertThat(timer("Exception").count()).isEqualTo(1);
		assertThat(timer("none").count()).isEqualTo(1);
	}

	@Test
	void scopeDoesNotLeakToPooledThread() throws Exception {
		ExecutorService pool = Executors.newSingleThreadExecutor();
		try {
			assertThatThrownBy(() -> pool.submit(() -> observeFailing()).get(20, TimeUnit.SECONDS))
				.isInstanceOf(ExecutionException.class);
			pool.submit(() -> {
				assertThat(MDC.get("traceId")).isNull();
				assertThat(this.tracing.registry().getCurrentObservation()).isNull();
				assertThat(this.tracing.tracer().currentSpan()).isNull();
			}).get(20, TimeUnit.SECONDS);
		}
		finally {
			pool.shutdownNow();
		}
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void eachVirtualThreadHasItsOwnScope() throws Exception {
		VirtualThreadTaskExecutor executor = new VirtualThreadTaskExecutor();
		AtomicReference<String> inside = new AtomicReference<>();
		executor.submit(() -> {
			try {
				this.calls.intercept(this.shard, List.of(traced("17-4")), () -> inside.set(MDC.get("traceId")));
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
			assertThat(MDC.get("traceId")).isNull();
		}).get(20, TimeUnit.SECONDS);
		assertThat(inside).hasValue(TRACE);
		assertThat(MDC.get("traceId")).isNull();
	}

	@Test
	void conventionOverridesNamesAndKeyValues() throws Throwable {
		ShardInterceptor own = new CallObservations(this.tracing.registry(), new ShardConsumeConvention() {

			@Override
			public String getName() {
				return "bookings";
			}

			@Override
			public KeyValues getLowCardinalityKeyValues(ShardConsumeContext context) {
				return ShardConsumeConvention.super.getLowCardinalityKeyValues(context)
					.and(KeyValue.of("keyed", String.valueOf(context.key() != null)));
			}

		});
		own.intercept(this.shard, List.of(traced("17-4")), () -> {
		});

		assertThat(this.tracing.meters().get("bookings").tags("topic", "orders", "keyed", "true").timer().count())
			.isEqualTo(1);
	}

	@Test
	void onlyMakesTheCallWithoutObservationHandlers() throws Throwable {
		AtomicReference<String> called = new AtomicReference<>();
		new CallObservations(ObservationRegistry.create(), new ShardConsumeConvention() {

			@Override
			public String getName() {
				throw new AssertionError("Nobody wants to know");
			}

		}).intercept(this.shard, List.of(traced("17-4")), () -> called.set("yes"));

		assertThat(called).hasValue("yes");
	}

	private Void observeFailing() throws Exception {
		try {
			this.calls.intercept(this.shard, List.of(traced("17-4")), () -> {
				assertThat(MDC.get("traceId")).isEqualTo(TRACE);
				throw new IllegalStateException("No");
			});
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
		return null;
	}

	private Timer timer(String error) {
		return this.tracing.meters()
			.get("shardkeeper.consume")
			.tags("topic", "orders", "group", "shop", "error", error)
			.timer();
	}

	private SpanData onlySpan() {
		assertThat(this.tracing.spans()).hasSize(1);
		return this.tracing.spans().get(0);
	}

	private static Map<String, String> attributes(SpanData span) {
		Map<String, String> attributes = new TreeMap<>();
		for (Map.Entry<AttributeKey<?>, Object> entry : span.getAttributes().asMap().entrySet()) {
			attributes.put(entry.getKey().getKey(), String.valueOf(entry.getValue()));
		}
		return attributes;
	}

	private static ShardRecord<?> traced(String offset) {
		return new ShardRecord<>(ShardId.of("orders", 3), new Offset(offset), "customer-1", "",
				Map.of("traceparent", "00-" + TRACE + "-" + PARENT + "-01"), Instant.EPOCH);
	}

}
