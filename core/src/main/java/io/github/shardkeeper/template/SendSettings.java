package io.github.shardkeeper.template;

/**
 * Limits of a template. Immutable.
 *
 * @param maxPayloadBytes the maximum size of a payload, in bytes
 * @param maxInFlight the maximum number of records that are sent and not yet answered
 * @param maxInFlightBytes the maximum size of these records, in bytes; a larger record
 * waits until it is the only one
 */
public record SendSettings(long maxPayloadBytes, int maxInFlight, long maxInFlightBytes) {

	public static final SendSettings DEFAULT = new SendSettings(1024 * 1024, 10_000, 16 * 1024 * 1024);

}
