package io.github.shardkeeper.benchmarks.consuming;

import io.github.shardkeeper.benchmarks.Samples;

/**
 * What was measured of one contender, round by round.
 *
 * @param rates records per second
 * @param processorMicros processor time of this process per record, in microseconds
 */
record Figures(Samples rates, Samples processorMicros) {

	Figures() {
		this(new Samples(), new Samples());
	}

	void add(Tally tally) {
		this.rates.add(tally.rate());
		this.processorMicros.add(tally.processorMicrosPerRecord());
	}

}
