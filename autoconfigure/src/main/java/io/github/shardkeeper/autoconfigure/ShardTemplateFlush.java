package io.github.shardkeeper.autoconfigure;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.loop.PhasedLifecycle;

/**
 * Flushes the template at shutdown: after the consumers have stopped, whose handlers may
 * send, and before the source's connections are closed. Thread-safe.
 */
final class ShardTemplateFlush extends PhasedLifecycle {

	/** One above the phase of the connections, and so stopped before them. */
	private static final int PHASE = 2;

	private final ShardTemplate template;

	ShardTemplateFlush(ShardTemplate template) {
		super(PHASE);
		this.template = template;
	}

	@Override
	protected void doStop() {
		this.template.flush();
	}

}
