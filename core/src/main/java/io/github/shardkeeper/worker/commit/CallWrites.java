package io.github.shardkeeper.worker.commit;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.handler.CallArguments;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.output.OutputBuffer;
import io.github.shardkeeper.state.StateView;
import io.github.shardkeeper.worker.record.CallEffects;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.timer.TimerBuffer;

/**
 * Opens what one call takes besides its state, and collects what it has done there: sends
 * and timers. Confined to the thread of the call until it has returned.
 */
public final class CallWrites implements AutoCloseable {

	private static final CallWrites NONE = new CallWrites(null, null);

	private final @Nullable OutputBuffer output;

	private final @Nullable TimerBuffer timers;

	private CallWrites(@Nullable OutputBuffer output, @Nullable TimerBuffer timers) {
		this.output = output;
		this.timers = timers;
	}

	/** Begins with a call on this thread, with what its handler takes. */
	public static CallWrites open(ShardHandler handler, OwnedShard owned) {
		if (!handler.takesOutput() && !handler.takesTimers()) {
			return NONE;
		}
		return new CallWrites(handler.takesOutput() ? owned.context().outputs().open() : null,
				handler.takesTimers() ? new TimerBuffer() : null);
	}

	/** Returns the arguments of the call. */
	public CallArguments arguments(OwnedShard owned, @Nullable ShardState state,
			@Nullable Acknowledgment acknowledgment) {
		return new CallArguments(owned, state, acknowledgment, this.output, this.timers);
	}

	/** Returns what the call has done. */
	public CallEffects effects() {
		if (this.output == null && this.timers == null) {
			return CallEffects.NONE;
		}
		return new CallEffects((this.output != null) ? this.output.records() : CallEffects.NONE.sends(),
				(this.timers != null) ? this.timers.changes() : CallEffects.NONE.timers());
	}

	/** Returns an action that takes back what the call does from now on. */
	Runnable savepoint(@Nullable StateView view) {
		Runnable state = (view != null) ? view.savepoint() : CallWrites::nothing;
		Runnable sent = (this.output != null) ? this.output.savepoint() : CallWrites::nothing;
		Runnable set = (this.timers != null) ? this.timers.savepoint() : CallWrites::nothing;
		return () -> {
			state.run();
			sent.run();
			set.run();
		};
	}

	private static void nothing() {
	}

	@Override
	public void close() {
		if (this.output != null) {
			this.output.close();
		}
		if (this.timers != null) {
			this.timers.close();
		}
	}

}
