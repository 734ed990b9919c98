package io.github.shardkeeper.cluster.signal;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.loop.PhasedLifecycle;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Gives signals to the {@code @OnClusterSignal} methods of the application while it runs.
 * Without any, the tool is not created. Starts after the membership of the instance and
 * stops before it. Thread-safe.
 */
public final class SignalListeners extends PhasedLifecycle {

	private static final Logger logger = PrintableLogger.of(SignalListeners.class);

	private final SignalMethodDetector detector;

	private final Supplier<@Nullable StoredSignals> signals;

	private final Duration stopTimeout;

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
		super(phase);
		this.detector = detector;
		this.signals = signals;
		this.stopTimeout = stopTimeout;
	}

	@Override
	protected synchronized void doStart() {
		List<SignalHandler> handlers = this.detector.detect();
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
	protected synchronized void doStop() {
		StoredSignals signals = this.listening;
		this.listening = null;
		if (signals != null) {
			signals.stopListening(this.stopTimeout);
		}
	}

}
