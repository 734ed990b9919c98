package io.github.shardkeeper.autoconfigure;

import java.util.Collection;
import java.util.function.Supplier;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.loop.PhasedLifecycle;

/**
 * Flushes templates at shutdown: after the consumers have stopped, whose handlers may
 * send, and before the source's connections are closed. Thread-safe.
 */
@Internal
public final class ShardTemplateFlush extends PhasedLifecycle {

	/** One above the phase of the connections, and so stopped before them. */
	private static final int PHASE = 2;

	private final Supplier<Collection<ShardTemplate>> templates;

	/**
	 * Creates a flush.
	 * @param templates called at shutdown
	 */
	public ShardTemplateFlush(Supplier<Collection<ShardTemplate>> templates) {
		super(PHASE);
		this.templates = templates;
	}

	@Override
	protected void doStop() {
		this.templates.get().forEach(ShardTemplate::flush);
	}

}
