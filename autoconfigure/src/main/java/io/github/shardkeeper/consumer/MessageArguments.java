package io.github.shardkeeper.consumer;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Knows parameters of handlers that are filled from a record as from a message, by their
 * annotations and types. Thread-safe.
 */
public interface MessageArguments {

	/** Knows none. */
	MessageArguments NONE = (method, beanType, refusal) -> null;

	/**
	 * Reads a handler's method; called once at start.
	 * @param method the method
	 * @param beanType the class of its bean
	 * @param refusal makes the exception for what cannot work
	 * @return who fills its parameters, {@code null} when there is none to be filled
	 * @throws ShardkeeperConfigurationException when one cannot be filled as it is
	 */
	@Nullable OfMethod of(Method method, Class<?> beanType, Refusal refusal);

	/**
	 * Fills parameters of one method. Thread-safe.
	 */
	interface OfMethod {

		/**
		 * Tells whether it fills a parameter.
		 * @param parameter its number, from 0
		 * @return whether it does
		 */
		boolean fills(int parameter);

		/**
		 * Tells whether a parameter that it fills gets the payload, or, where its type is
		 * a list, the payloads of a batch.
		 * @param parameter its number, from 0
		 * @return whether it does
		 */
		boolean isPayload(int parameter);

		/**
		 * Finds the arguments for one record.
		 * @param context the shard it was read from
		 * @param source the record
		 * @return as many values as the method has parameters, {@code null} for those
		 * that are not filled here; of a batch's payloads this record's
		 * @throws io.github.shardkeeper.source.PayloadConversionException when one cannot
		 * be found, converted or validated; a retry does not help
		 */
		@Nullable Object[] resolve(ShardContext context, SourceRecord source);

	}

	/**
	 * Says what is wrong with a method.
	 */
	@FunctionalInterface
	interface Refusal {

		/**
		 * Makes the exception.
		 * @param what what it has that cannot be, without a subject
		 * @param action what to write instead
		 * @return the exception, to be thrown
		 */
		ShardkeeperConfigurationException of(String what, String action);

	}

}
