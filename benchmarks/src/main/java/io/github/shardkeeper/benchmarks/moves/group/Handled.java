package io.github.shardkeeper.benchmarks.moves.group;

/**
 * A record that an instance has handled. Immutable.
 *
 * @param instance the instance
 * @param shard the shard
 * @param number the record's number in its shard, from 1 on
 * @param epoch a number that is higher for later owners: the token, or the generation
 * @param sentNanos the time at which it was sent
 * @param nanos the time at which it was handled
 */
public record Handled(String instance, int shard, long number, long epoch, long sentNanos, long nanos) {

	static Handled parse(String instance, String line) {
		String[] fields = line.split(" ");
		return new Handled(instance, Integer.parseInt(fields[0]), Long.parseLong(fields[1]), Long.parseLong(fields[2]),
				Long.parseLong(fields[3]), Long.parseLong(fields[4]));
	}

}
