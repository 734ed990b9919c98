package io.github.shardkeeper.redis.stream;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.zip.CRC32;

import io.lettuce.core.output.MapOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisLink;

/**
 * Ids of records that Redis remembers itself, from 8.6 on: {@code XADD … IDMP <producer>
 * <id>}. They are used for a stream that remembers them for as long as {@link RecordIds}
 * says. That is asked once: first {@code CONFIG GET stream-idmp-*}, which new streams
 * get, and, if that is enough, {@code XINFO STREAM}, because an existing stream keeps
 * what it was created with. Thread-safe.
 * <p>
 * Redis limits the number of ids of each producer and not of a stream, to 100 by default
 * and to 10,000 at most. So the ids of a stream are divided among {@value #PRODUCERS}
 * producers by their hash.
 */
final class NativeIds {

	/** Number of producers among which the ids of a stream are divided. */
	static final int PRODUCERS = 1024;

	/** The limit for an id to be forgotten too early: one of 10<sup>12</sup>. */
	private static final double MINUS_LOG_OF_LIMIT = 12 * Math.log(10);

	private static final String DURATION = "idmp-duration";

	private static final String MAX_SIZE = "idmp-maxsize";

	private static final String CONFIGURED = "stream-";

	private final RedisLink<byte[]> link;

	private final RecordIds ids;

	/** Whether new streams remember ids for long enough; unknown before it was asked. */
	private volatile @Nullable Boolean inNewStreams;

	/** Whether existing streams do, by their keys. */
	private final Map<String, Boolean> inStreams = new ConcurrentHashMap<>();

	NativeIds(RedisLink<byte[]> link, RecordIds ids) {
		this.link = link;
		this.ids = ids;
	}

	/** Returns the producer of an id. */
	static String producer(String id) {
		CRC32 hash = new CRC32();
		hash.update(id.getBytes(StandardCharsets.UTF_8));
		return "shardkeeper-" + hash.getValue() % PRODUCERS;
	}

	/**
	 * Returns whether an id is remembered while {@code maxCount - 1} more follow it, if
	 * each producer remembers its last {@code perProducer} ids.
	 * <p>
	 * An even share, {@code maxCount / PRODUCERS}, is not enough: hashes spread ids as
	 * unevenly as chance does. An id is forgotten too early if {@code perProducer} of
	 * those that follow have its producer. Their number is binomial with the mean of an
	 * even share, and Chernoff's bound limits the probability that it reaches {@code k}:
	 * at most {@code exp(k - mean - k * ln(k / mean))}, for {@code k} above the mean.
	 * That has to be one of 10<sup>12</sup> at most: 180 for 100,000 ids, whose mean
	 * share is 98. It does not hold for ids that are chosen so that their hashes collide.
	 */
	static boolean remember(long perProducer, long maxCount) {
		if (perProducer >= maxCount) {
			return true;
		}
		double mean = (double) maxCount / PRODUCERS;
		return perProducer > mean
				&& perProducer * Math.log(perProducer / mean) - perProducer + mean >= MINUS_LOG_OF_LIMIT;
	}

	/** Returns whether a stream is known to remember ids for long enough. */
	boolean areIn(String stream) {
		return Boolean.TRUE.equals(this.inStreams.get(stream));
	}

	/** Returns whether it need not be asked any more. */
	boolean areKnown(String stream) {
		return Boolean.FALSE.equals(this.inNewStreams) || this.inStreams.containsKey(stream);
	}

	/**
	 * Asks whether a stream remembers ids for long enough. Refused questions are replies:
	 * the right to them is optional.
	 */
	CompletableFuture<?> ask(String stream) {
		return askForConfiguration()
			.thenCompose((enough) -> enough ? askForStream(stream) : CompletableFuture.completedFuture(false));
	}

	private CompletableFuture<Boolean> askForConfiguration() {
		Boolean known = this.inNewStreams;
		if (known != null) {
			return CompletableFuture.completedFuture(known);
		}
		CommandArgs<String, byte[]> arguments = new CommandArgs<>(RedisStreamSource.CODEC).add("GET")
			.add(CONFIGURED + "idmp-*");
		AsyncCommand<String, byte[], Map<String, byte[]>> command = new AsyncCommand<>(
				new Command<>(CommandType.CONFIG, new MapOutput<>(RedisStreamSource.CODEC), arguments));
		return this.link.send(command).handle((settings, failure) -> {
			boolean enough = refusalOf(failure) == null && areEnough((name) -> number(settings.get(CONFIGURED + name)));
			this.inNewStreams = enough;
			return enough;
		});
	}

	private CompletableFuture<Boolean> askForStream(String stream) {
		return this.link.send(StreamInfo.command(stream)).handle((reply, failure) -> {
			StoreUnavailableException refusal = refusalOf(failure);
			boolean enough = (refusal != null) ? isMissing(refusal) : areEnough((name) -> number(valueOf(name, reply)));
			this.inStreams.putIfAbsent(stream, enough);
			return enough;
		});
	}

	private static @Nullable StoreUnavailableException refusalOf(@Nullable Throwable failure) {
		if (failure == null) {
			return null;
		}
		if (failure instanceof StoreUnavailableException reply && reply.isRefusal()) {
			return reply;
		}
		throw new CompletionException(failure);
	}

	/** Such a stream gets the configuration when its first record is appended. */
	private static boolean isMissing(StoreUnavailableException refusal) {
		Throwable cause = refusal.getCause();
		return cause != null && String.valueOf(cause.getMessage()).startsWith("ERR no such key");
	}

	private boolean areEnough(Function<String, Long> settings) {
		return settings.apply(DURATION) * 1000 >= this.ids.retention().toMillis()
				&& remember(settings.apply(MAX_SIZE), this.ids.maxCount());
	}

	private static @Nullable Object valueOf(String name, List<Object> reply) {
		for (int i = 0; i + 1 < reply.size(); i += 2) {
			if (StreamInfo.text(reply.get(i)).equals(name)) {
				return reply.get(i + 1);
			}
		}
		return null;
	}

	private static long number(@Nullable Object value) {
		String digits = (value != null) ? StreamInfo.text(value) : "";
		return digits.matches("[0-9]{1,15}") ? Long.parseLong(digits) : 0;
	}

}
