package io.github.shardkeeper.benchmarks.latency;

import java.nio.ByteBuffer;

/**
 * What a record carries: its number, and the time at which it was to be sent, from the
 * monotonic clock, which all processes share on Linux. Has no state.
 */
final class Payloads {

	static final int BYTES = 100;

	private Payloads() {
	}

	static byte[] of(int number, long intendedNanos) {
		byte[] payload = new byte[BYTES];
		ByteBuffer.wrap(payload).putInt(number).putLong(intendedNanos);
		return payload;
	}

	static int number(byte[] payload) {
		return ByteBuffer.wrap(payload).getInt();
	}

	static long intendedNanos(byte[] payload) {
		return ByteBuffer.wrap(payload).getLong(Integer.BYTES);
	}

}
