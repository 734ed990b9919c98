package io.github.shardkeeper.sls.testsupport;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

import com.aliyun.openservices.log.common.FastLogGroup;

import io.github.shardkeeper.sls.testsupport.SlsTestServer.Refusal;

/**
 * A shard: its log groups, of which the oldest may have expired. The cursor of a log
 * group is its number, counted from a time in nanoseconds. Thread-safe.
 */
final class TestShard {

	final int id;

	final BigInteger begin;

	volatile BigInteger end;

	/** In seconds since 1970. */
	final long createTime = System.currentTimeMillis() / 1000;

	private final long firstCursor;

	private final List<byte[]> logGroups = new ArrayList<>();

	private final List<Long> receivedSeconds = new ArrayList<>();

	private int expired;

	private boolean readOnly;

	TestShard(int id, BigInteger begin, BigInteger end) {
		this.id = id;
		this.begin = begin;
		this.end = end;
		this.firstCursor = this.createTime * 1_000_000_000L + id * 1000L;
	}

	synchronized boolean isReadOnly() {
		return this.readOnly;
	}

	synchronized void close() {
		this.readOnly = true;
	}

	synchronized void append(byte[] logGroup) {
		FastLogGroup parsed = new FastLogGroup(logGroup, 0, logGroup.length);
		this.receivedSeconds.add((long) parsed.getLogs(parsed.getLogsCount() - 1).getTime());
		this.logGroups.add(logGroup);
	}

	synchronized int size() {
		return this.logGroups.size();
	}

	synchronized void expire(int count) {
		this.expired = Math.min(this.logGroups.size(), this.expired + count);
	}

	synchronized String begin() {
		return cursor(this.expired);
	}

	synchronized String end() {
		return cursor(this.logGroups.size());
	}

	synchronized String at(long epochSecond) {
		int first = this.expired;
		while (first < this.logGroups.size() && this.receivedSeconds.get(first) < epochSecond) {
			first++;
		}
		return cursor(first);
	}

	/** Returns the time at which the log group of a cursor was received. */
	synchronized long time(String cursor) {
		int index = index(cursor);
		if (index < this.expired || index > this.logGroups.size()) {
			throw new Refusal(400, "InvalidCursor", "Invalid Cursor " + cursor);
		}
		return seconds(index);
	}

	/** The end has the time of the log group before it. */
	private long seconds(int index) {
		return this.receivedSeconds.isEmpty() ? this.createTime
				: this.receivedSeconds.get(Math.min(index, this.receivedSeconds.size() - 1));
	}

	synchronized Reply pull(String cursor, int count, long maxBytes, boolean refuseExpired) {
		int from = index(cursor);
		if (from < 0 || from > this.logGroups.size() || refuseExpired && from < this.expired) {
			throw new Refusal(400, "InvalidCursor", "Invalid Cursor " + cursor);
		}
		int next = Math.max(from, this.expired);
		ByteArrayOutputStream reply = new ByteArrayOutputStream();
		int included = 0;
		while (next < this.logGroups.size() && included < count
				&& (included == 0 || reply.size() + this.logGroups.get(next).length <= maxBytes)) {
			byte[] logGroup = this.logGroups.get(next);
			reply.write(1 << 3 | 2);
			int length = logGroup.length;
			while (length > 127) {
				reply.write(length & 127 | 128);
				length >>= 7;
			}
			reply.write(length);
			reply.writeBytes(logGroup);
			next++;
			included++;
		}
		return new Reply(reply.toByteArray(), included, cursor(next), next == this.logGroups.size(), seconds(next));
	}

	private String cursor(int index) {
		return Base64.getEncoder()
			.encodeToString(Long.toString(this.firstCursor + index).getBytes(StandardCharsets.US_ASCII));
	}

	private int index(String cursor) {
		try {
			String number = new String(Base64.getDecoder().decode(cursor), StandardCharsets.US_ASCII);
			return (int) Math.max(-1, Math.min(Integer.MAX_VALUE, Long.parseLong(number) - this.firstCursor));
		}
		catch (IllegalArgumentException ex) {
			throw new Refusal(400, "InvalidCursor", "Invalid Cursor " + cursor);
		}
	}

	/**
	 * Reply to a read.
	 *
	 * @param logGroups the encoded list of log groups
	 * @param count their number
	 * @param next the cursor after them
	 * @param atEnd whether the shard has no more
	 * @param nextSeconds the time of the next cursor
	 */
	record Reply(byte[] logGroups, int count, String next, boolean atEnd, long nextSeconds) {

	}

}
