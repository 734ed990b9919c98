package io.github.shardkeeper.autoconfigure;

import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.ShardTemplate;

/**
 * Flushes the template at shutdown: after the consumers have stopped, whose handlers may
 * send, and before the source's connections are closed. Thread-safe.
 */
final class ShardTemplateFlush implements SmartLifecycle {

	/** One above the phase of the connections, and so stopped before them. */
	private static final int PHASE = 2;

	private final ShardTemplate template;

	private volatile boolean running;

	ShardTemplateFlush(ShardTemplate template) {
		this.template = template;
	}

	@Override
	public void start() {
		this.running = true;
	}

	@Override
	public void stop() {
		this.template.flush();
		this.running = false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
