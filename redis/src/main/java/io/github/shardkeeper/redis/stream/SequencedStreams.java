package io.github.shardkeeper.redis.stream;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.lettuce.core.ScriptOutputType;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.RecordFields;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Appends numbered records once, with {@code append-in-sequence.lua}. Beside each stream
 * that has received any is a hash in the same slot:
 *
 * <pre>
 * &lt;prefix&gt;:{&lt;topic&gt;#&lt;bucket&gt;}:received:&lt;id&gt;   hash: sender, "&lt;era&gt; &lt;number of its last record&gt; &lt;token&gt;"
 * </pre>
 *
 * Thread-safe.
 */
final class SequencedStreams implements SequencedAppender {

	private static final LuaScript APPEND_ONCE = LuaScript.load(SequencedStreams.class, ScriptOutputType.MULTI,
			"append-in-sequence.lua");

	private final RedisLink<byte[]> link;

	private final Function<ShardId, String> streamKey;

	private final Function<ShardId, String> receivedKey;

	SequencedStreams(RedisLink<byte[]> link, Function<ShardId, String> streamKey,
			Function<ShardId, String> receivedKey) {
		this.link = link;
		this.streamKey = streamKey;
		this.receivedKey = receivedKey;
	}

	@Override
	public CompletableFuture<Reply> append(Sequence sequence, Batch batch) {
		List<byte[]> arguments = new ArrayList<>(7 + 7 * batch.records().size());
		arguments.add(bytes(sequence.sender()));
		arguments.add(bytes(Long.toString(sequence.era())));
		arguments.add(bytes(Long.toString(sequence.owner())));
		arguments.add(bytes(Long.toString(batch.first())));
		arguments.add(bytes(Long.toString(batch.lastPossible())));
		arguments.add(bytes(Long.toString(batch.committedUnder())));
		arguments.add(bytes(Integer.toString(batch.records().size())));
		batch.records().forEach((each) -> add(each, arguments));
		CompletableFuture<Reply> reply = new CompletableFuture<>();
		this.link
			.<List<byte[]>>send(APPEND_ONCE,
					List.of(this.streamKey.apply(batch.to()), this.receivedKey.apply(batch.to())), arguments)
			.whenComplete((parts, failure) -> {
				if (failure == null) {
					reply.complete(reply(parts));
				}
				else {
					reply.completeExceptionally(failed(batch.to(), failure));
				}
			});
		return reply;
	}

	private static void add(NewRecord each, List<byte[]> to) {
		String key = each.key();
		to.add(bytes(Integer.toString(2 * (each.headers().size() + ((key != null) ? 2 : 1)))));
		if (key != null) {
			to.add(bytes(RecordFields.KEY));
			to.add(bytes(key));
		}
		to.add(bytes(RecordFields.PAYLOAD));
		to.add(each.payload());
		each.headers().forEach((name, value) -> {
			to.add(bytes(name));
			to.add(bytes(value));
		});
	}

	private static Reply reply(List<byte[]> parts) {
		return text(parts, 0).equals("APPENDED") ? new Reply.Appended(Integer.parseInt(text(parts, 1)))
				: new Reply.Superseded(Long.parseLong(text(parts, 1)), Long.parseLong(text(parts, 2)));
	}

	private static SendFailedException failed(ShardId to, Throwable failure) {
		boolean refused = failure instanceof StoreUnavailableException unavailable && RedisLink.isError(unavailable);
		return new SendFailedException(
				"%s %s. %s".formatted(refused ? "Refused by" : "No acknowledgement from", to, failure.getMessage()),
				failure, !refused);
	}

	private static String text(List<byte[]> parts, int index) {
		return new String(parts.get(index), StandardCharsets.UTF_8);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
