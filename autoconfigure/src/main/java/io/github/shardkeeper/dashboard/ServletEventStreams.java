package io.github.shardkeeper.dashboard;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

import io.github.shardkeeper.dashboard.DashboardViewer.Message;
import io.github.shardkeeper.loop.SerialTask;

/**
 * Streams of Spring MVC. A write may block, so that each viewer may need a thread while
 * it is written to. Thread-safe.
 */
public final class ServletEventStreams implements EventStreams, DisposableBean {

	private final DashboardWatch watch;

	private final ExecutorService writers = Executors.newCachedThreadPool((task) -> {
		Thread thread = new Thread(task, "shardkeeper-dashboard-writer");
		thread.setDaemon(true);
		return thread;
	});

	/** Creates the streams of a watch. */
	public ServletEventStreams(DashboardWatch watch) {
		this.watch = watch;
	}

	@Override
	public Object open() {
		// The watch ends the stream earlier, unless a write to it is stuck.
		Stream stream = new Stream(new SseEmitter(DashboardWatch.LONGEST_STREAM.plusMinutes(1).toMillis()));
		return stream.open() ? stream.emitter : EventStreams.noRoom();
	}

	@Override
	public void destroy() {
		this.writers.shutdown();
	}

	/** One stream. Thread-safe. */
	private final class Stream {

		private final SseEmitter emitter;

		private final SerialTask writer;

		/** Set before the first wake that finds something to send. */
		private volatile @Nullable DashboardViewer viewer;

		Stream(SseEmitter emitter) {
			this.emitter = emitter;
			this.writer = new SerialTask(ServletEventStreams.this.writers, this::write, (refusal) -> close());
		}

		boolean open() {
			DashboardViewer joined = ServletEventStreams.this.watch.join(this::wake).orElse(null);
			if (joined == null) {
				return false;
			}
			this.viewer = joined;
			this.emitter.onCompletion(joined::leave);
			this.emitter.onTimeout(joined::leave);
			this.emitter.onError((failure) -> joined.leave());
			wake();
			return true;
		}

		private void wake() {
			this.writer.wake();
		}

		private void close() {
			DashboardViewer joined = this.viewer;
			if (joined != null) {
				joined.leave();
			}
			this.emitter.complete();
		}

		private boolean write() {
			DashboardViewer joined = this.viewer;
			if (joined == null) {
				return false;
			}
			if (joined.isEnded()) {
				this.emitter.complete();
				return false;
			}
			Message message = joined.poll();
			if (message == null) {
				return false;
			}
			try {
				this.emitter.send((message.summary() != null)
						? SseEmitter.event().name("summary").reconnectTime(RECONNECT_MILLIS).data(message.summary())
						: SseEmitter.event().comment("still here"));
				return true;
			}
			catch (IOException | IllegalStateException ex) {
				// The client is gone, which is how a viewer leaves.
				joined.leave();
				return false;
			}
		}

	}

}
