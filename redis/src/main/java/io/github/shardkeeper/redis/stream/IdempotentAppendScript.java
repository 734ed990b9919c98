package io.github.shardkeeper.redis.stream;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.ScriptOutputType;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.IdempotentAppender.Appended;
import io.github.shardkeeper.source.IdempotentAppender.Batch;
import io.github.shardkeeper.source.RecordFields;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Appends batches with {@code append-once.lua}, which keeps beside a stream
 *
 * <pre>
 * &lt;prefix&gt;:{&lt;topic&gt;#&lt;bucket&gt;}:producer:&lt;id&gt;:&lt;producer&gt;   string: number and entry ids of the producer's last batch
 * &lt;prefix&gt;:{&lt;topic&gt;#&lt;bucket&gt;}:ids:&lt;id&gt;:0 and :1          hashes: id of a record → entry id
 * </pre>
 *
 * From Redis 8.6 on a stream can remember ids itself ({@code XADD} with {@code IDMP}).
 * That is used instead of the hashes where it remembers them for as long, see
 * {@link NativeIds}. Thread-safe.
 */
final class IdempotentAppendScript {

	static final LuaScript APPEND = LuaScript.load(IdempotentAppendScript.class, ScriptOutputType.MULTI,
			"append-once.lua");

	private final RedisLink<byte[]> link;

	private final RecordIds ids;

	private final NativeIds nativeIds;

	IdempotentAppendScript(RedisLink<byte[]> link, RecordIds ids) {
		this.link = link;
		this.ids = ids;
		this.nativeIds = new NativeIds(link, ids);
	}

	/** Returns whether a stream is known to remember ids itself. */
	boolean hasNativeIds(String streamKey) {
		return this.nativeIds.areIn(streamKey);
	}

	CompletableFuture<Appended> append(String bucketKey, String streamKey, Batch batch) {
		CompletableFuture<Appended> result = new CompletableFuture<>();
		if (!hasIds(batch) || this.nativeIds.areKnown(streamKey)) {
			send(bucketKey, streamKey, batch, result);
			return result;
		}
		this.nativeIds.ask(streamKey).whenComplete((reply, failure) -> {
			if (failure == null) {
				send(bucketKey, streamKey, batch, result);
				return;
			}
			Throwable cause = (failure.getCause() != null) ? failure.getCause() : failure;
			result.completeExceptionally(new SendFailedException("Not sent. " + cause.getMessage(), cause, false));
		});
		return result;
	}

	private static boolean hasIds(Batch batch) {
		return batch.records().stream().anyMatch((newRecord) -> newRecord.id() != null);
	}

	private void send(String bucketKey, String streamKey, Batch batch, CompletableFuture<Appended> result) {
		String shard = batch.shard().id();
		boolean withNativeIds = hasNativeIds(streamKey);
		List<String> keys = new ArrayList<>(
				List.of(streamKey, bucketKey + ":producer:" + shard + ":" + batch.producer()));
		if (!withNativeIds && hasIds(batch)) {
			// Only then: while a slot moves, Redis Cluster refuses keys that do not
			// exist.
			keys.addAll(List.of(bucketKey + ":ids:" + shard + ":0", bucketKey + ":ids:" + shard + ":1"));
		}
		this.link.<List<byte[]>>send(APPEND, keys, arguments(batch, withNativeIds)).whenComplete((reply, failure) -> {
			if (failure != null) {
				result.completeExceptionally(failed(batch.shard(), failure));
			}
			else {
				answered(batch, reply, result);
			}
		});
	}

	private List<byte[]> arguments(Batch batch, boolean withNativeIds) {
		List<byte[]> arguments = new ArrayList<>(3 + 7 * batch.records().size());
		arguments.add(bytes(Long.toString(batch.number())));
		arguments.add(bytes(Long.toString(this.ids.retention().toMillis())));
		arguments.add(bytes(Integer.toString(this.ids.maxCount())));
		for (NewRecord newRecord : batch.records()) {
			String id = newRecord.id();
			arguments.add(bytes((id != null && withNativeIds) ? NativeIds.producer(id) : ""));
			arguments.add(bytes((id != null) ? id : ""));
			int place = arguments.size();
			String key = newRecord.key();
			if (key != null) {
				arguments.add(bytes(RecordFields.KEY));
				arguments.add(bytes(key));
			}
			arguments.add(bytes(RecordFields.PAYLOAD));
			arguments.add(newRecord.payload());
			newRecord.headers().forEach((name, value) -> {
				arguments.add(bytes(name));
				arguments.add(bytes(value));
			});
			arguments.add(place, bytes(Integer.toString(arguments.size() - place)));
		}
		return arguments;
	}

	private static void answered(Batch batch, List<byte[]> reply, CompletableFuture<Appended> result) {
		List<String> texts = reply.stream().map((part) -> new String(part, StandardCharsets.UTF_8)).toList();
		String status = texts.get(0);
		if (status.equals("APPENDED")) {
			result.complete(new Appended(texts.subList(2, texts.size()).stream().map(Offset::new).toList(),
					Integer.parseInt(texts.get(1))));
			return;
		}
		String problem = status.equals("PARTLY")
				? "Refused by %s after some of the records sent together: %s".formatted(batch.shard(), texts.get(1))
				: "%s has had a later batch of the same producer".formatted(batch.shard());
		result.completeExceptionally(new SendFailedException(problem, null, true, true));
	}

	/** Returns the failure of a record for a failure of Redis. */
	static SendFailedException failed(ShardId shard, Throwable failure) {
		boolean refused = failure instanceof StoreUnavailableException unavailable && RedisLink.isError(unavailable);
		boolean notSent = failure instanceof StoreUnavailableException unavailable && RedisLink.isNotSent(unavailable);
		String problem = notSent ? "Not sent to" : refused ? "Refused by" : "No acknowledgement from";
		return new SendFailedException("%s %s. %s".formatted(problem, shard, failure.getMessage()), failure,
				!notSent && !refused,
				failure instanceof StoreUnavailableException unavailable && unavailable.isRefusal());
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
