package io.github.shardkeeper.handler;

import java.time.Instant;
import java.util.Map;
import java.util.Objects;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

/**
 * A timer that is due, in the form of a record: so it takes the same way as one, also
 * through the retry queue and the dead letters. Its offset tells it from the records of a
 * source, which cannot choose theirs. Has no state.
 */
@Internal
public final class TimerRecord {

	/** Header with the name of the timer. */
	public static final String NAME = "shardkeeper-timer";

	private static final String PREFIX = "timer:";

	private static final byte[] NO_PAYLOAD = {};

	private TimerRecord() {
	}

	/**
	 * Returns a timer as a record.
	 * @param id tells it from every other one of the shard that was ever handed out
	 */
	public static SourceRecord of(String key, String name, Instant due, String id) {
		return new SourceRecord(new Offset(PREFIX + id), key, NO_PAYLOAD, Map.of(NAME, name), due.toEpochMilli());
	}

	/** Returns whether a record is a timer. */
	public static boolean isTimer(SourceRecord record) {
		return record.offset().value().startsWith(PREFIX);
	}

	static ShardTimer timer(SourceRecord record) {
		return new ShardTimer(Objects.requireNonNull(record.key()), Objects.requireNonNull(record.headers().get(NAME)),
				record.timestamp());
	}

}
