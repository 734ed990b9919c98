package io.github.shardkeeper.redis.stream;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.output.MapOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.OnceAppender.Batch;
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
 * That is used instead of the hashes if Redis is configured to remember them for as long
 * ({@code CONFIG GET stream-idmp-*}), which is asked once, before the first record with
 * an id. Thread-safe.
 */
final class OnceScript {

	static final LuaScript APPEND = LuaScript.load(OnceScript.class, ScriptOutputType.MULTI, "append-once.lua");

	/**
	 * Producers among which the ids of a stream are divided: Redis limits the number of
	 * ids of each producer, to 100 by default.
	 */
	static final int NATIVE_PRODUCERS = 1024;

	private static final String DURATION = "stream-idmp-duration";

	private static final String MAX_SIZE = "stream-idmp-maxsize";

	private final RedisLink<byte[]> link;

	private final RecordIds ids;

	/** Whether Redis remembers ids for long enough; {@code null} before it was asked. */
	private final AtomicReference<@Nullable Boolean> nativeIds = new AtomicReference<>();

	OnceScript(RedisLink<byte[]> link, RecordIds ids) {
		this.link = link;
		this.ids = ids;
	}

	/** Returns whether Redis is known to remember ids itself. */
	boolean hasNativeIds() {
		return Boolean.TRUE.equals(this.nativeIds.get());
	}

	/** Returns the producer of an id for {@code IDMP}. */
	static String nativeProducer(String id) {
		CRC32 hash = new CRC32();
		hash.update(bytes(id));
		return "shardkeeper-" + hash.getValue() % NATIVE_PRODUCERS;
	}

	CompletableFuture<List<Offset>> append(String bucketKey, String streamKey, Batch batch) {
		CompletableFuture<List<Offset>> result = new CompletableFuture<>();
		if (this.nativeIds.get() != null || !hasIds(batch)) {
			send(bucketKey, streamKey, batch, result);
			return result;
		}
		askForNativeIds().whenComplete((answer, failure) -> {
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

	private CompletableFuture<Boolean> askForNativeIds() {
		CommandArgs<String, byte[]> arguments = new CommandArgs<>(RedisStreamSource.CODEC).add("GET")
			.add("stream-idmp-*");
		AsyncCommand<String, byte[], Map<String, byte[]>> command = new AsyncCommand<>(
				new Command<>(CommandType.CONFIG, new MapOutput<>(RedisStreamSource.CODEC), arguments));
		return this.link.send(command).handle((settings, failure) -> {
			// A missing right is an answer: it is optional.
			if (failure != null && !(failure instanceof StoreUnavailableException answer && answer.isRefusal())) {
				throw new CompletionException(failure);
			}
			boolean sufficient = failure == null && rememberLongEnough(settings);
			this.nativeIds.compareAndSet(null, sufficient);
			return sufficient;
		});
	}

	private boolean rememberLongEnough(Map<String, byte[]> settings) {
		byte[] seconds = settings.get(DURATION);
		byte[] perProducer = settings.get(MAX_SIZE);
		return seconds != null && perProducer != null && number(seconds) * 1000 >= this.ids.retention().toMillis()
				&& number(perProducer) * NATIVE_PRODUCERS >= this.ids.maxCount();
	}

	private static long number(byte[] text) {
		String digits = new String(text, StandardCharsets.UTF_8);
		return digits.matches("[0-9]{1,15}") ? Long.parseLong(digits) : 0;
	}

	private void send(String bucketKey, String streamKey, Batch batch, CompletableFuture<List<Offset>> result) {
		String shard = batch.shard().id();
		List<String> keys = new ArrayList<>(
				List.of(streamKey, bucketKey + ":producer:" + shard + ":" + batch.producer()));
		if (!hasNativeIds() && hasIds(batch)) {
			// Only then: while a slot moves, Redis Cluster refuses keys that do not
			// exist.
			keys.addAll(List.of(bucketKey + ":ids:" + shard + ":0", bucketKey + ":ids:" + shard + ":1"));
		}
		this.link.<List<byte[]>>send(APPEND, keys, arguments(batch)).whenComplete((reply, failure) -> {
			if (failure != null) {
				result.completeExceptionally(failed(batch.shard(), failure));
			}
			else {
				answered(batch, reply, result);
			}
		});
	}

	private List<byte[]> arguments(Batch batch) {
		List<byte[]> arguments = new ArrayList<>(3 + 7 * batch.records().size());
		arguments.add(bytes(Long.toString(batch.number())));
		arguments.add(bytes(Long.toString(this.ids.retention().toMillis())));
		arguments.add(bytes(Integer.toString(this.ids.maxCount())));
		for (NewRecord newRecord : batch.records()) {
			String id = newRecord.id();
			arguments.add(bytes((id != null && hasNativeIds()) ? nativeProducer(id) : ""));
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

	private static void answered(Batch batch, List<byte[]> reply, CompletableFuture<List<Offset>> result) {
		List<String> texts = reply.stream().map((part) -> new String(part, StandardCharsets.UTF_8)).toList();
		String status = texts.get(0);
		if (status.equals("APPENDED")) {
			result.complete(texts.subList(1, texts.size()).stream().map(Offset::new).toList());
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
