package io.github.shardkeeper.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import org.jspecify.annotations.Nullable;

/**
 * Failure of a script that knows the first key of its call: of many calls that were sent
 * together only one may have failed. Immutable.
 */
final class RefusedScript extends RedisCommandExecutionException {

	private final String firstKey;

	private RefusedScript(RedisException failure, String firstKey) {
		super(failure.getMessage());
		this.firstKey = firstKey;
		// Not as the cause: RedisFailure would repeat its message.
		addSuppressed(failure);
	}

	/** Returns the failure of a script with its key, and any other failure as it is. */
	static RedisException of(RedisException failure, @Nullable Object command) {
		if (failure.getClass() != RedisCommandExecutionException.class
				|| !(command instanceof RedisCommand<?, ?, ?> sent)
				|| sent.getType() != CommandType.EVALSHA && sent.getType() != CommandType.EVAL
				|| sent.getArgs() == null) {
			return failure;
		}
		ByteBuffer key = sent.getArgs().getFirstEncodedKey();
		return (key != null) ? new RefusedScript(failure, StandardCharsets.UTF_8.decode(key).toString()) : failure;
	}

	/**
	 * Returns the keys of the call that has failed; the first ones if it is not known.
	 */
	static List<String> keys(@Nullable Throwable failure, List<List<String>> all) {
		if (failure instanceof RefusedScript refused) {
			for (List<String> keys : all) {
				if (!keys.isEmpty() && keys.get(0).equals(refused.firstKey)) {
					return keys;
				}
			}
		}
		return all.isEmpty() ? List.of() : all.get(0);
	}

}
