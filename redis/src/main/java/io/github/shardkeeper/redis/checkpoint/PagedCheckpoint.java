package io.github.shardkeeper.redis.checkpoint;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.Offset;

import static io.github.shardkeeper.redis.checkpoint.CheckpointFormat.text;

/**
 * Reads a checkpoint by page, after the first one, so that other commands do not wait for
 * a large state. Used by one thread after the other.
 */
final class PagedCheckpoint {

	private static final String END = "0";

	private final List<?> beginning;

	private final Map<String, String> state = new HashMap<>();

	/** Keys as bytes: different keys that are not UTF-8 may decode to the same text. */
	private final Set<ByteBuffer> different = new HashSet<>();

	/**
	 * Creates it from fence, number of the last commit, offset, ahead, time until the
	 * first retry, number of the state's entries, cursor, first page.
	 */
	PagedCheckpoint(List<?> beginning) {
		this.beginning = beginning;
	}

	/** Reads the remaining pages; empty if the checkpoint was changed meanwhile. */
	CompletableFuture<Optional<Checkpoint>> readRemaining(RedisLink<byte[]> link, LuaScript statePage,
			List<String> keys) {
		add(this.beginning.get(7));
		String first = text(bytes(6));
		if (first.equals(END)) {
			return CompletableFuture.completedFuture(Optional.of(checkpoint()));
		}
		CompletableFuture<Optional<Checkpoint>> whole = new CompletableFuture<>();
		readPage(bytes(6), link, statePage, keys, whole);
		return whole;
	}

	private void readPage(byte[] cursor, RedisLink<byte[]> link, LuaScript statePage, List<String> keys,
			CompletableFuture<Optional<Checkpoint>> whole) {
		// Not on the connection's thread: decoding a large state takes long.
		link.<List<Object>>send(statePage, keys, List.of(bytes(0), bytes(1), cursor)).thenAcceptAsync((page) -> {
			if (page.size() < 2) {
				whole.complete(Optional.empty());
				return;
			}
			add(page.get(1));
			byte[] next = (byte[]) page.get(0);
			if (text(next).equals(END)) {
				whole.complete(isWhole() ? Optional.of(checkpoint()) : Optional.empty());
			}
			else {
				readPage(next, link, statePage, keys, whole);
			}
		}, link.background()).whenComplete((read, failure) -> {
			if (failure != null) {
				whole.completeExceptionally(failure);
			}
		});
	}

	/**
	 * Returns whether no entry is missing. A cursor is invalid, and skips entries, in
	 * another process of Redis, after a failover or a move of the slot.
	 */
	private boolean isWhole() {
		return this.different.size() == Integer.parseInt(text(bytes(5)));
	}

	private Checkpoint checkpoint() {
		String offset = text(bytes(2));
		String retryDueIn = text(bytes(4));
		return new Checkpoint(offset.isEmpty() ? null : new Offset(offset), CheckpointFormat.ahead(text(bytes(3))),
				this.state, retryDueIn.isEmpty() ? null : Duration.ofMillis(Long.parseLong(retryDueIn)));
	}

	/** Adds entries; one may occur on several pages. */
	private void add(Object entries) {
		List<?> keysAndValues = (List<?>) entries;
		for (int i = 0; i < keysAndValues.size(); i += 2) {
			byte[] key = (byte[]) keysAndValues.get(i);
			this.different.add(ByteBuffer.wrap(key));
			this.state.put(text(key), text((byte[]) keysAndValues.get(i + 1)));
		}
	}

	private byte[] bytes(int index) {
		return (byte[]) this.beginning.get(index);
	}

}
