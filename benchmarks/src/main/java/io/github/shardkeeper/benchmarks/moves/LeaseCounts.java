package io.github.shardkeeper.benchmarks.moves;

/**
 * What has happened to leases. Immutable.
 *
 * @param suspensions the number of leases that ended while their process ran
 * @param interruptedCalls the number of calls that were interrupted
 */
record LeaseCounts(int suspensions, int interruptedCalls) {

	static final LeaseCounts NONE = new LeaseCounts(0, 0);

	LeaseCounts plus(LeaseCounts others) {
		return new LeaseCounts(this.suspensions + others.suspensions, this.interruptedCalls + others.interruptedCalls);
	}

	LeaseCounts minus(LeaseCounts earlier) {
		return new LeaseCounts(this.suspensions - earlier.suspensions,
				this.interruptedCalls - earlier.interruptedCalls);
	}

}
