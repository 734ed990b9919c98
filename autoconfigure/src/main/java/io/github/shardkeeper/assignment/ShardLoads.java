package io.github.shardkeeper.assignment;

/**
 * The measured loads of a request's shards, made fit to be counted with. Immutable.
 */
final class ShardLoads {

	/** So that one absurd number does not make all others vanish beside it. */
	private static final double MOST = 1_000_000;

	private final double[] loads;

	private final boolean[] known;

	private boolean anyKnown;

	ShardLoads(AssignmentRequest request) {
		this.loads = new double[request.shards().size()];
		this.known = new boolean[this.loads.length];
		double knownLoad = 0;
		long knownWeight = 0;
		for (int shard = 0; shard < this.loads.length; shard++) {
			double load = request.load(shard);
			if (!Double.isNaN(load)) {
				this.known[shard] = true;
				this.loads[shard] = Math.min(Math.max(load, 0), MOST);
				this.anyKnown = true;
				knownLoad += this.loads[shard];
				knownWeight += request.traits(shard).weight();
			}
		}
		for (int shard = 0; shard < this.loads.length; shard++) {
			if (!this.known[shard] && knownWeight > 0) {
				this.loads[shard] = Math.min(knownLoad / knownWeight * request.traits(shard).weight(), MOST);
			}
		}
	}

	boolean isAnyKnown() {
		return this.anyKnown;
	}

	/** Whether a shard was measured. */
	boolean isKnown(int shard) {
		return this.known[shard];
	}

	/** The measured load, or what stands for it. */
	double of(int shard) {
		return this.loads[shard];
	}

}
