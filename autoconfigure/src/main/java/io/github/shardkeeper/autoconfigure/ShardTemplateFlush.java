package io.github.shardkeeper.autoconfigure;

import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.ShardTemplate;

/**
 * Waits at shutdown for what is under way, while the connections still stand: after the
 * consumers, whose handlers may send, and before the source's connections are closed.
 * Thread-safe.
 */
final class ShardTemplateFlush implements SmartLifecycle {

	/** Just before that of the connections, which is 1. */
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
