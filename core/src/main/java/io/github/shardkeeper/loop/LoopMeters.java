package io.github.shardkeeper.loop;

/**
 * Counts what befalls loops, for whoever measures. Thread-safe.
 */
public interface LoopMeters {

	/** Counts nothing. */
	LoopMeters NONE = new LoopMeters() {

		@Override
		public void failed(String loop) {
		}

		@Override
		public void stalled(String loop) {
		}

	};

	/**
	 * A step has thrown something unexpected, and is to be repeated.
	 * @param loop the loop's name
	 */
	void failed(String loop);

	/**
	 * A step takes much too long, and was interrupted.
	 * @param loop the loop's name
	 */
	void stalled(String loop);

}
