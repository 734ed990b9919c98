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
 * Whether a stream still is what a checkpoint goes by, as {@code XINFO STREAM} tells: it
 * may have been deleted, put back from an older copy, or trimmed. Immutable.
 *
 * @param firstId the id of its first entry, {@code null} if it has none
 * @param lastId the id of the last entry that it ever had, also of one that is gone
 * @param lastDeletedId the highest id that was deleted with {@code XDEL}, but not those
 * that were trimmed; {@code null} before Redis 7, which does not keep it
 */
record StreamCheck(@Nullable String firstId, String lastId, @Nullable String lastDeletedId) {

	private static final String END_OF_A_MILLISECOND = "-18446744073709551615";

	static AsyncCommand<String, byte[], List<Object>> command(String stream) {
		return new AsyncCommand<>(new Command<>(CommandType.XINFO, new NestedMultiOutput<>(RedisStreamSource.CODEC),
				new CommandArgs<>(RedisStreamSource.CODEC).add("STREAM").addKey(stream)));
	}

	static StreamCheck of(List<Object> reply) {
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
		return new StreamCheck(firstId, lastId, lastDeletedId);
	}

	private static String text(Object value) {
		return (value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(value);
	}

	/**
	 * Whether entries may come that would never be read. An offset that stands for a time
	 * may well lie behind the last entry, and so does every one in a stream that never
	 * had any: the next entry comes after it.
	 */
	boolean endsBefore(String offset) {
		return !offset.endsWith(END_OF_A_MILLISECOND) && !this.lastId.equals("0-0") && compare(this.lastId, offset) < 0;
	}

	/**
	 * Why entries after an offset may be gone that were not read, {@code null} if none
	 * can be. Redis does not tell what was trimmed. But that takes entries from the
	 * beginning: as long as the one at the offset is there, or one before it, so are all
	 * after it. An offset that stands for a time never had an entry.
	 */
	@Nullable String gapAfter(String offset) {
		if (offset.equals("0-0")) {
			return null;
		}
		if (this.lastDeletedId != null && compare(this.lastDeletedId, offset) > 0) {
			return "of the entries after offset %s, some up to %s were deleted before they were handled"
				.formatted(offset, this.lastDeletedId);
		}
		if (this.firstId == null) {
			return (compare(this.lastId, offset) > 0)
					? "all entries after offset %s, up to %s, were deleted or trimmed before they were handled"
						.formatted(offset, this.lastId)
					: null;
		}
		boolean mayLack = !offset.endsWith(END_OF_A_MILLISECOND) && compare(this.firstId, offset) > 0
				&& !follows(this.firstId, offset);
		return mayLack
				? ("the stream begins with %s, and the entry at offset %s is gone: some in between may have been "
						+ "deleted or trimmed before they were handled")
					.formatted(this.firstId, offset)
				: null;
	}

	/** Whether there can be nothing between two ids. */
	private static boolean follows(String id, String before) {
		int dash = id.indexOf('-');
		return id.regionMatches(0, before, 0, dash + 1) && Long.parseUnsignedLong(id, dash + 1, id.length(), 10)
				- Long.parseUnsignedLong(before, dash + 1, before.length(), 10) == 1;
	}

	static int compare(String one, String other) {
		int dashOne = one.indexOf('-');
		int dashOther = other.indexOf('-');
		int byMillis = Long.compareUnsigned(Long.parseUnsignedLong(one, 0, dashOne, 10),
				Long.parseUnsignedLong(other, 0, dashOther, 10));
		return (byMillis != 0) ? byMillis
				: Long.compareUnsigned(Long.parseUnsignedLong(one, dashOne + 1, one.length(), 10),
						Long.parseUnsignedLong(other, dashOther + 1, other.length(), 10));
	}

}
