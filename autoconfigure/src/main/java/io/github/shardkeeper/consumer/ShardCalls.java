package io.github.shardkeeper.consumer;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Calls the application for one owned shard: with the state, whose changes are undone
 * when the call throws. The calls are confined to the shard's worker; looking and
 * interrupting is thread-safe.
 */
final class ShardCalls {

	private final OwnedShard owned;

	private final HandlerCall running = new HandlerCall();

	ShardCalls(OwnedShard owned) {
		this.owned = owned;
	}

	/** Calls unless the shard is lost; returns what the call has thrown. */
	@Nullable Throwable callWhileHeld(ShardProgress progress, StateCall code) {
		return call(progress, (view) -> {
			// Once more, now that whoever takes shard or lease away can interrupt this:
			// acquiring or converting may have taken long.
			if (!this.owned.isHeld()) {
				throw new InterruptedException("The shard was lost before the call");
			}
			code.run(view);
		});
	}

	/** Calls in any case; returns what the call has thrown. */
	@Nullable Throwable call(ShardProgress progress, StateCall code) {
		try (JournaledState.View view = progress.state().open()) {
			this.running.run(() -> code.run(view));
			progress.state().keep();
			return null;
		}
		catch (Throwable ex) {
			progress.state().rollBack();
			return ex;
		}
	}

	/** Interrupts the call that runs now, if any. */
	void interrupt() {
		this.running.interrupt();
	}

	/**
	 * Whether the last call was interrupted from here: what it has thrown is nobody's
	 * fault then.
	 */
	boolean wasInterrupted() {
		return this.running.wasInterrupted();
	}

	/** Where the call that runs now stands, empty when none does. */
	List<StackTraceElement> stack() {
		return this.running.stack();
	}

	/** A call that gets the state. */
	@FunctionalInterface
	interface StateCall {

		void run(JournaledState.View view) throws Throwable;

	}

}
