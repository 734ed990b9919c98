package io.github.shardkeeper.redis.stream;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;

/**
 * A stream's ids, from {@code XINFO STREAM}. They show whether it was deleted, restored
 * from an older copy, or trimmed since an offset was committed. Immutable.
 *
 * @param firstId id of its first entry, {@code null} if it has none
 * @param lastId id of the last entry that was ever added
 * @param lastDeletedId highest id that was deleted with {@code XDEL}, without those that
 * were trimmed; {@code null} before Redis 7
 */
record StreamInfo(@Nullable String firstId, String lastId, @Nullable String lastDeletedId) {

	private static final String END_OF_A_MILLISECOND = "-18446744073709551615";

	static AsyncCommand<String, byte[], List<Object>> command(String stream) {
		return new AsyncCommand<>(new Command<>(CommandType.XINFO, new NestedMultiOutput<>(RedisStreamSource.CODEC),
				new CommandArgs<>(RedisStreamSource.CODEC).add("STREAM").addKey(stream)));
	}

	static StreamInfo of(List<Object> reply) {
		String firstId = null;
		String lastId = "0-0";
		String lastDeletedId = null;
		for (int i = 0; i + 1 < reply.size(); i += 2) {
			String name = text(reply.get(i));
			if (name.equals("last-generated-id")) {
				lastId = text(reply.get(i + 1));
			}
			else if (name.equals("first-entry") && reply.get(i + 1) instanceof List<?> entry && !entry.isEmpty()) {
				firstId = text(entry.get(0));
			}
			else if (name.equals("max-deleted-entry-id")) {
				lastDeletedId = text(reply.get(i + 1));
			}
		}
		return new StreamInfo(firstId, lastId, lastDeletedId);
	}

	static String text(Object value) {
		return (value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(value);
	}

	/**
	 * Returns whether new entries may get ids below an offset, and so are never read. Not
	 * for an offset that stands for a time, nor in a stream that never had an entry.
	 */
	boolean endsBefore(String offset) {
		return !offset.endsWith(END_OF_A_MILLISECOND) && !this.lastId.equals("0-0")
				&& EntryIds.compare(this.lastId, offset) < 0;
	}

	/**
	 * Returns why entries after an offset may be gone that were not read; {@code null} if
	 * none are. Redis does not report what was trimmed. But trimming removes entries from
	 * the beginning: as long as the entry at the offset exists, or an earlier one, so do
	 * all after it. An offset that stands for a time never had an entry.
	 */
	@Nullable String gapAfter(String offset) {
		if (offset.equals("0-0")) {
			return null;
		}
		if (this.lastDeletedId != null && EntryIds.compare(this.lastDeletedId, offset) > 0) {
			return "of the entries after offset %s, some up to %s were deleted before they were handled"
				.formatted(offset, this.lastDeletedId);
		}
		if (this.firstId == null) {
			return (EntryIds.compare(this.lastId, offset) > 0)
					? "all entries after offset %s, up to %s, were deleted or trimmed before they were handled"
						.formatted(offset, this.lastId)
					: null;
		}
		boolean mayLack = !offset.endsWith(END_OF_A_MILLISECOND) && EntryIds.compare(this.firstId, offset) > 0
				&& !EntryIds.follows(this.firstId, offset);
		return mayLack
				? ("the stream begins with %s, and the entry at offset %s is gone: some in between may have been "
						+ "deleted or trimmed before they were handled")
					.formatted(this.firstId, offset)
				: null;
	}

}
