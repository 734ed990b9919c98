package io.github.shardkeeper.source.redis;

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
 * @param lastId the id of the last entry that it ever had, also of one that is gone
 * @param lastDeletedId the highest id that was deleted or trimmed; {@code null} before
 * Redis 7, which does not keep it
 */
record StreamCheck(String lastId, @Nullable String lastDeletedId) {

	private static final String END_OF_A_MILLISECOND = "-18446744073709551615";

	static AsyncCommand<String, byte[], List<Object>> command(String stream) {
		return new AsyncCommand<>(new Command<>(CommandType.XINFO, new NestedMultiOutput<>(RedisStreamSource.CODEC),
				new CommandArgs<>(RedisStreamSource.CODEC).add("STREAM").addKey(stream)));
	}

	static StreamCheck of(List<Object> reply) {
		String lastId = "0-0";
		String lastDeletedId = null;
		for (int i = 0; i + 1 < reply.size(); i += 2) {
			String name = text(reply.get(i));
			if (name.equals("last-generated-id")) {
				lastId = text(reply.get(i + 1));
			}
			else if (name.equals("max-deleted-entry-id")) {
				lastDeletedId = text(reply.get(i + 1));
			}
		}
		return new StreamCheck(lastId, lastDeletedId);
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

	/** Whether entries are gone that were not read. */
	boolean lacksEntriesAfter(String offset) {
		return this.lastDeletedId != null && !offset.equals("0-0") && compare(this.lastDeletedId, offset) > 0;
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
