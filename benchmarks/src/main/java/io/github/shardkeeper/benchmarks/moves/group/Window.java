package io.github.shardkeeper.benchmarks.moves.group;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Observations of each shard in a period. Immutable.
 *
 * @param fromNanos the begin of the period
 * @param toNanos the end of the period
 * @param shards the observations by shard
 */
public record Window(long fromNanos, long toNanos, List<Shard> shards) {

	/**
	 * Looks at a time.
	 * @param byShard the handled records, in the order of time
	 */
	public static Window of(List<List<Handled>> byShard, long fromNanos, long toNanos) {
		List<Shard> shards = new ArrayList<>();
		for (List<Handled> handled : byShard) {
			shards.add(shard(handled, fromNanos, toNanos));
		}
		return new Window(fromNanos, toNanos, shards);
	}

	private static Shard shard(List<Handled> handled, long fromNanos, long toNanos) {
		int moves = 0;
		double gap = 0;
		double gaps = 0;
		double longest = 0;
		double standstills = 0;
		long last = fromNanos;
		for (int i = 1; i < handled.size(); i++) {
			Handled before = handled.get(i - 1);
			Handled record = handled.get(i);
			last = (record.nanos() <= toNanos) ? record.nanos() : last;
			if (record.nanos() >= fromNanos && record.nanos() <= toNanos) {
				double millis = (record.nanos() - before.nanos()) / 1e6;
				longest = Math.max(longest, millis);
				if (!record.instance().equals(before.instance())) {
					moves++;
					gap = Math.max(gap, millis);
					gaps += millis;
				}
				else if (millis > Shard.STANDSTILL_MILLIS) {
					standstills += millis;
				}
			}
		}
		// Without an end yet, but not without notice.
		double open = (toNanos - last) / 1e6;
		if (open > Shard.STANDSTILL_MILLIS) {
			longest = Math.max(longest, open);
			standstills += open;
		}
		return new Shard(moves, gap, longest, gaps, standstills, false);
	}

	/**
	 * The same, where some shards belonged to a process that was frozen.
	 * @param which the shards
	 */
	public Window frozen(Set<Integer> which) {
		List<Shard> told = new ArrayList<>();
		for (int shard = 0; shard < this.shards.size(); shard++) {
			told.add(which.contains(shard) ? this.shards.get(shard).asFrozen() : this.shards.get(shard));
		}
		return new Window(this.fromNanos, this.toNanos, told);
	}

	/**
	 * The same, of some shards alone.
	 * @param which the shards
	 */
	public Window only(Set<Integer> which) {
		return new Window(this.fromNanos, this.toNanos, which.stream().sorted().map(this.shards::get).toList());
	}

	/**
	 * Observations of a shard.
	 *
	 * @param moves the number of changes of its owner
	 * @param gapMillis the longest time from an owner's last record to the next owner's
	 * first one
	 * @param longestMillis the longest time without a record
	 * @param gapsMillis the time without a record at all changes of the owner together
	 * @param standstillsMillis the time without a record at all other standstills that
	 * are longer than {@value #STANDSTILL_MILLIS} ms together
	 * @param frozen whether its owner was frozen in the period
	 */
	public record Shard(int moves, double gapMillis, double longestMillis, double gapsMillis, double standstillsMillis,
			boolean frozen) {

		/** From this on it is no jitter any more. */
		static final int STANDSTILL_MILLIS = 5 * Feeder.INTERVAL_MILLIS;

		/** The time without a record, at moves and otherwise. */
		public double unconsumedMillis() {
			return this.gapsMillis + this.standstillsMillis;
		}

		private Shard asFrozen() {
			return new Shard(this.moves, this.gapMillis, this.longestMillis, this.gapsMillis, this.standstillsMillis,
					true);
		}

	}

}
