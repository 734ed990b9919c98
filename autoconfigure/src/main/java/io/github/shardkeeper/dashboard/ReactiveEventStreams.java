package io.github.shardkeeper.dashboard;

import java.time.Duration;

import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.FluxSink.OverflowStrategy;

import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;

import io.github.shardkeeper.dashboard.DashboardViewer.Message;

/**
 * Streams of Spring WebFlux. A client gets something only when it has taken what was sent
 * before; no thread waits for it. Thread-safe.
 */
public final class ReactiveEventStreams implements EventStreams {

	private final DashboardWatch watch;

	/** Creates the streams of a watch. */
	public ReactiveEventStreams(DashboardWatch watch) {
		this.watch = watch;
	}

	@Override
	public Object open() {
		if (!this.watch.hasRoom()) {
			return EventStreams.noRoom();
		}
		Flux<ServerSentEvent<String>> events = Flux.create(this::join, OverflowStrategy.ERROR);
		return new WebEndpointResponse<>(events, WebEndpointResponse.STATUS_OK, MediaType.TEXT_EVENT_STREAM);
	}

	private void join(FluxSink<ServerSentEvent<String>> sink) {
		Stream stream = new Stream(sink);
		this.watch.join(stream::write).ifPresentOrElse(stream::begin, sink::complete);
	}

	private static ServerSentEvent<String> event(Message message) {
		String summary = message.summary();
		return (summary != null)
				? ServerSentEvent.builder(summary).event("summary").retry(Duration.ofMillis(RECONNECT_MILLIS)).build()
				: ServerSentEvent.<String>builder().comment("still here").build();
	}

	/** One stream. Thread-safe. */
	private static final class Stream {

		private final FluxSink<ServerSentEvent<String>> sink;

		/** Guarded by this. */
		private DashboardViewer viewer = new DashboardViewer(() -> {
		}, (left) -> {
		});

		Stream(FluxSink<ServerSentEvent<String>> sink) {
			this.sink = sink;
		}

		void begin(DashboardViewer joined) {
			synchronized (this) {
				this.viewer = joined;
			}
			this.sink.onDispose(joined::leave);
			this.sink.onRequest((requested) -> write());
			write();
		}

		synchronized void write() {
			while (this.sink.requestedFromDownstream() > 0) {
				Message message = this.viewer.poll();
				if (message == null) {
					break;
				}
				this.sink.next(event(message));
			}
			if (this.viewer.isEnded()) {
				this.sink.complete();
			}
		}

	}

}
