package io.github.shardkeeper.loop;

/** Counters of failed and stalled loops. Thread-safe. */
public interface LoopMeters {

	LoopMeters NONE = new LoopMeters() {

		@Override
		public void failed(String loop) {
		}

		@Override
		public void stalled(String loop) {
		}

	};

	/** Called when a loop starts, before its first step. */
	default void started(String loop) {
	}

	/** Counts a step that failed and is repeated. */
	void failed(String loop);

	/** Counts a step that exceeded its time limit and was interrupted. */
	void stalled(String loop);

}
