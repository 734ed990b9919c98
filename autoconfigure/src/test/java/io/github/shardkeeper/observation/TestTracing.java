package io.github.shardkeeper.observation;

import java.util.List;

import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationHandler.FirstMatchingCompositeObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingSenderTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.EventPublishingContextWrapper;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelPropagator;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.micrometer.tracing.otel.bridge.Slf4JEventListener;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;

/**
 * Tracing as Spring Boot configures it: OpenTelemetry with W3C headers, the id of the
 * trace in the MDC, and a timer for each observation. Thread-safe.
 */
public final class TestTracing implements AutoCloseable {

	private static final Slf4JEventListener MDC_LISTENER = new Slf4JEventListener();

	static {
		// Once per process: lets the MDC follow the opening and closing of scopes.
		ContextStorage.addWrapper(new EventPublishingContextWrapper(MDC_LISTENER::onEvent));
	}

	private final InMemorySpanExporter exporter = InMemorySpanExporter.create();

	private final SdkTracerProvider provider = SdkTracerProvider.builder()
		.addSpanProcessor(SimpleSpanProcessor.create(this.exporter))
		.build();

	private final Tracer tracer;

	private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

	private final ObservationRegistry registry = ObservationRegistry.create();

	public TestTracing() {
		io.opentelemetry.api.trace.Tracer otel = this.provider.get("test");
		Slf4JEventListener mdc = new Slf4JEventListener();
		// Adds the id of the trace when a scope opens, and removes it when it closes.
		io.opentelemetry.context.ContextStorage
			.addWrapper((storage) -> new io.micrometer.tracing.otel.bridge.EventPublishingContextWrapper(mdc::onEvent)
				.apply(storage));
		this.tracer = new OtelTracer(otel, new OtelCurrentTraceContext(), mdc::onEvent);
		OtelPropagator propagator = new OtelPropagator(
				ContextPropagators.create(W3CTraceContextPropagator.getInstance()), otel);
		this.registry.observationConfig()
			.observationHandler(new FirstMatchingCompositeObservationHandler(
					new PropagatingReceiverTracingObservationHandler<>(this.tracer, propagator),
					new PropagatingSenderTracingObservationHandler<>(this.tracer, propagator),
					new DefaultTracingObservationHandler(this.tracer)))
			.observationHandler(new DefaultMeterObservationHandler(this.meters));
	}

	public ObservationRegistry registry() {
		return this.registry;
	}

	public SimpleMeterRegistry meters() {
		return this.meters;
	}

	public Tracer tracer() {
		return this.tracer;
	}

	/** Returns the spans that have ended. */
	public List<SpanData> spans() {
		return this.exporter.getFinishedSpanItems();
	}

	@Override
	public void close() {
		this.provider.close();
		this.meters.close();
	}

}
