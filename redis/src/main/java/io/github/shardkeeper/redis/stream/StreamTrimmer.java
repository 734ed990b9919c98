package io.github.shardkeeper.redis.stream;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardTrimmer;
import io.github.shardkeeper.source.TrimRule;

/**
 * Trims streams with {@code trim-stream.lua}. Thread-safe.
 */
final class StreamTrimmer implements ShardTrimmer {

	private static final LuaScript TRIM = LuaScript.load(StreamTrimmer.class, ScriptOutputType.INTEGER,
			"trim-stream.lua");

	private static final String STEP = "trim streams";

	private final RedisLink<byte[]> link;

	private final Function<ShardId, String> streamKey;

	StreamTrimmer(RedisLink<byte[]> link, Function<ShardId, String> streamKey) {
		this.link = link;
		this.streamKey = streamKey;
	}

	@Override
	public CompletableFuture<Long> trim(ShardId shard, @Nullable Collection<Offset> handled, TrimRule rule) {
		String stay = "";
		if (handled != null) {
			// Without any offset there is nothing that may go.
			stay = handled.stream().map(Offset::value).min(StreamCheck::compare).orElse("0-0");
		}
		Long maxLength = rule.maxLength();
		Duration maxAge = rule.maxAge();
		CompletableFuture<Long> gone = this.link.send(TRIM, List.of(this.streamKey.apply(shard)),
				List.of(bytes(stay), bytes((maxLength != null) ? maxLength.toString() : ""),
						bytes((maxAge != null) ? Long.toString(maxAge.toMillis()) : "")));
		return gone.whenComplete((number, failure) -> {
			if (failure != null) {
				this.link.refusedSteps().remember(STEP, failure);
			}
			else {
				this.link.refusedSteps().done(STEP);
			}
		});
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
