package io.github.shardkeeper.handler;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Fills parameters of handlers from a record as from a message, by their annotations and
 * types. Thread-safe.
 */
@Internal
public interface MessageArguments {

	/** Fills none. */
	MessageArguments NONE = (method, beanType, refusal) -> null;

	/**
	 * Reads the signature of a handler's method. Called once at startup.
	 * @return what fills its parameters, {@code null} if there is none to fill
	 * @throws ShardkeeperConfigurationException if a parameter is not supported
	 */
	@Nullable OfMethod of(Method method, Class<?> beanType, Refusal refusal);

	/** Filler of the parameters of one method. Thread-safe. */
	interface OfMethod {

		/** Returns whether it fills a parameter, counted from 0. */
		boolean fills(int parameter);

		/**
		 * Returns whether a parameter that it fills takes the payload or, if its type is
		 * a list, the payloads of a batch.
		 */
		boolean isPayload(int parameter);

		/**
		 * Returns the arguments for one record.
		 * @param attempt the number of the call with the record, from 1
		 * @return one value per parameter, {@code null} for those that are not filled
		 * here; for the payloads of a batch, the payload of this record
		 * @throws io.github.shardkeeper.source.PayloadConversionException if one cannot
		 * be found, converted or validated; a retry does not help
		 */
		@Nullable Object[] resolve(ShardContext context, SourceRecord source, int attempt);

	}

	/** Factory of exceptions for unsupported methods. */
	@FunctionalInterface
	interface Refusal {

		/**
		 * Creates the exception to throw.
		 * @param problem a sentence without its subject
		 * @param action the way to fix it
		 */
		ShardkeeperConfigurationException of(String problem, String action);

	}

}
