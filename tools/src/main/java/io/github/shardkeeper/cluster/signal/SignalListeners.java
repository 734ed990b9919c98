package io.github.shardkeeper.cluster.signal;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.text.PrintableLogger;

/**
 * Gives signals to the {@code @OnClusterSignal} methods of the application while it runs.
 * Without any, the tool is not created. Starts after the membership of the instance and
 * stops before it. Thread-safe.
 */
public final class SignalListeners implements SmartLifecycle {

	private static final Logger logger = PrintableLogger.of(SignalListeners.class);

	private final SignalMethodDetector detector;

	private final Supplier<@Nullable StoredSignals> signals;

	private final Duration stopTimeout;

	private final int phase;

	private boolean running;

	/** The tool while it gives signals to methods, otherwise {@code null}. */
	private @Nullable StoredSignals listening;

	/**
	 * Creates it, not started.
	 * @param signals returns the tool, and creates it with the first call; {@code null}
	 * if the application replaces it
	 * @param stopTimeout the maximum time to wait for running methods at a stop
	 * @param phase the phase of its lifecycle
	 */
	public SignalListeners(SignalMethodDetector detector, Supplier<@Nullable StoredSignals> signals,
			Duration stopTimeout, int phase) {
		this.detector = detector;
		this.signals = signals;
		this.stopTimeout = stopTimeout;
		this.phase = phase;
	}

	@Override
	public synchronized void start() {
		List<SignalHandler> handlers = this.running ? List.of() : this.detector.detect();
		this.running = true;
		if (handlers.isEmpty()) {
			return;
		}
		this.listening = this.signals.get();
		if (this.listening != null) {
			this.listening.listen(handlers);
		}
		else {
			logger.warn("No @OnClusterSignal method is called, because the application replaces ClusterSignals");
		}
	}

	@Override
	public synchronized void stop() {
		StoredSignals signals = this.listening;
		this.listening = null;
		this.running = false;
		if (signals != null) {
			signals.stopListening(this.stopTimeout);
		}
	}

	@Override
	public synchronized boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return this.phase;
	}

}
