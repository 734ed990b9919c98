package io.github.shardkeeper.actuate;

import java.time.Duration;
import java.util.Map;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

import io.github.shardkeeper.loop.LoopThreads;

/**
 * Health for a liveness probe: {@code DOWN} only if one of Shardkeeper's loops hangs
 * although it was interrupted, so that nothing but a restart helps. Makes no call.
 * Thread-safe.
 */
public final class LoopsHealthIndicator extends AbstractHealthIndicator {

	/** A loop is interrupted every 10 s, so this is six times in vain. */
	static final Duration TOLERANCE = Duration.ofMinutes(1);

	private final LoopThreads loops;

	/** Creates the indicator. */
	public LoopsHealthIndicator(LoopThreads loops) {
		super("The check of Shardkeeper's loops failed");
		this.loops = loops;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		builder.up();
		Map<String, String> hanging = this.loops.hanging(TOLERANCE);
		if (!hanging.isEmpty()) {
			builder.down().withDetail("loops", hanging);
		}
	}

}
