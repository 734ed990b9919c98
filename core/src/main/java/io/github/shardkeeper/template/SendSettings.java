package io.github.shardkeeper.template;

import io.github.shardkeeper.Internal;

/**
 * Limits of a template. Immutable.
 *
 * @param maxRecordBytes the maximum size of key, headers and payload of a record, in
 * bytes
 * @param maxInFlight the maximum number of records that are sent and not yet answered
 * @param maxInFlightBytes the maximum size of these records, in bytes; a larger record
 * waits until it is the only one
 * @param retries the maximum number of times that a record is repeated whose append was
 * not confirmed, if its source is a {@code source.IdempotentAppender}
 */
@Internal
public record SendSettings(long maxRecordBytes, int maxInFlight, long maxInFlightBytes, int retries) {

	public static final SendSettings DEFAULT = new SendSettings(16 * 1024 * 1024, 10_000, 16 * 1024 * 1024);

	/** Creates limits without retries. */
	public SendSettings(long maxRecordBytes, int maxInFlight, long maxInFlightBytes) {
		this(maxRecordBytes, maxInFlight, maxInFlightBytes, 0);
	}

}
