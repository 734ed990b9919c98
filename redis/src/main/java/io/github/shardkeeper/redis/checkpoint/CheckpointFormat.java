package io.github.shardkeeper.redis.checkpoint;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointJson;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * The text formats of the data plane in Redis, beside those of {@link CheckpointJson}.
 * Has no state.
 *
 * <ul>
 * <li>A failed record has two parts: its properties as JSON, and its payload, byte for
 * byte. In the retry queue a line break separates the parts.</li>
 * <li>A seek is <code>number clearsState offset</code>, as {@code request-seek.lua}
 * writes it and {@code commit.lua} removes it.</li>
 * <li>The last record for a target is a field of its {@code topic/id}, beside {@code era}
 * and {@code last}.</li>
 * <li>A timer is <code>length:key name</code> without the space; the length is that of
 * the key in bytes, so that no two timers have the same text.</li>
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
		return unreadable("the field '%s' of the shard's checkpoint".formatted(field), "HDEL", failure);
	}

	private static StoreUnavailableException unreadable(String what, String command, RuntimeException failure) {
		return new StoreUnavailableException(
				"Redis: %s cannot be read, because others have changed it; restore it, or remove it with %s"
					.formatted(what, command),
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

	/**
	 * Reads what a shard has sent.
	 * @param fields fields and values
	 * @param entries the number of records that wait
	 */
	static Outbox outbox(List<?> fields, long entries) {
		long era = 0;
		Outbox.Place last = null;
		Map<ShardId, Long> numbers = new HashMap<>();
		for (int i = 0; i < fields.size(); i += 2) {
			String field = text(fields.get(i));
			String value = text(fields.get(i + 1));
			try {
				switch (field) {
					case "era" -> era = Long.parseLong(value);
					case "last" -> last = value.isEmpty() ? null : Outbox.Place.parse(value);
					default -> numbers.put(ShardId.parse(field), Long.valueOf(value));
				}
			}
			catch (IllegalArgumentException ex) {
				throw unreadable("the field '%s' of the shard's sequences".formatted(field), "HDEL", ex);
			}
		}
		return new Outbox(era, last, numbers, entries);
	}

	/** Reads records of the outbox: place, target, properties and payload of each. */
	static List<Outbox.Entry> outboxEntries(List<?> parts) {
		List<Outbox.Entry> entries = new ArrayList<>();
		for (int i = 0; i < parts.size(); i += 4) {
			String place = text(parts.get(i));
			try {
				entries.add(CheckpointJson.outboxEntry(Outbox.Place.parse(place), ShardId.parse(text(parts.get(i + 1))),
						(byte[]) parts.get(i + 2), (byte[]) parts.get(i + 3)));
			}
			catch (IllegalArgumentException ex) {
				throw unreadable("the record %s of the shard's outbox".formatted(place), "XDEL", ex);
			}
		}
		return entries;
	}

	/** Returns the member of a sorted set for a timer. */
	static byte[] timer(TimerId id) {
		return bytes(bytes(id.key()).length + ":" + id.key() + id.name());
	}

	/** Reads timers: the member of each, and when it is due. */
	static List<StoredTimer> timers(List<byte[]> membersAndTimes) {
		List<StoredTimer> timers = new ArrayList<>();
		for (int i = 0; i < membersAndTimes.size(); i += 2) {
			timers.add(new StoredTimer(timerId(membersAndTimes.get(i)),
					Instant.ofEpochMilli(Long.parseLong(text(membersAndTimes.get(i + 1))))));
		}
		return timers;
	}

	private static TimerId timerId(byte[] member) {
		try {
			String text = text(member);
			int colon = text.indexOf(':');
			int begin = colon + 1;
			int end = begin + Integer.parseInt(text.substring(0, Math.max(0, colon)));
			return new TimerId(text(Arrays.copyOfRange(member, begin, end)),
					text(Arrays.copyOfRange(member, end, member.length)));
		}
		catch (IllegalArgumentException | IndexOutOfBoundsException ex) {
			throw unreadable("the entry '%s' of the shard's timers".formatted(text(member)), "ZREM", ex);
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
