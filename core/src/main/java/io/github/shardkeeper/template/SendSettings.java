package io.github.shardkeeper.template;

/**
 * Limits of a template. Immutable.
 *
 * @param maxPayloadBytes the maximum size of a payload, in bytes
 * @param maxInFlight the maximum number of records that are sent and not yet answered
 * @param maxInFlightBytes the maximum size of these records, in bytes; a larger record
 * waits until it is the only one
 * @param retries the maximum number of times that a record is repeated whose append was
 * not confirmed, if its source is a {@code source.OnceAppender}
 */
public record SendSettings(long maxPayloadBytes, int maxInFlight, long maxInFlightBytes, int retries) {

	public static final SendSettings DEFAULT = new SendSettings(1024 * 1024, 10_000, 16 * 1024 * 1024);

	/** Creates limits without retries. */
	public SendSettings(long maxPayloadBytes, int maxInFlight, long maxInFlightBytes) {
		this(maxPayloadBytes, maxInFlight, maxInFlightBytes, 0);
	}

}
