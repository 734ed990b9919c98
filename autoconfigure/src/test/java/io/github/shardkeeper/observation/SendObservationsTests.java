package io.github.shardkeeper.observation;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.template.SendObserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

class SendObservationsTests {

	private static final ShardId SHARD = ShardId.of("orders", 3);

	private final TestTracing tracing = new TestTracing();

	private final SendObserver sends = new SendObservations(this.tracing.registry(), null);

	@AfterEach
	void close() {
		this.tracing.close();
	}

	@Test
	void recordIsObservedUntilItIsAppended() {
		SendObserver.Sent sent = this.sends.sending(SHARD, "customer-1", new HashMap<>());
		assertThat(this.tracing.spans()).isEmpty();
		sent.ended(new Offset("17-4"), null);

		SpanData span = this.tracing.spans().get(0);
		assertThat(span.getName()).isEqualTo("send orders");
		assertThat(span.getKind()).isEqualTo(SpanKind.PRODUCER);
		assertThat(span.getAttributes().get(AttributeKey.stringKey("topic"))).isEqualTo("orders");
		assertThat(span.getAttributes().get(AttributeKey.stringKey("shard"))).isEqualTo("orders/3");
		assertThat(span.getAttributes().get(AttributeKey.stringKey("offset"))).isEqualTo("17-4");
		assertThat(span.getStatus().getStatusCode()).isNotEqualTo(StatusCode.ERROR);
		assertThat(
				this.tracing.meters().get("shardkeeper.send").tags("topic", "orders", "error", "none").timer().count())
			.isEqualTo(1);
	}

	@Test
	void failureIsObserved() {
		this.sends.sending(SHARD, null, new HashMap<>()).ended(null, new IllegalStateException("No"));

		SpanData span = this.tracing.spans().get(0);
		assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
		assertThat(span.getAttributes().get(AttributeKey.stringKey("offset"))).isNull();
		assertThat(this.tracing.meters().get("shardkeeper.send").tags("error", "IllegalStateException").timer().count())
			.isEqualTo(1);
	}

	@Test
	void handlerContinuesTheTraceOfTheSender() throws Throwable {
		Map<String, String> headers = new HashMap<>(Map.of("traceparent", "of whom it was copied from"));
		Observation request = Observation.start("request", this.tracing.registry());
		SendObserver.Sent sent = request.scoped(() -> this.sends.sending(SHARD, "customer-1", headers));
		sent.ended(new Offset("17-4"), null);
		request.stop();
		ShardContext shard = mock(ShardContext.class);
		given(shard.group()).willReturn("shop");
		given(shard.shard()).willReturn(SHARD);
		new CallObservations(this.tracing.registry(), null).intercept(shard,
				List.of(new ShardRecord<>(SHARD, new Offset("17-4"), "customer-1", "", headers, Instant.EPOCH, 0)),
				() -> {
				});

		SpanData send = this.tracing.spans().get(0);
		SpanData requested = this.tracing.spans().get(1);
		SpanData process = this.tracing.spans().get(2);
		assertThat(send.getParentSpanId()).isEqualTo(requested.getSpanId());
		assertThat(process.getParentSpanId()).isEqualTo(send.getSpanId());
		assertThat(process.getTraceId()).isEqualTo(requested.getTraceId());
	}

	@Test
	void answerOnAnotherThreadLeavesNoScope() throws Exception {
		SendObserver.Sent sent = this.sends.sending(SHARD, null, new HashMap<>());
		assertThat(this.tracing.registry().getCurrentObservation()).isNull();
		CompletableFuture.runAsync(() -> {
			sent.ended(new Offset("17-4"), null);
			assertThat(this.tracing.registry().getCurrentObservation()).isNull();
			assertThat(this.tracing.tracer().currentSpan()).isNull();
		}).get(20, TimeUnit.SECONDS);

		assertThat(this.tracing.spans()).hasSize(1);
	}

	@Test
	void conventionOverridesNamesAndKeyValues() {
		new SendObservations(this.tracing.registry(), new ShardSendConvention() {

			@Override
			public String getName() {
				return "sales";
			}

			@Override
			public KeyValues getLowCardinalityKeyValues(ShardSendContext context) {
				return KeyValues.of("keyed", String.valueOf(context.key() != null));
			}

		}).sending(SHARD, null, new HashMap<>()).ended(new Offset("17-4"), null);

		assertThat(this.tracing.meters().get("sales").tags("keyed", "false").timer().count()).isEqualTo(1);
	}

	@Test
	void addsNoHeadersWithoutObservationHandlers() {
		Map<String, String> headers = new HashMap<>();
		new SendObservations(ObservationRegistry.create(), null).sending(SHARD, null, headers)
			.ended(new Offset("17-4"), null);

		assertThat(headers).isEmpty();
	}

}
