package io.github.shardkeeper.benchmarks.moves.group;

import java.nio.ByteBuffer;

/**
 * Payload of a record. Immutable.
 *
 * @param number its number in its shard, from 1 on
 * @param sentNanos when it was sent, by the monotonic clock, which on Linux is the same
 * for all processes of a machine
 */
record Payload(long number, long sentNanos) {

	byte[] toBytes() {
		return ByteBuffer.allocate(2 * Long.BYTES).putLong(this.number).putLong(this.sentNanos).array();
	}

	static Payload of(byte[] bytes) {
		ByteBuffer buffer = ByteBuffer.wrap(bytes);
		return new Payload(buffer.getLong(), buffer.getLong());
	}

}
