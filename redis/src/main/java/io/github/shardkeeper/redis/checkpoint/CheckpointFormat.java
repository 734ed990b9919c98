package io.github.shardkeeper.redis.checkpoint;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointJson;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.shard.Offset;

/**
 * The text formats of the data plane in Redis, beside those of {@link CheckpointJson}.
 * Has no state.
 *
 * <ul>
 * <li>A failed record has two parts: its properties as JSON, and its payload, byte for
 * byte. In the retry queue a line break separates the parts.</li>
 * <li>A seek is <code>number clearsState offset</code>, as {@code request-seek.lua}
 * writes it and {@code commit.lua} removes it.</li>
 * </ul>
 */
final class CheckpointFormat {

	private CheckpointFormat() {
	}

	static String text(Object bytes) {
		return new String((byte[]) bytes, StandardCharsets.UTF_8);
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	static byte[] bytes(long number) {
		return bytes(Long.toString(number));
	}

	/**
	 * Reads the offsets of records that were handled ahead of the committed offset.
	 * @throws StoreUnavailableException if others have changed them
	 */
	static Set<Offset> ahead(String text) {
		try {
			return CheckpointJson.offsets(text);
		}
		catch (RuntimeException ex) {
			throw unreadable("ahead", ex);
		}
	}

	/** Returns the exception for a field of a checkpoint that others have changed. */
	static StoreUnavailableException unreadable(String field, RuntimeException failure) {
		return new StoreUnavailableException(
				"Redis: the field '%s' of the shard's checkpoint cannot be read, because others have changed it; restore it, or remove it with HDEL"
					.formatted(field),
				failure, true);
	}

	/** Reads the pending seek, and the number of the last one that was carried out. */
	static Seeks seeks(byte[] seek, byte[] sought) {
		long applied = number("sought", text(sought));
		if (seek.length == 0) {
			return (applied != 0) ? new Seeks(applied, null) : Seeks.NONE;
		}
		String[] parts = text(seek).split(" ", 3);
		if (parts.length < 3) {
			throw unreadable("seek", new IllegalArgumentException("has no three parts"));
		}
		return new Seeks(applied,
				new SeekRequest(number("seek", parts[0]), new Offset(parts[2]), parts[1].equals("1")));
	}

	/** Reads a number of a checkpoint; 0 if there is none. */
	static long number(String field, String text) {
		try {
			return text.isEmpty() ? 0 : Long.parseLong(text);
		}
		catch (NumberFormatException ex) {
			throw unreadable(field, ex);
		}
	}

	/** Reads what is known of a record of the retry queue without its payload. */
	static WaitingRecord waiting(Offset offset, Duration dueIn, byte[] about, long size) {
		FailedRecord record = CheckpointJson.failedRecord(offset, about, new byte[0]);
		return new WaitingRecord(offset, record.key(), record.place(), dueIn, record.attempts(), record.exception(),
				record.failedAt(), size);
	}

	/** Reads a record of the retry queue: both parts, with a line break between them. */
	static FailedRecord failedRecord(Offset offset, byte[] parts) {
		int end = 0;
		while (end < parts.length && parts[end] != '\n') {
			end++;
		}
		return CheckpointJson.failedRecord(offset, Arrays.copyOf(parts, end),
				Arrays.copyOfRange(parts, Math.min(end + 1, parts.length), parts.length));
	}

}
