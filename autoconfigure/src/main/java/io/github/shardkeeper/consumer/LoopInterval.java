package io.github.shardkeeper.consumer;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.format.datetime.standard.DurationFormatterUtils;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Reads the interval of a handler that loops.
 */
final class LoopInterval {

	/** For handlers that do not loop. */
	static final Duration NONE = Duration.ZERO;

	private LoopInterval() {
	}

	/**
	 * Reads the pause between two calls. A handler that loops has to say it: nothing else
	 * tells a loop from a handler whose parameter for the record was forgotten, and
	 * records that nobody reads are not missed by anybody.
	 * @param text what the annotation says, empty for nothing
	 * @param signature the handler's
	 * @return the pause; {@link #NONE} for handlers that do not loop
	 * @throws ShardkeeperConfigurationException when it is missing, no duration, or means
	 * nothing
	 */
	static Duration of(String text, HandlerSignature signature) {
		boolean loops = signature.shape() == HandlerShape.LOOP;
		if (text.isEmpty() && loops) {
			throw new ShardkeeperConfigurationException(
					"The @ShardConsumer method %s takes no record, so the records of its topic would never be read."
						.formatted(signature.name()),
					"Add a parameter for the record, such as ShardRecord<String> or the type of its payload. Or, if the "
							+ "method is to be called again and again without records, say how often: "
							+ "@ShardConsumer(value = \"…\", interval = \"10s\").");
		}
		if (text.isEmpty()) {
			return NONE;
		}
		if (!loops) {
			throw new ShardkeeperConfigurationException(
					"The @ShardConsumer method %s has the interval '%s', but takes records.".formatted(signature.name(),
							text),
					"Remove the interval: the method is called when there are records. Or remove the parameter for "
							+ "the record, if the method is to be called again and again.");
		}
		Duration interval = parse(text, signature);
		if (interval.isNegative()) {
			throw wrong(text, signature, null);
		}
		return interval;
	}

	private static Duration parse(String text, HandlerSignature signature) {
		try {
			return DurationFormatterUtils.detectAndParse(text);
		}
		catch (IllegalArgumentException ex) {
			throw wrong(text, signature, ex);
		}
	}

	private static ShardkeeperConfigurationException wrong(String text, HandlerSignature signature,
			@Nullable Throwable cause) {
		return new ShardkeeperConfigurationException(
				"The interval of the @ShardConsumer method %s is '%s'.".formatted(signature.name(), text),
				"Write a duration that is not negative, such as '10s', '5m' or '500ms'.", cause);
	}

}
